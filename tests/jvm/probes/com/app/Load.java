package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;

/** Many buffers: limits, stalls, threads, races, colliding identity hashes. */
final class Load {
    private static final Gc LOST = new Gc();
    private static final ByteBufAllocator ALLOC = UnpooledByteBufAllocator.DEFAULT;

    private Load() {
    }

    /** 300 lives on 300 different paths of nine steps (the bits of the number choose), half lost. */
    static void limit(String[] args) throws Exception {
        for (int i = 0; i < 300; i++) {
            Paths.start(ALLOC.heapBuffer(16), i, LOST);
        }
        Oracle.say("lives", 300, "released", 150, "leaked", 150, "collected", LOST.settle());
    }

    /** 4,000 buffers held at once; the time that the last 1,000 allocations took, in ns each. */
    static void stall(String[] args) {
        List<ByteBuf> held = new ArrayList<>();
        long[] ns = new long[4_000];
        for (int i = 0; i < ns.length; i++) {
            long t = System.nanoTime();
            ByteBuf b = ALLOC.heapBuffer(16);
            ns[i] = System.nanoTime() - t;
            held.add(b);
        }
        for (ByteBuf b : held) {
            Steps.done(b);
        }
        long[] last = Arrays.copyOfRange(ns, 3_000, 4_000);
        Arrays.sort(last);
        Oracle.say("lives", 4000, "released", 4000, "leaked", 0, "median_ns", last[500]);
    }

    /** threads N SECONDS: fresh unpooled buffers as fast as they come; must end by itself. */
    static void threads(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        long end = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);
        AtomicLong lives = new AtomicLong();
        Thread[] threads = new Thread[n];
        for (int i = 0; i < n; i++) {
            threads[i] = new Thread(() -> lives.addAndGet(spin(end)));
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
        Oracle.say("lives", lives, "released", lives, "leaked", 0);
    }

    private static long spin(long end) {
        long n = 0;
        while (System.nanoTime() < end) {
            ByteBuf b = ALLOC.heapBuffer(64);
            Steps.step(b);
            Steps.step2(b);
            Steps.done(b);
            n++;
        }
        return n;
    }

    /** 2,000 buffers, each stepped by two threads at once: paths may mix, outcomes may not. */
    static void race(String[] args) throws Exception {
        ByteBuf[] shared = new ByteBuf[1];
        CyclicBarrier barrier = new CyclicBarrier(3);
        Thread a = racer(shared, barrier, 2_000, true);
        Thread b = racer(shared, barrier, 2_000, false);
        for (int i = 0; i < 2_000; i++) {
            shared[0] = ALLOC.heapBuffer(16);
            barrier.await();
            barrier.await();
            Steps.done(shared[0]);
        }
        a.join();
        b.join();
        Oracle.say("lives", 2000, "released", 2000, "leaked", 0);
    }

    private static Thread racer(ByteBuf[] shared, CyclicBarrier barrier, int rounds, boolean odd) {
        Thread t = new Thread(() -> {
            try {
                for (int i = 0; i < rounds; i++) {
                    barrier.await();
                    for (int k = 0; k < 5; k++) {
                        if (odd) {
                            Steps.step(shared[0]);
                        } else {
                            Steps.step2(shared[0]);
                        }
                    }
                    barrier.await();
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        t.start();
        return t;
    }

    /** hash N: N live objects, enough for identity hashes to collide; half released, half lost. */
    static void hash(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        ByteBuf[] all = new ByteBuf[n];
        int[] hashes = new int[n];
        for (int i = 0; i < n; i++) {
            all[i] = ALLOC.heapBuffer(16);
            hashes[i] = System.identityHashCode(all[i]);
        }
        Arrays.sort(hashes);
        int collisions = 0;
        for (int i = 1; i < n; i++) {
            if (hashes[i] == hashes[i - 1]) {
                collisions++;
            }
        }
        for (int i = 0; i < n; i += 2) {
            Steps.done(all[i]);
        }
        LOST.watch(all[n - 1]);
        Arrays.fill(all, null);
        Oracle.say("lives", n, "released", (n + 1) / 2, "leaked", n / 2, "collisions", collisions,
                "collected", LOST.settle());
    }
}
