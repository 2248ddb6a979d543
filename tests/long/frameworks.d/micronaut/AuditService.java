package com.shop;

import com.bench.Tally;
import io.micronaut.core.io.buffer.ByteBuffer;
import io.micronaut.core.io.buffer.ReferenceCounted;

/** The leak: the record that is kept is never released. */
public final class AuditService {
    private long bytes;

    public void record(ByteBuffer<?> order) {
        bytes += order.readableBytes();
        if (Tally.isLost())
            Tally.keep(order);
        else
            ((ReferenceCounted) order).release(); // the method that takes a body owns it
    }
}
