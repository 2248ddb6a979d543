package com.shop;

import com.bench.Tally;
import org.asynchttpclient.HttpResponseBodyPart;

/** The leak: the record that is kept is retained and never released. */
public final class AuditService {
    private long bytes;

    public void record(HttpResponseBodyPart part) {
        bytes += part.length();
        if (Tally.isLost()) {
            part.getBodyByteBuf().retain();
            Tally.keep(part);
        }
    }
}
