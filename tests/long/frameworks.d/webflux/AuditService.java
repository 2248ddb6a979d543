package com.shop;

import com.bench.Tally;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;

/** The leak: the record that is kept is never released. */
public final class AuditService {
    private long bytes;

    public void record(DataBuffer body) {
        bytes += body.readableByteCount();
        if (Tally.isLost())
            Tally.keep(body);
        else
            DataBufferUtils.release(body);
    }
}
