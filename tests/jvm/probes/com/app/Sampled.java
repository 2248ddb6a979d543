package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.FastThreadLocalThread;

/**
 * sampled ALLOCATOR COUNT: COUNT buffers of 64 bytes, recycled where the allocator recycles, each
 * with a retained slice; one in ten is lost, the others end in Steps.done.
 */
final class Sampled {
    private static final Gc LOST = new Gc();

    private Sampled() {
    }

    static void run(String[] args) throws Throwable {
        ByteBufAllocator alloc = Allocators.byName(args[0]);
        int count = Integer.parseInt(args[1]);
        Thread t = new FastThreadLocalThread(() -> {
            for (int i = 0; i < count; i++) {
                one(alloc, i % 10 == 0);
            }
        });
        t.start();
        t.join();
        Oracle.say("done", count - count / 10, "lost", count / 10, "collected", LOST.settle());
    }

    private static void one(ByteBufAllocator alloc, boolean lost) {
        ByteBuf b = alloc.directBuffer(64);
        Steps.step(b);
        ByteBuf slice = b.retainedSlice(0, 8);
        Steps.step2(slice);
        slice.release();
        if (lost) {
            LOST.watch(b);
            Steps.leaky(b);
        } else {
            Steps.done(b);
        }
    }
}
