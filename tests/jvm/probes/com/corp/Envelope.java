package com.corp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** What an application's own framework hands on in the place of a buffer. */
public interface Envelope {
    int size();

    static Envelope of(int bytes) {
        return new Sealed(Unpooled.buffer(bytes));
    }

    final class Sealed implements Envelope {
        private final ByteBuf content;

        Sealed(ByteBuf content) {
            this.content = content;
        }

        @Override
        public int size() {
            return content.capacity();
        }
    }
}
