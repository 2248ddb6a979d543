package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.concurrent.FastThreadLocalThread;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * stress THREADS SECONDS [virtual]: everything at once, for the memory-safety protocol (design.md: memory safety):
 * threads open, step, step others' buffers without any order, step released ones, release, recycle,
 * hand over, keep and lose buffers of every kind, while the collector runs all the time; three
 * generations of threads. Paths may mix; what became of each life may not: the totals are exact.
 */
final class Stress {
    private static final int GENERATIONS = 3;
    private static final int KEPT = 4_096;
    private static final AtomicReferenceArray<ByteBuf> EXCHANGE = new AtomicReferenceArray<>(256);
    /** Written and read by all threads, on purpose without any order. */
    private static final ByteBuf[] PUBLISHED = new ByteBuf[64];
    private static final ByteBuf[] KEEP = new ByteBuf[KEPT];
    private static final AtomicInteger KEEP_NEXT = new AtomicInteger();
    private static final AtomicLong OPENED = new AtomicLong();
    private static final AtomicLong RELEASED = new AtomicLong();
    private static final AtomicLong LOST = new AtomicLong();
    private static volatile boolean stop;
    private static volatile boolean done;
    private static volatile int sink;

    private final SplittableRandom random;
    private final List<ByteBuf> mine = new ArrayList<>();
    private long opened;
    private long released;
    private long lost;

    private Stress(int seed) {
        random = new SplittableRandom(seed);
    }

    static void run(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        long millis = (long) (Double.parseDouble(args[1]) * 1000 / GENERATIONS);
        boolean virtual = args.length > 2 && args[2].equals("virtual");
        Thread collector = new Thread(Stress::collect);
        collector.setDaemon(true);
        collector.start();
        for (int generation = 0; generation < GENERATIONS; generation++) {
            stop = false;
            List<Thread> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                running.add(start(new Stress(generation * 100 + i + 1), i, virtual));
            }
            Thread.sleep(millis);
            stop = true;
            for (Thread t : running) {
                t.join();
            }
        }
        for (int i = 0; i < EXCHANGE.length(); i++) {
            ByteBuf b = EXCHANGE.getAndSet(i, null);
            if (b != null) {
                b.release();
                RELEASED.incrementAndGet();
            }
        }
        Arrays.fill(PUBLISHED, null);
        done = true;
        collector.join();
        new Gc().settle();
        long live = Arrays.stream(KEEP).filter(b -> b != null).count();
        Oracle.say("lives", OPENED, "released", RELEASED, "leaked", LOST, "live", live, "rest",
                OPENED.get() - RELEASED.get() - LOST.get() - live);
    }

    private static Thread start(Stress work, int i, boolean virtual) throws Exception {
        if (virtual) { // Java 21's, by reflection: this is compiled for 11
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                    .invoke(null, (Runnable) work::work);
        }
        Thread t = i % 2 == 0 ? new Thread(work::work) : new FastThreadLocalThread(work::work);
        t.start();
        return t;
    }

    private static void collect() {
        try {
            while (!done) {
                System.gc();
                Thread.sleep(5);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void work() {
        while (!stop) {
            for (int i = 0; i < 1_000; i++) {
                life();
            }
        }
        for (ByteBuf b : mine) {
            int n = random.nextInt(4) == 0 ? KEEP_NEXT.getAndIncrement() : KEPT;
            if (n < KEPT) {
                KEEP[n] = b;
            } else {
                release(b);
            }
        }
        OPENED.addAndGet(opened);
        RELEASED.addAndGet(released);
        LOST.addAndGet(lost);
    }

    private void life() {
        int kind = random.nextInt(100);
        ByteBuf b = allocate(kind);
        opened++;
        step(b);
        PUBLISHED[random.nextInt(PUBLISHED.length)] = b;
        ByteBuf others = PUBLISHED[random.nextInt(PUBLISHED.length)];
        if (others != null) {
            step2(others); // of another thread perhaps, released perhaps
        }
        int fate = random.nextInt(1_000);
        if (fate < 700) {
            release(b);
            if ((fate & 7) == 0) {
                afterwards(b);
            }
        } else if (fate < 940) {
            handOver(b);
        } else if (fate < 998) {
            keepForAWhile(b);
        } else if (kind < 50) {
            lost++; // unpooled: nothing but the collector ever hears of it again
        } else {
            release(b);
        }
    }

    private static ByteBuf allocate(int kind) {
        if (kind < 45) {
            return UnpooledByteBufAllocator.DEFAULT.heapBuffer(32);
        }
        if (kind < 50) {
            return UnpooledByteBufAllocator.DEFAULT.directBuffer(32);
        }
        if (kind < 80) {
            return PooledByteBufAllocator.DEFAULT.heapBuffer(64);
        }
        return kind < 97 ? PooledByteBufAllocator.DEFAULT.directBuffer(64)
                : PooledByteBufAllocator.DEFAULT.compositeBuffer(4);
    }

    private void handOver(ByteBuf b) {
        ByteBuf other = EXCHANGE.getAndSet(random.nextInt(EXCHANGE.length()), b);
        if (other != null) {
            step2(other);
            release(other);
        }
    }

    private void keepForAWhile(ByteBuf b) {
        mine.add(b);
        if (mine.size() > 2_000) {
            for (int i = 0; i < 1_000; i++) {
                release(mine.remove(mine.size() - 1));
            }
        }
    }

    private void release(ByteBuf b) {
        b.release();
        released++;
    }

    /* The steps read nothing that a released buffer would refuse. */

    private static void step(ByteBuf b) {
        sink += b.readerIndex();
    }

    private static void step2(ByteBuf b) {
        sink += b.readerIndex();
    }

    private static void afterwards(ByteBuf b) {
        sink += b.readerIndex();
    }
}
