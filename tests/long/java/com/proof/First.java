package com.proof;

import io.netty.buffer.ByteBuf;

/** A class that stays followed whatever `include` is set to: a buffer no root hook knows is seen. */
final class First {
    private First() {
    }

    static int sight(ByteBuf b) {
        return b.readerIndex();
    }
}
