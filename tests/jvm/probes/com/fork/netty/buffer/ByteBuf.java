package com.fork.netty.buffer;

/** Another library's class of the name of Netty's. */
public abstract class ByteBuf {
    public abstract int refCnt();
}
