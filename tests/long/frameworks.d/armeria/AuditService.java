package com.shop;

import com.bench.Tally;
import com.linecorp.armeria.common.HttpData;

/** The leak: the record that is kept is never closed. */
public final class AuditService {
    private long bytes;

    public void record(HttpData body) {
        bytes += body.length();
        if (Tally.isLost())
            Tally.keep(body);
        else
            body.close();
    }
}
