package org.flow;

import io.netty.buffer.ByteBuf;

/** A list of its own: `next` is a link, not what an element carries. */
public final class Chain {
    private final ByteBuf data;
    private final Chain next;

    public Chain(ByteBuf data, Chain next) {
        this.data = data;
        this.next = next;
    }

    public int size() {
        return data.readableBytes() + (next != null ? next.size() : 0);
    }
}
