package com.seed.alpha;

import io.netty.buffer.ByteBuf;

/** See com.seed.Filtering. */
public final class Alpha {
    private Alpha() {
    }

    public static void pass(ByteBuf b) {
        b.setByte(0, 1);
    }

    public static final class Inner {
        private Inner() {
        }

        public static void pass(ByteBuf b) {
            b.setByte(0, 2);
        }
    }
}
