package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.concurrent.FastThreadLocalThread;

/**
 * sampled ALLOCATOR COUNT [wrapped|misused]: COUNT buffers of 64 bytes, recycled where the allocator recycles, each
 * with a retained slice; one in ten is lost, the others end in Steps.done. wrapped: COUNT composites
 * of Unpooled.wrappedBuffer, whose constructor takes two such buffers over; none is lost.
 * misused: COUNT buffers like the first, none lost, and after each the same objects once more: that
 * slice and that buffer are released twice, and the buffer is read after it.
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
                if (args.length > 2 && args[2].equals("misused")) {
                    one(alloc, false);
                    misuse(alloc);
                } else if (args.length > 2) {
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

    private static void misuse(ByteBufAllocator alloc) {
        ByteBuf b = alloc.directBuffer(64);
        ByteBuf slice = b.retainedSlice(0, 8);
        Steps.done(slice);
        Steps.done(b);
        again(slice);
        again(b);
        try {
            b.getByte(0);
            throw new AssertionError("read after its release");
        } catch (IllegalReferenceCountException expected) {
            // as it should
        }
    }

    private static void again(ByteBuf b) {
        try {
            b.release();
            throw new AssertionError("released twice");
        } catch (IllegalReferenceCountException expected) {
            // as it should
        }
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
