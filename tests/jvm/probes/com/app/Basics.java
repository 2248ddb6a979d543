package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;

/** Small stories of a few buffers each. */
final class Basics {
    private static final Gc LOST = new Gc();
    static ByteBuf kept;

    private static final class Box {
        ByteBuf content;
    }

    private Basics() {
    }

    /** Two buffers of the default allocator, one after the other: the second one is lost. */
    static void twoOfDefault(String[] args) throws Exception {
        ByteBufAllocator alloc = ByteBufAllocator.DEFAULT;
        first(alloc);
        second(alloc);
        Oracle.say("lives", 2, "released", 1, "leaked", 1, "collected", LOST.settle());
    }

    private static void first(ByteBufAllocator alloc) {
        ByteBuf b = alloc.directBuffer(128);
        Steps.step(b);
        Steps.done(b);
    }

    private static void second(ByteBufAllocator alloc) {
        ByteBuf b = alloc.directBuffer(128);
        Steps.step(b);
        LOST.watch(b);
        Steps.leaky(b);
    }

    /** The lost buffer stops where the good one continues: a leak inside the tree, not at a leaf. */
    static void holder(String[] args) throws Exception {
        for (int i = 0; i < 4; i++) {
            boxed(i % 2 == 0);
        }
        Oracle.say("lives", 4, "released", 2, "leaked", 2, "collected", LOST.settle());
    }

    private static void boxed(boolean good) {
        ByteBuf b = UnpooledByteBufAllocator.DEFAULT.heapBuffer(64);
        if (good) {
            Steps.step(b);
            Steps.done(b);
        } else {
            Box box = new Box();
            box.content = b;
            LOST.watch(b);
        }
    }

    /** 5,000 lost ones, all to be seen at the first look. */
    static void manyLeaks(String[] args) throws Exception {
        for (int i = 0; i < 5_000; i++) {
            ByteBuf b = UnpooledByteBufAllocator.DEFAULT.heapBuffer(32);
            LOST.watch(b);
            Steps.leaky(b);
        }
        Oracle.say("lives", 5000, "released", 0, "leaked", 5000, "collected", LOST.settle());
        if (args.length > 0) { // a client is to look first
            Serve.untilStdinCloses();
        }
    }

    /** Still in use at exit: live, no leak. */
    static void inUse(String[] args) throws Exception {
        kept = PooledByteBufAllocator.DEFAULT.directBuffer(512);
        Steps.step(kept);
        Oracle.say("lives", 1, "released", 0, "leaked", 0, "live", 1, "collected", LOST.settle());
    }

    /** Made by one thread, stepped and released by another: one flow. */
    static void thread(String[] args) throws Exception {
        ArrayBlockingQueue<ByteBuf> queue = new ArrayBlockingQueue<>(1);
        Thread other = new Thread(() -> take(queue));
        other.start();
        ByteBuf b = ByteBufAllocator.DEFAULT.directBuffer(64);
        Steps.step(b);
        queue.put(b);
        other.join();
        Oracle.say("lives", 1, "released", 1, "leaked", 0, "refCnt", b.refCnt());
    }

    private static void take(ArrayBlockingQueue<ByteBuf> queue) {
        try {
            ByteBuf b = queue.take();
            Steps.step2(b);
            Steps.done(b);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Through a future, by method references and by a lambda. */
    static void async(String[] args) throws Exception {
        ByteBuf made = ByteBufAllocator.DEFAULT.directBuffer(64);
        CompletableFuture.completedFuture(made).thenApplyAsync(Basics::through)
                .thenAcceptAsync(b -> Steps.done(b)).get();
        Oracle.say("lives", 1, "released", 1, "leaked", 0, "refCnt", made.refCnt());
    }

    private static ByteBuf through(ByteBuf b) {
        Steps.step(b);
        return b;
    }
}
