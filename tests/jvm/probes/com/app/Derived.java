package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;

/** Views, retained views and composites: other objects, the same memory. */
final class Derived {
    private static final Gc LOST = new Gc();

    private Derived() {
    }

    /** Six patterns on two allocators, each released as Netty's documentation says: no leak. */
    static void correct(String[] args) throws Exception {
        ByteBufAllocator[] allocs = {PooledByteBufAllocator.DEFAULT,
            UnpooledByteBufAllocator.DEFAULT};
        for (ByteBufAllocator alloc : allocs) {
            slice(alloc);
            retainedSlice(alloc);
            duplicate(alloc);
            readRetainedSlice(alloc);
            composite(alloc);
            readOnly(alloc);
        }
        Gc none = new Gc();
        Oracle.say("leaked", 0, "live", 0, "collected", none.settle());
    }

    private static void slice(ByteBufAllocator alloc) {
        ByteBuf b = filled(alloc);
        ByteBuf view = b.slice(0, 8);
        Steps.step(view);
        view.release();
    }

    private static void retainedSlice(ByteBufAllocator alloc) {
        ByteBuf b = filled(alloc);
        ByteBuf view = b.retainedSlice(0, 8);
        Steps.step(view);
        Steps.done(b);
        Steps.done(view);
    }

    private static void duplicate(ByteBufAllocator alloc) {
        ByteBuf b = filled(alloc);
        Steps.step(b.duplicate());
        Steps.done(b);
    }

    private static void readRetainedSlice(ByteBufAllocator alloc) {
        ByteBuf b = filled(alloc);
        ByteBuf view = b.readRetainedSlice(8);
        Steps.done(b);
        Steps.step(view);
        Steps.done(view);
    }

    private static void composite(ByteBufAllocator alloc) {
        CompositeByteBuf all = alloc.compositeBuffer();
        all.addComponent(true, filled(alloc)).addComponent(true, filled(alloc));
        Steps.step(all);
        Steps.done(all);
    }

    private static void readOnly(ByteBufAllocator alloc) {
        ByteBuf b = filled(alloc);
        ByteBuf view = b.asReadOnly();
        Unpooled.wrappedBuffer(view).getByte(0);
        Steps.done(view);
    }

    private static ByteBuf filled(ByteBufAllocator alloc) {
        return alloc.directBuffer(64).writeZero(64);
    }

    /** The owner is released, its retained slice is lost: one leak, in the slice. */
    static void leaked(String[] args) throws Exception {
        lose();
        Oracle.say("leaked", 1, "collected", LOST.settle());
    }

    private static void lose() {
        ByteBuf b = filled(PooledByteBufAllocator.DEFAULT);
        ByteBuf view = b.retainedSlice(0, 8);
        LOST.watch(view);
        Steps.done(b);
        Steps.leaky(view);
    }
}
