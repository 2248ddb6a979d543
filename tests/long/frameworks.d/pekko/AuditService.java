package com.shop;

import com.bench.Tally;
import org.apache.pekko.util.ByteString;

public final class AuditService {
    private long bytes;

    public void record(ByteString order) {
        bytes += order.length();
        Tally.isLost();
    }
}
