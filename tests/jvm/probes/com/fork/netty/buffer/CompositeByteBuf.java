package com.fork.netty.buffer;

/** Its components are the class's, not the object's. */
public class CompositeByteBuf extends ByteBuf {
    static Object[] components = {"x"};
    final int componentCount = 1;

    @Override
    public int refCnt() {
        return 1;
    }
}
