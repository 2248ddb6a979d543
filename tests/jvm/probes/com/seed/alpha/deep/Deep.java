package com.seed.alpha.deep;

import io.netty.buffer.ByteBuf;

/** See com.seed.Filtering. */
public final class Deep {
    private Deep() {
    }

    public static void pass(ByteBuf b) {
        b.setByte(0, 1);
    }
}
