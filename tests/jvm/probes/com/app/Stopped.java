package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * stopped THREADS ROUNDS: threads that follow buffers for ever, until Thread.stop(), which works up to Java
 * 19 and strikes anywhere, so in a hook most of the time. Each has to end, and by nothing else.
 */
final class Stopped {
    private static final int WARM = 50_000; // nothing is to be loaded or initialised any more
    private static final AtomicInteger OTHERS = new AtomicInteger();

    private Stopped() {
    }

    @SuppressWarnings("removal")
    static void run(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[1]), survived = 0;
        Random random = new Random(1);
        Object[] box = new Object[1];
        for (int i = 0; i < WARM; i++) {
            once(box);
        }
        for (int round = 0; round < rounds && survived == 0; round++) {
            List<Thread> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                Thread thread = new Thread(Stopped::forEver);
                thread.setDaemon(true);
                thread.start();
                all.add(thread);
            }
            Thread.sleep(10 + random.nextInt(10));
            for (Thread thread : all) {
                thread.stop();
            }
            for (Thread thread : all) {
                thread.join(5000);
                survived += thread.isAlive() ? 1 : 0;
            }
        }
        Oracle.say("survived", survived, "others", OTHERS.get());
        System.out.flush();
        Runtime.getRuntime().exit(0); // some may run on
    }

    private static void forEver() {
        Object[] box = new Object[1];
        try {
            while (true) {
                once(box);
            }
        } catch (ThreadDeath stopped) {
            return;
        } catch (Throwable other) {
            OTHERS.incrementAndGet();
        }
    }

    private static void once(Object[] box) {
        ByteBuf b = UnpooledByteBufAllocator.DEFAULT.heapBuffer(16);
        box[0] = b;
        Steps.step(b);
        any(box);
        Steps.done(b);
    }

    private static void any(Object box) {
        box.getClass();
    }
}
