package com.app;

import com.other.Other;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.ArrayList;
import java.util.List;

/**
 * idle [loaded]: buffers come and go, some are lost and some kept, before the first class that matches
 * (com.other.Other; loaded: it is there, but does not match yet). After a line on stdin it does: those
 * kept move on through it, and new ones do the same.
 */
final class Idle {
    private static final PooledByteBufAllocator POOLED = PooledByteBufAllocator.DEFAULT;
    private static final UnpooledByteBufAllocator UNPOOLED = UnpooledByteBufAllocator.DEFAULT;
    private static final ByteBuf CONSTANT = Unpooled.unreleasableBuffer(Unpooled.buffer(8));
    private static final Gc GC = new Gc();
    private static final int NEW = 20, LOST = 4, KEPT = 6;

    private Idle() {
    }

    static void run(String[] args) throws Exception {
        if (args.length > 0) {
            Class.forName("com.other.Other");
        }
        List<ByteBuf> kept = new ArrayList<>();
        before(kept);
        GC.settle();
        System.out.println("READY");
        Late.untilLine();
        after(kept);
        lose(kept);
        kept.clear();
        GC.settle();
        Oracle.say("lives", NEW + LOST + KEPT, "released", NEW + KEPT - 1, "leaked", LOST,
                   "unknown", 1, "live", 0);
        Late.untilLine(); // for a last look, or the end of stdin
    }

    private static void before(List<ByteBuf> kept) {
        for (int i = 0; i < 100; i++) {
            GC.watch(UNPOOLED.heapBuffer(16));
            ByteBuf b = POOLED.directBuffer(64);
            ByteBuf slice = b.writeLong(1).readRetainedSlice(4);
            b.retain().release();
            b.release();
            slice.release();
            CompositeByteBuf all = UNPOOLED.compositeBuffer();
            all.addComponent(true, UNPOOLED.heapBuffer(8).writeInt(1));
            all.release();
            CONSTANT.retain().release();
        }
        for (int i = 0; i < KEPT; i++) {
            kept.add(UNPOOLED.heapBuffer(16));
        }
    }

    private static void after(List<ByteBuf> kept) {
        while (kept.size() > 1) {
            good(kept.remove(0));
        }
        for (int i = 0; i < NEW; i++) {
            good(POOLED.directBuffer(64));
        }
        for (int i = 0; i < LOST; i++) {
            ByteBuf b = UNPOOLED.heapBuffer(16);
            Other.touch(b);
            GC.watch(b);
        }
    }

    private static void good(ByteBuf b) {
        Other.touch(b);
        b.release();
    }

    private static void lose(List<ByteBuf> kept) {
        Other.touch(kept.get(0));
        GC.watch(kept.get(0));
    }
}
