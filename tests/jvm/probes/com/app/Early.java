package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * early HOW: a pool of the application that sets the count in deallocate(), before the buffer is in
 * the pool. HOW "late": the releaser shows the buffer to a method after release(); "race": another
 * thread takes and loses it while deallocate() still runs; "virtual": virtual threads block in
 * deallocate() (JDK 21); "unseen": no method saw the buffer before its first release.
 */
final class Early {
    private static final int USES = 100;
    private static final ArrayBlockingQueue<Mine> POOL = new ArrayBlockingQueue<>(2 * USES);
    private static volatile long pause;

    private Early() {
    }

    private static final class Mine extends UnpooledHeapByteBuf {
        Mine() {
            super(UnpooledByteBufAllocator.DEFAULT, 32, 32);
        }

        @Override
        protected void deallocate() {
            setRefCnt(1);
            keep(this);
        }
    }

    /** Followed: it takes a ByteBuf. */
    private static void keep(ByteBuf b) {
        POOL.offer((Mine) b);
        if (pause != 0) {
            try {
                Thread.sleep(pause);
            } catch (InterruptedException stop) {
                throw new IllegalStateException(stop);
            }
        }
    }

    static void run(String[] args) throws Throwable {
        switch (args[0]) {
        case "late":
            for (int i = 0; i < USES; i++) {
                ByteBuf b = new Mine();
                Steps.step(b);
                b.release();
                logged(b);
            }
            break;
        case "race":
            race();
            break;
        case "unseen":
            for (int i = 0; i < USES; i++) {
                new Mine().release();
            }
            break;
        default:
            virtual();
        }
        POOL.clear();
        Gc lost = new Gc();
        lost.watch(new Object());
        lost.settle();
        Oracle.say("uses", USES);
    }

    private static void race() throws InterruptedException {
        pause = 2;
        Thread other = new Thread(() -> {
            try {
                for (int i = 0; i < USES; i++) {
                    taken(POOL.take());
                }
            } catch (InterruptedException stop) {
                throw new IllegalStateException(stop);
            }
        });
        other.start();
        for (int i = 0; i < USES; i++) {
            ByteBuf b = new Mine();
            Steps.step(b);
            b.release();
        }
        other.join();
    }

    private static void virtual() throws Throwable {
        pause = 5;
        ExecutorService all = (ExecutorService) Executors.class
                .getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        for (int i = 0; i < USES; i++) {
            all.execute(() -> {
                ByteBuf b = new Mine();
                Steps.step(b);
                b.release();
            });
        }
        all.shutdown();
        all.awaitTermination(60, TimeUnit.SECONDS);
    }

    private static void logged(ByteBuf b) {
        b.readerIndex();
    }

    private static void taken(ByteBuf b) {
        b.readerIndex();
    }
}
