package com.shop;

import com.bench.Tally;
import org.apache.activemq.artemis.api.core.ActiveMQBuffer;

/** The leak: the record that is kept is never released. */
public final class AuditService {
    private long bytes;

    public void record(ActiveMQBuffer order) {
        bytes += order.readableBytes();
        if (Tally.isLost())
            Tally.keep(order);
        else
            order.release();
    }
}
