package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.ReferenceCountUtil;

/** refs: three buffers with two retains too many, in each of the ways to count, and five without. */
final class Refs {
    private static final Gc LOST = new Gc();

    private Refs() {
    }

    static void run(String[] args) throws Throwable {
        for (int i = 0; i < 8; i++) {
            ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(64);
            keep(b);
            push(b);
            pop(b);
            hold(b);
            bundle(b);
            if (i < 3) {
                forget(b);
            } else {
                drop(b);
            }
            b = null;
        }
        Oracle.say("leaked", 3, "released", 13, "live", 0, "collected", LOST.settle());
    }

    static void keep(ByteBuf b) {
        b.retain();
    }

    static void push(ByteBuf b) {
        ReferenceCountUtil.retain(b, 2);
    }

    static void pop(ByteBuf b) {
        b.release(2);
    }

    /** By a holder: its release is its content's. */
    static void hold(ByteBuf b) {
        new DefaultByteBufHolder(b).release();
    }

    /** By a composite: its release is its component's. */
    static void bundle(ByteBuf b) {
        Unpooled.compositeBuffer(2).addComponent(b.retain()).release();
    }

    static void forget(ByteBuf b) {
        b.retain();
        LOST.watch(b);
    }

    static void drop(ByteBuf b) {
        ReferenceCountUtil.release(b);
    }
}
