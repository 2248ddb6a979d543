package com.app;

import io.netty.buffer.ByteBuf;

/** A class that bbflow rewrites and that a debugger puts another body into. */
final class Redefinable {
    private Redefinable() {
    }

    static String of(ByteBuf b) {
        String word = "first";
        return b.isReadable() ? word + "!" : word;
    }
}
