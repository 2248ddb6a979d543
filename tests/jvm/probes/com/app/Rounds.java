package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * rounds THREADS: buffers of every kind, some held for long, some handed over, all of them released,
 * until stdin closes: whatever comes and goes meanwhile, nothing is ever lost. New threads all the
 * time.
 */
final class Rounds {
    private static final ArrayBlockingQueue<ByteBuf> HANDED = new ArrayBlockingQueue<>(1_000);
    private static final AtomicLong LIVES = new AtomicLong();
    private static volatile boolean stop;

    private Rounds() {
    }

    static void run(String[] args) throws Exception {
        Thread waiter = new Thread(() -> {
            Serve.untilStdinCloses();
            stop = true;
        });
        waiter.setDaemon(true);
        waiter.start();
        boolean said = false;
        while (!stop) {
            List<Thread> running = new ArrayList<>();
            for (int i = 0; i < Integer.parseInt(args[0]); i++) {
                Thread t = new Thread(Rounds::work);
                t.start();
                running.add(t);
            }
            for (Thread t : running) {
                t.join();
            }
            System.gc();
            if (!said) {
                System.out.println("ROUNDS");
                System.out.flush();
                said = true;
            }
        }
        for (ByteBuf b; (b = HANDED.poll()) != null;) {
            Steps.done(b);
        }
        new Gc().settle();
        System.out.println("DID " + LIVES + " NUMBER " + Steps.number());
    }

    private static void work() {
        ArrayDeque<ByteBuf> held = new ArrayDeque<>();
        long end = System.nanoTime() + 300_000_000L;
        int n = 0;
        for (; !stop && System.nanoTime() < end; n++) {
            ByteBuf b = allocate(n);
            Steps.step(b);
            if (n % 16 == 3) {
                held.add(b);
            } else if (n % 16 == 7 && HANDED.offer(b)) {
                ByteBuf other = HANDED.poll();
                if (other != null) {
                    Steps.done(other);
                }
            } else if (n % 16 == 9) {
                ByteBuf slice = b.retainedSlice(0, 8);
                Steps.done(b);
                Steps.done(slice);
            } else {
                Steps.done(b);
            }
            if (held.size() > 500) {
                Steps.done(held.poll());
            }
        }
        LIVES.addAndGet(n);
        held.forEach(Steps::done);
    }

    private static ByteBuf allocate(int n) {
        switch (n % 5) {
        case 0:
            return PooledByteBufAllocator.DEFAULT.directBuffer(64);
        case 1:
            return PooledByteBufAllocator.DEFAULT.heapBuffer(64);
        case 2:
            return UnpooledByteBufAllocator.DEFAULT.directBuffer(16);
        default:
            return UnpooledByteBufAllocator.DEFAULT.heapBuffer(16);
        }
    }
}
