package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.ArrayList;
import java.util.List;

/**
 * opened: eight pooled buffers, of which the thread opener-a opened five, opener-b two and main one,
 * and one of every other allocator, all held for 2.5 s and lost then, on one path each.
 */
final class Opened {
    private static final Gc LOST = new Gc();
    private static final List<ByteBuf> HELD = new ArrayList<>();

    private Opened() {
    }

    static void run(String[] args) throws Throwable {
        ByteBufAllocator pooled = Allocators.byName("pooled");
        for (int count : new int[] {5, 2}) {
            Thread t = new Thread(() -> lose(pooled, count), count == 5 ? "opener-a" : "opener-b");
            t.start();
            t.join();
        }
        lose(pooled, 1);
        lose(Allocators.byName("adaptive"), 1);
        lose(UnpooledByteBufAllocator.DEFAULT, 1);
        keep(UnpooledByteBufAllocator.DEFAULT.heapBuffer(64));
        Thread.sleep(2_500);
        HELD.clear();
        Oracle.say("lives", 11, "released", 0, "leaked", 11, "live", 0, "collected", LOST.settle());
    }

    private static void lose(ByteBufAllocator alloc, int count) {
        for (int i = 0; i < count; i++) {
            keep(alloc.directBuffer(256));
        }
    }

    private static synchronized void keep(ByteBuf b) {
        LOST.watch(b);
        HELD.add(b);
        Steps.leaky(b);
    }
}
