package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.ArrayList;
import java.util.List;

/**
 * immortal KIND: a hundred buffers in an unreleasable wrapper, of which each was dropped with what it
 * wraps ("kept": not dropped; "released": the wrapper alone is dropped). What the collector cannot
 * give back is lost; Netty's arena or counter says how much that is.
 */
final class Immortal {
    private static final int COUNT = 100;
    private static final PooledByteBufAllocator POOL = new PooledByteBufAllocator(false, 1, 1, 8192,
            11);
    private static final UnpooledByteBufAllocator CLEANED = new UnpooledByteBufAllocator(true, true,
            false);
    private static final UnpooledByteBufAllocator DIRECT = new UnpooledByteBufAllocator(true, true);
    private static final Gc GONE = new Gc();
    private static final List<ByteBuf> KEPT = new ArrayList<>();
    private static int harmless;
    private static int lost;

    private Immortal() {
    }

    static void run(String[] args) throws Throwable {
        for (int i = 0; i < COUNT; i++) {
            one(args[0]);
        }
        int lives = args[0].equals("retained") ? 2 * COUNT
                : args[0].equals("composite") ? 3 * COUNT : COUNT;
        Oracle.say("lives", lives, "released", args[0].equals("released") ? COUNT : 0, "leaked", lost,
                "live", KEPT.size(), "harmless", harmless, "gone", GONE.settle(), "watched",
                GONE.size(), "arena", POOL.metric().directArenas().get(0).numActiveAllocations()
                + POOL.metric().heapArenas().get(0).numActiveAllocations());
    }

    private static void one(String kind) {
        ByteBuf b = make(kind);
        ByteBuf wrapper = Unpooled.unreleasableBuffer(b);
        Steps.step(b);
        Steps.step2(wrapper);
        if (wrapper.release()) {
            throw new AssertionError("it was released");
        }
        GONE.watch(wrapper);
        if (kind.equals("released")) {
            b.release();
        } else if (kind.equals("kept")) {
            KEPT.add(b);
        } else if (kind.equals("composite")) {
            harmless++;
            lost += 2;
        } else if (kind.equals("heap") || kind.equals("cleaned") || kind.equals("direct")
                && !b.getClass().getName().contains("NoCleaner")) {
            harmless++;
        } else {
            lost++;
        }
    }

    private static ByteBuf make(String kind) {
        ByteBuf b;
        switch (kind) {
        case "heap":
            return DIRECT.heapBuffer(64);
        case "direct":
            return DIRECT.directBuffer(64);
        case "cleaned":
            return CLEANED.directBuffer(64);
        case "pooledHeap":
            return POOL.heapBuffer(64);
        case "slice":
            return POOL.directBuffer(64).writeZero(64).slice(8, 8);
        case "retained":
            b = POOL.directBuffer(64).writeZero(64);
            ByteBuf part = b.retainedSlice(8, 8);
            b.release();
            return part;
        case "composite":
            CompositeByteBuf all = POOL.compositeDirectBuffer();
            return all.addComponents(true, POOL.directBuffer(32).writeZero(32),
                    POOL.directBuffer(32).writeZero(32));
        default:
            return POOL.directBuffer(64);
        }
    }
}
