package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * virtual THREADS: virtual threads that park inside methods that are followed, at the end of stacks of many
 * depths, holding a monitor or not, interrupted or not. Their frames go to the heap and to other carriers
 * with the buffers in them.
 */
final class Virtual {
    private static final Gc LOST = new Gc();
    private static final AtomicInteger LEAKED = new AtomicInteger(), INTERRUPTED = new AtomicInteger();

    private Virtual() {
    }

    static void run(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int number = i;
            Runnable body = () -> deep(PooledByteBufAllocator.DEFAULT.directBuffer(64), number, number % 40);
            Thread thread = (Thread) start.invoke(null, body);
            all.add(thread);
            if (i % 7 == 0) {
                thread.interrupt();
            }
            if (i % 1000 == 0) {
                System.gc();
            }
        }
        for (Thread thread : all) {
            thread.join();
        }
        Oracle.say("lives", threads, "released", threads - LEAKED.get(), "leaked", LEAKED.get(), "live", 0,
                "interrupted", INTERRUPTED.get() > 0 ? 1 : 0, "collected", LOST.settle());
    }

    private static void deep(ByteBuf b, int number, int more) {
        if (more > 0) {
            deep(b, number, more - 1);
        } else if (number % 50 == 0) {
            synchronized (new Object()) {
                park(b, number);
            }
        } else {
            park(b, number);
        }
    }

    private static void park(ByteBuf b, int number) {
        try {
            Thread.sleep(1 + number % 5);
        } catch (InterruptedException expected) {
            INTERRUPTED.incrementAndGet();
        }
        Steps.step(b);
        if (number % 100 == 99) {
            LEAKED.incrementAndGet();
            LOST.watch(b);
            Steps.leaky(b);
        } else {
            Steps.done(b);
        }
    }
}
