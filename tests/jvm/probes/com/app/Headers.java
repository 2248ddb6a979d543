package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.PooledByteBufAllocator;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * headers THREADS ROUNDS [wait]: objects with a buffer in them, and others that have a number where those have the
 * buffer, as `Object` through one method: as they are, hashed, locked, with a monitor that was waited for
 * or fought for, while the collector moves them. Who read the wrong class in a header would follow
 * the number, or lose the buffer.
 */
final class Headers {
    private static final Gc LOST = new Gc();
    private static final int EVERY = 100;

    private Headers() {
    }

    static final class Held extends DefaultByteBufHolder {
        Held(ByteBuf b) {
            super(b);
        }
    }

    static final class Number {
        private final int first = 0x12345678;
        private final int second = 0x12345678;

        int sum() {
            return first + second;
        }
    }

    static void run(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[1]);
        AtomicInteger sum = new AtomicInteger();
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            Thread thread = new Thread(() -> work(rounds, sum));
            thread.start();
            all.add(thread);
        }
        for (Thread thread : all) {
            while (thread.isAlive()) {
                System.gc();
                thread.join(20);
            }
        }
        if (args.length > 2) {
            System.out.println("READY");
            // The agent forgets all kinds of classes when it finds one that carries buffers.
            Thread again = new Thread(() -> takeForEver(new Number(), "text", new Object[0]));
            again.setDaemon(true);
            again.start();
            System.in.read();
        }
        int lives = threads * rounds, lost = threads * (rounds / EVERY);
        Oracle.say("lives", lives, "released", lives - lost, "leaked", lost, "live", 0,
                "sum", sum.get(), "collected", LOST.settle());
    }

    private static void work(int rounds, AtomicInteger sum) {
        try {
            for (int i = 0; i < rounds; i++) {
                round(i, sum);
            }
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    private static void round(int i, AtomicInteger sum) throws InterruptedException {
        ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(64);
        Object with = object(i, b);
        Number without = new Number();
        use(with, i / 4);
        use(without, i / 4);
        take(with);
        take(without);
        sum.addAndGet(without.sum() == 0x2468acf0 ? 1 : 0);
        if (i % EVERY == EVERY - 1) {
            LOST.watch(b);
        } else {
            b.release();
        }
    }

    private static Object object(int i, ByteBuf b) {
        switch (i % 4) {
            case 0:
                return new Held(b);
            case 1:
                return new Object[] {b};
            case 2:
                List<Object> list = new ArrayList<>();
                list.add(b);
                return list;
            default:
                return b;
        }
    }

    private static void use(Object any, int how) throws InterruptedException {
        if (how % 2 == 1) {
            System.identityHashCode(any);
        }
        if (how % 5 == 1) {
            synchronized (any) {
                take(any);
            }
        } else if (how % 50 == 2) {
            synchronized (any) {
                any.wait(1); // a monitor
                take(any);
            }
        } else if (how % 50 == 3) {
            Thread other = new Thread(() -> {
                synchronized (any) {
                    any.hashCode();
                }
            });
            synchronized (any) {
                other.start();
                Thread.sleep(1); // the other one waits for the lock
                take(any);
            }
            other.join();
        }
    }

    private static void takeForEver(Object... all) {
        for (int i = 0;; i++) {
            take(all[i % all.length]);
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static void take(Object any) {
        any.getClass();
    }
}
