package com.other;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;

/** Makes messages of buffers, in a package that is not followed: what it returns is typed Object. */
public final class Packs {
    private Packs() {
    }

    /** The next four bytes. */
    public static Object frame(ByteBuf in) {
        return new DefaultByteBufHolder(in.readRetainedSlice(4));
    }
}
