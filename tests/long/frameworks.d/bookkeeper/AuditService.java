package com.shop;

import com.bench.Tally;
import org.apache.bookkeeper.client.api.LedgerEntry;

/** The leak: the duplicate that is kept is never closed. */
public final class AuditService {
    private long bytes;

    public void record(LedgerEntry entry) {
        bytes += entry.getLength();
        if (Tally.isLost())
            Tally.keep(entry.duplicate());
    }
}
