package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.CharsetUtil;

/**
 * constants: buffers that class initialisers make and keep (one at once, one by a helper, one that
 * cannot be released), beside one that is open as usual and one that is lost; the initialiser runs
 * late, in the middle of the program.
 */
final class Constants {
    private static final Gc LOST = new Gc();

    private Constants() {
    }

    private static final class Held {
        static final ByteBuf AT_ONCE = PooledByteBufAllocator.DEFAULT.directBuffer(64);
        static final ByteBuf BY_HELPER = made(PooledByteBufAllocator.DEFAULT);
        static final ByteBuf COPIED = Unpooled.copiedBuffer("x", CharsetUtil.UTF_8);
        static final ByteBuf UNRELEASABLE = Unpooled.unreleasableBuffer(
                PooledByteBufAllocator.DEFAULT.directBuffer(64));

        static ByteBuf made(ByteBufAllocator alloc) {
            ByteBuf b = alloc.directBuffer(64);
            Steps.step(b);
            return b;
        }
    }

    static void run(String[] args) throws Throwable {
        ByteBuf open = PooledByteBufAllocator.DEFAULT.directBuffer(32);
        Steps.step(open);
        Steps.step2(Held.AT_ONCE);
        Steps.step2(Held.BY_HELPER);
        lose();
        Thread.sleep(Integer.parseInt(args[0]) * 1000L);
        Oracle.say("lives", 6, "released", 0, "leaked", 1, "live", 5, "collected", LOST.settle());
        Steps.step(open);
        Steps.step(Held.COPIED);
        if (Held.UNRELEASABLE.release()) {
            throw new AssertionError("it was released");
        }
    }

    private static void lose() {
        ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(32);
        LOST.watch(b);
        Steps.leaky(b);
    }
}
