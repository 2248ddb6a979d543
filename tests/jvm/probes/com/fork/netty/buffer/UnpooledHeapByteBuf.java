package com.fork.netty.buffer;

/** It keeps its memory by address. */
public class UnpooledHeapByteBuf extends ByteBuf {
    final long array = 0x0123456789abcdefL;

    @Override
    public int refCnt() {
        return 1;
    }
}
