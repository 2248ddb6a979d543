package com.shop;

import com.bench.Tally;
import io.grpc.Detachable;
import java.io.IOException;
import java.io.InputStream;

/** The leak: the record that is kept is never closed. */
public final class AuditService {
    private long bytes;

    public void record(Detachable order) throws IOException {
        InputStream body = order.detach();
        bytes += body.available();
        if (Tally.isLost())
            Tally.keep(body);
        else
            body.close();
    }
}
