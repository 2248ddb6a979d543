package com.app;

import io.netty.buffer.ByteBuf;

/** Methods for buffers to pass through; what a path is made of. */
final class Steps {
    private Steps() {
    }

    static void step(ByteBuf b) {
        b.setByte(0, 1);
    }

    static void step2(ByteBuf b) {
        b.setByte(0, 2);
    }

    /** Forgets the buffer. */
    static void leaky(ByteBuf b) {
        b.setByte(0, 3);
    }

    /** Another agent makes it 4243 (com.agents.Other, patch). */
    static int number() {
        return 4242;
    }

    static void done(ByteBuf b) {
        b.release();
    }
}
