package com.seed;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;

/** Reference counts: retains, and releases before the last one, are no steps of their own. */
final class Counts {
    private Counts() {
    }

    /** retain(), retain(int), retainedDuplicate(), retainedSlice(): each counted once. */
    static void retains() throws InterruptedException {
        ByteBuf b = Unpooled.buffer(64).writeLong(1);
        b.retain();
        b.retain(2);
        use(b);
        b.release(3);
        ByteBuf duplicate = b.retainedDuplicate(); // unpooled: the same count, the same life
        use(duplicate);
        duplicate.release();
        b.release();
        ByteBuf pooled = PooledByteBufAllocator.DEFAULT.directBuffer(64).writeLong(1);
        ByteBuf slice = pooled.readRetainedSlice(4); // a life of its own
        use(slice);
        slice.release();
        pooled.release();
        new Lost().say(3, 3);
    }

    static void use(ByteBuf b) {
        b.getByte(0);
    }

    /** The same step with another count is another node: [ref=3] beside [ref=1]. */
    static void anomalies() throws InterruptedException {
        Lost lost = new Lost();
        for (int i = 0; i < 9; i++) {
            ByteBuf b = Unpooled.buffer(16).retain();
            check(b);
            pass(b);
            b.release(2);
        }
        tooMany(lost);
        lost.say(10, 9);
    }

    static void tooMany(Lost lost) {
        ByteBuf b = Unpooled.buffer(16).retain(4);
        check(b);
        pass(b);
        b.release(2);
        lost.forget(b);
    }

    static void check(ByteBuf b) {
        b.setByte(0, 1);
    }

    static void pass(ByteBuf b) {
        b.setByte(0, 2);
    }

    /** Several retains and releases: one release, the last. */
    static void releases() throws InterruptedException {
        ByteBuf b = Unpooled.buffer(16);
        for (int i = 0; i < 8; i++) {
            b.retain();
            check(b);
        }
        for (int i = 0; i < 9; i++) {
            b.release();
        }
        new Lost().say(1, 1);
    }
}
