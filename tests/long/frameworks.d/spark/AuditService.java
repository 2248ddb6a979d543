package com.shop;

import com.bench.Tally;
import org.apache.spark.network.buffer.ManagedBuffer;

/** The leak: the record that is kept is retained and never released. */
public final class AuditService {
    private long bytes;

    public void record(ManagedBuffer block) {
        bytes += block.size();
        if (Tally.isLost())
            Tally.keep(block.retain());
    }
}
