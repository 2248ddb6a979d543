package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;

/**
 * unreleasable: 40 buffers of a class whose release() does nothing, as Vert.x's, 7 of one that only
 * overrides it; all are dropped, and 5 more of the second are released.
 */
final class Unreleasable {
    private static final Gc GONE = new Gc();

    private Unreleasable() {
    }

    /** The collector's. */
    private static final class Ours extends UnpooledHeapByteBuf {
        Ours() {
            super(UnpooledByteBufAllocator.DEFAULT, 16, 16);
        }

        @Override
        public boolean release() {
            return false;
        }

        @Override
        public boolean release(int decrement) {
            return false;
        }
    }

    private static final class Counted extends UnpooledHeapByteBuf {
        static int asked;

        Counted() {
            super(UnpooledByteBufAllocator.DEFAULT, 16, 16);
        }

        @Override
        public boolean release() {
            asked++;
            return super.release();
        }
    }

    static void run() throws Throwable {
        for (int i = 0; i < 40; i++) {
            drop(new Ours(), false);
        }
        for (int i = 0; i < 12; i++) {
            drop(new Counted(), i >= 7);
        }
        Oracle.say("lives", 52, "released", Counted.asked, "leaked", 7, "harmless", 40, "live", 0,
                "collected", GONE.settle());
    }

    private static void drop(ByteBuf b, boolean released) {
        if (released) {
            Steps.done(b);
        } else {
            Steps.step(b);
            if (b instanceof Counted) {
                GONE.watch(b);
            }
        }
    }
}
