package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.function.IntFunction;

/** What Netty makes inside, where Netty itself is followed with its buffers' constructors. */
final class Greedy {
    private static final Gc LOST = new Gc();

    private Greedy() {
    }

    /** chunks: an adaptive allocator of its own is lost with its chunks, and two buffers of it. */
    static void chunks(String[] args) throws Exception {
        ByteBufAllocator alloc = Allocators.byName("adaptive");
        for (int size : new int[] {16, 1024, 70_000, 3_000_000, 20_000_000}) {
            Steps.done(alloc.directBuffer(size));
            Steps.done(alloc.heapBuffer(size));
        }
        lose(alloc::directBuffer, 256);
        lose(alloc::heapBuffer, 512);
        alloc = null;
        Oracle.say("lives", 12, "released", 10, "leaked", 2, "live", 0, "collected", LOST.settle());
    }

    /** wrapped: the user's own memory, lost and released, beside one lost buffer of Netty's. */
    static void wrapped(String[] args) throws Exception {
        Steps.step(Unpooled.wrappedBuffer(new byte[500]));
        Steps.step(Unpooled.wrappedBuffer(new byte[500], 1, 7));
        Steps.step(Unpooled.wrappedBuffer(ByteBuffer.allocate(400)));
        Steps.step(Unpooled.wrappedBuffer(ByteBuffer.allocateDirect(300)));
        lose(Unpooled::buffer, 200);
        Steps.done(Unpooled.wrappedBuffer(new byte[600]));
        Steps.done(Unpooled.wrappedBuffer(ByteBuffer.allocateDirect(600)));
        Oracle.say("lives", 7, "released", 2, "leaked", 1, "live", 0, "collected", LOST.settle());
    }

    /** derived N: what Netty's recycler makes is seen before it is a slice or duplicate of anything. */
    static void derived(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        for (int i = 0; i < n; i++) {
            ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(64).writeLong(1);
            Steps.done(b.retainedSlice(0, 4));
            Steps.done(b.retainedDuplicate());
            Steps.done(b);
        }
        Oracle.say("lives", 3 * n, "released", 3 * n, "leaked", 0, "live", 0);
    }

    private static void lose(IntFunction<ByteBuf> alloc, int size) {
        ByteBuf b = alloc.apply(size);
        LOST.watch(b);
        Steps.leaky(b);
    }
}
