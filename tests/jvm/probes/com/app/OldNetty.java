package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;

/**
 * oldnetty: every way to release a buffer, of each kind, also one that the garbage collector takes
 * afterwards. Before Netty 4.1.35 release() called deallocate() itself. One of each allocator is lost.
 */
final class OldNetty {
    private static final int TIMES = 100;
    private static final Gc LOST = new Gc();

    private OldNetty() {
    }

    static void run(String[] args) throws Throwable {
        ByteBufAllocator[] allocators = {PooledByteBufAllocator.DEFAULT, UnpooledByteBufAllocator.DEFAULT};
        for (ByteBufAllocator alloc : allocators) {
            for (int i = 0; i < TIMES; i++) {
                counted(alloc.directBuffer(64).writeInt(i));
                derived(alloc.heapBuffer(64).writeInt(i));
                done(bundle(alloc, alloc.directBuffer(64).writeInt(i), alloc.heapBuffer(64).writeInt(i)));
            }
            ByteBuf lost = alloc.directBuffer(64);
            lost.retain().release();
            forget(lost);
            lost = null;
        }
        // Each time: one, one, five of the bundle. Of a pooled buffer its retained views are two more.
        int released = (7 + 2 + 7) * TIMES;
        Oracle.say("leaked", 2, "released", released, "live", 0, "lives", released + 2, "collected", LOST.settle());
    }

    /** To 6, and down again in steps of several. */
    private static void counted(ByteBuf b) {
        b.retain();
        b.retain(4);
        b.release(3);
        b.release();
        b.release(2);
    }

    private static void derived(ByteBuf b) {
        done(b.retainedSlice(0, 2));
        done(b.retainedDuplicate());
        done(b);
    }

    private static ByteBuf bundle(ByteBufAllocator alloc, ByteBuf direct, ByteBuf heap) {
        CompositeByteBuf two = alloc.compositeBuffer().addComponent(true, direct).addComponent(true, heap);
        return Unpooled.wrappedBuffer(two, Unpooled.EMPTY_BUFFER.retain(), Unpooled.buffer(4).writeInt(1));
    }

    static void done(ByteBuf b) {
        b.release();
    }

    static void forget(ByteBuf b) {
        LOST.watch(b);
    }
}
