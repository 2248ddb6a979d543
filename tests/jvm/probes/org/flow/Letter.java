package org.flow;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;

/** A holder of Netty's as users name it, with one more buffer. */
public final class Letter extends DefaultByteBufHolder {
    private final ByteBuf stamp;

    public Letter(ByteBuf content, ByteBuf stamp) {
        super(content);
        this.stamp = stamp;
    }

    public ByteBuf stamp() {
        return stamp;
    }
}
