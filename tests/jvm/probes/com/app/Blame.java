package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

/** Losses whose report has been misread. args[0] says which. */
final class Blame {
    private static final Gc LOST = new Gc();
    private static final PooledByteBufAllocator POOL = PooledByteBufAllocator.DEFAULT;
    private static final UnpooledByteBufAllocator UNPOOLED = UnpooledByteBufAllocator.DEFAULT;
    private static final ByteBuf[] KEPT = new ByteBuf[100];

    private Blame() {
    }

    static void run(String[] args) throws Exception {
        for (int i = 0; i < 40; i++) {
            switch (args[0]) {
                case "composite": composite(i); break;
                case "nowhere": LOST.watch(allocate()); break;
                case "wrap": wrap(i, POOL.directBuffer(100 + i)); break;
                case "components": components(i); break;
                case "duplicate": duplicate(i, POOL.directBuffer(1000)); break;
                case "kept": kept(i, POOL.directBuffer(1000)); break;
                case "unpooled": duplicate(i, UNPOOLED.directBuffer(1000)); break;
                case "slice": slice(i, POOL.directBuffer(1000)); break;
                default: throw new IllegalArgumentException(args[0]);
            }
        }
        Oracle.say("leaked", LOST.size(), "collected", LOST.settle());
        System.out.println("READY");
        if (args.length > 1) {
            System.in.read();
        }
    }

    /** Half are released where the others are lost. */
    static void composite(int i) {
        CompositeByteBuf c = POOL.compositeBuffer();
        c.addComponent(true, POOL.directBuffer(64).writeZero(64));
        if (i % 2 == 0) {
            c.release();
        } else {
            LOST.watch(c);
        }
    }

    static Object allocate() {
        return POOL.heapBuffer(128);
    }

    /** One step, whatever the count: retained up to eight times. */
    static void wrap(int i, ByteBuf b) {
        for (int n = 0; n < i % 8; n++) {
            keep(b);
        }
        LOST.watch(wrapped(b));
    }

    static void keep(ByteBuf b) {
        b.retain();
    }

    static ByteBuf wrapped(ByteBuf b) {
        return b;
    }

    /** The composite dies young; its components are still used. */
    static void components(int i) {
        CompositeByteBuf c = POOL.compositeBuffer();
        KEPT[i] = POOL.directBuffer(256).writeZero(256);
        c.addComponent(true, KEPT[i]);
        LOST.watch(c);
    }

    /** The holder releases its own reference; who took the duplicate does not. */
    static void duplicate(int i, ByteBuf b) {
        take(b.retainedDuplicate());
        hold(b);
    }

    /** The holder keeps using its own reference. */
    static void kept(int i, ByteBuf b) {
        take(b.retainedDuplicate());
        store(i, b);
    }

    static void store(int i, ByteBuf b) {
        KEPT[i] = b;
    }

    static void slice(int i, ByteBuf b) {
        take(b.retainedSlice(0, 10));
        hold(b);
    }

    static void take(ByteBuf duplicate) {
        LOST.watch(duplicate);
    }

    static void hold(ByteBuf b) {
        b.release();
    }
}
