package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.FastThreadLocalThread;

/**
 * sampled ALLOCATOR COUNT [wrapped]: COUNT buffers of 64 bytes, recycled where the allocator recycles, each
 * with a retained slice; one in ten is lost, the others end in Steps.done. wrapped: COUNT composites
 * of Unpooled.wrappedBuffer, whose constructor takes two such buffers over; none is lost.
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
                if (args.length > 2) {
                    Steps.done(Unpooled.wrappedBuffer(alloc.directBuffer(8).writeByte(1),
                            alloc.directBuffer(8).writeByte(2)));
                } else {
                    one(alloc, i % 10 == 0);
                }
            }
        });
        t.start();
        t.join();
        int lost = args.length > 2 ? 0 : count / 10;
        Oracle.say("done", count - lost, "lost", lost, "collected", LOST.settle());
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
