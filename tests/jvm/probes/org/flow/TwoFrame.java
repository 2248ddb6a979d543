package org.flow;

import io.netty.buffer.ByteBuf;

/** A second field, in a subclass. */
public class TwoFrame extends BufFrame {
    private final ByteBuf trailer;

    public TwoFrame(ByteBuf data, ByteBuf trailer) {
        super(data);
        this.trailer = trailer;
    }

    public ByteBuf trailer() {
        return trailer;
    }
}
