package com.example.bench;

import io.netty.util.concurrent.FastThreadLocalThread;

import java.util.function.IntFunction;

/** An operation in a loop, in each thread one of its own; Netty's kind of threads, as event loops
 * are: its pools work differently in others. */
final class Loops implements Workload {
    private static final int BATCH = 128; // between two looks at what is shared

    private final IntFunction<Runnable> operation;
    private Runnable[] made = {};

    Loops(IntFunction<Runnable> operation) {
        this.operation = operation;
    }

    @Override
    public void run(int threads) throws InterruptedException {
        if (made.length == 0) {
            made = new Runnable[threads];
        }
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int number = i;
            all[i] = new FastThreadLocalThread(() -> loop(number, threads), "bench-" + i);
            all[i].start();
        }
        for (Thread t : all) {
            t.join();
        }
    }

    private void loop(int number, int threads) {
        if (made[number] == null) {
            made[number] = operation.apply(threads);
        }
        Runnable op = made[number];
        while (!Bench.stopped()) {
            for (int i = 0; i < BATCH; i++) {
                op.run();
            }
            Bench.done(number, BATCH);
        }
    }
}
