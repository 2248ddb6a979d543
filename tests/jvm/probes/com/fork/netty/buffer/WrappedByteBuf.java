package com.fork.netty.buffer;

/** What it wraps is an address. */
public class WrappedByteBuf extends ByteBuf {
    final long buf = 0x0123456789abcdefL;

    @Override
    public int refCnt() {
        return 1;
    }
}
