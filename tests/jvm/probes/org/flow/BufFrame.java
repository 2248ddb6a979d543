package org.flow;

import io.netty.buffer.ByteBuf;

public class BufFrame implements Part {
    private ByteBuf data;

    public BufFrame(ByteBuf data) {
        this.data = data;
    }

    public void replace(ByteBuf other) {
        data = other;
    }

    public void release() {
        data.release();
    }

    @Override
    public int size() {
        return data.readableBytes();
    }
}
