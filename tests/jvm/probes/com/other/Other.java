package com.other;

import io.netty.buffer.ByteBuf;

/** A package of its own, for include= and exclude=. */
public final class Other {
    private Other() {
    }

    public static void touch(ByteBuf b) {
        b.setByte(0, 7);
    }
}
