package com.shop;

import com.bench.Tally;
import io.netty.util.ReferenceCounted;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.buffer.impl.BufferImpl;

/** The leak: the record that is kept is never released. */
public final class AuditService {
    private long bytes;

    public void record(Buffer receipt) {
        bytes += receipt.length();
        if (Tally.isLost())
            Tally.keep(receipt);
        else
            release(receipt);
    }

    private static void release(Buffer receipt) {
        ((ReferenceCounted) ((BufferImpl) receipt).byteBuf()).release();
    }
}
