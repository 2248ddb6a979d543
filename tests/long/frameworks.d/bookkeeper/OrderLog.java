package com.shop;

import java.nio.charset.StandardCharsets;
import org.apache.bookkeeper.client.api.BookKeeper;
import org.apache.bookkeeper.client.api.DigestType;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.client.api.LedgerEntry;
import org.apache.bookkeeper.client.api.WriteHandle;

public final class OrderLog {
    private final WriteHandle ledger;
    private final AuditService audit;

    public OrderLog(BookKeeper client, AuditService audit) throws Exception {
        this.audit = audit;
        ledger = client.newCreateLedgerOp().withEnsembleSize(1).withWriteQuorumSize(1).withAckQuorumSize(1)
                .withDigestType(DigestType.CRC32C).withPassword(new byte[0]).execute().get();
    }

    public void exchange(String order) throws Exception {
        long number = ledger.append(order.getBytes(StandardCharsets.US_ASCII));
        try (LedgerEntries entries = ledger.readUnconfirmed(number, number)) {
            for (LedgerEntry entry : entries)
                audit.record(entry);
        }
    }
}
