package com.unit;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;

/** How these tests allocate and lose buffers. */
final class Lose {
    static final UnpooledByteBufAllocator ALLOC = new UnpooledByteBufAllocator(true);

    private Lose() {
    }

    static ByteBuf make() {
        return take(ALLOC.directBuffer(64));
    }

    static ByteBuf take(ByteBuf buffer) {
        return buffer;
    }

    static void lose(ByteBuf buffer) {
        buffer.writeByte(1);
    }

    static void lose() {
        lose(make());
    }
}
