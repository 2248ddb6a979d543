package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;

/**
 * Composites own what is added to them: one that is lost is one leak, with the bytes of all its
 * components; what was taken out again, or is retained elsewhere, is a leak of its own. Each method is
 * a case of its own: the losing step tells them apart.
 */
final class Composites {
    private static final Gc LOST = new Gc();
    private static final PooledByteBufAllocator POOL = PooledByteBufAllocator.DEFAULT;
    private static ByteBuf kept;

    private Composites() {
    }

    static void run(String[] args) throws Exception {
        released();
        added();
        sliced();
        removed();
        consolidated();
        flattened();
        nested();
        wrapped();
        unmodifiable();
        retained();
        outlives();
        int gone = LOST.settle();
        kept = null; // the composite was collected long ago
        LOST.settle();
        Oracle.say("leaked", 11, "gone", gone);
    }

    private static ByteBuf direct(int size) {
        return POOL.directBuffer(size).writeZero(size);
    }

    private static ByteBuf heap(int size) {
        return UnpooledByteBufAllocator.DEFAULT.heapBuffer(size).writeZero(size);
    }

    private static void lose(ByteBuf b) {
        LOST.watch(b);
    }

    /** Five lives, all released with the composite. */
    static void released() {
        CompositeByteBuf c = POOL.compositeBuffer();
        ByteBuf cut = direct(64);
        c.addComponents(true, direct(16), heap(16), cut.readRetainedSlice(32));
        cut.release();
        c.release();
    }

    /** One leak of 300 bytes. */
    static void added() {
        CompositeByteBuf c = POOL.compositeBuffer();
        c.addComponent(true, direct(100));
        c.addComponents(true, heap(150), direct(50));
        lose(c);
    }

    /** The slice and the buffer that it was cut from are part of the leak: 64 bytes, once. */
    static void sliced() {
        ByteBuf cut = direct(64);
        CompositeByteBuf c = POOL.compositeBuffer().addComponent(true, cut.readRetainedSlice(32));
        cut.release();
        lose(c);
    }

    /** Two leaks: what was taken out of the composite is retained by us. */
    static void removed() {
        CompositeByteBuf c = POOL.compositeBuffer();
        ByteBuf out = direct(128);
        out.retain();
        c.addComponents(true, heap(10), out, heap(20));
        c.removeComponent(1);
        takenOut(out);
        lose(c);
    }

    static void takenOut(ByteBuf b) {
        lose(b);
    }

    /** The parts are released, the copy of them is the composite's: 48 bytes. */
    static void consolidated() {
        CompositeByteBuf c = Unpooled.compositeBuffer();
        c.addComponents(true, heap(16), heap(32));
        c.consolidate();
        lose(c);
    }

    /** The inner composite is released, its parts go over: 96 bytes. */
    static void flattened() {
        CompositeByteBuf inner = POOL.compositeBuffer().addComponents(true, direct(32), direct(48));
        CompositeByteBuf c = POOL.compositeBuffer();
        c.addComponent(true, heap(16));
        c.addFlattenedComponents(true, inner);
        lose(c);
    }

    /** One leak: the outer. 72 bytes. */
    static void nested() {
        CompositeByteBuf inner = POOL.compositeBuffer().addComponents(true, heap(8), heap(16));
        lose(POOL.compositeBuffer().addComponents(true, inner, direct(48)));
    }

    /** Made with its parts: 30 bytes. */
    static void wrapped() {
        lose(Unpooled.wrappedBuffer(heap(10), heap(20)));
    }

    static void unmodifiable() {
        lose(Unpooled.wrappedUnmodifiableBuffer(heap(1), heap(2)));
    }

    /** The composite was released; the part is lost by the code that retained it. */
    static void retained() {
        ByteBuf part = direct(512).retain();
        POOL.compositeBuffer().addComponent(true, part).release();
        lose(part);
    }

    /** Still reachable when its composite is collected: no leak of its own afterwards. */
    static void outlives() {
        kept = direct(1024);
        lose(POOL.compositeBuffer().addComponents(true, kept, heap(6)));
    }
}
