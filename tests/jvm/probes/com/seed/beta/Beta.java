package com.seed.beta;

import io.netty.buffer.ByteBuf;

/** See com.seed.Filtering. */
public final class Beta {
    private Beta() {
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

    public static final class Message {
        private final ByteBuf content;

        public Message(ByteBuf content) {
            this.content = content;
        }

        public ByteBuf content() {
            return content;
        }
    }
}
