package com.example.bench;

import io.netty.util.concurrent.FastThreadLocalThread;

import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/** An operation in a loop, in each thread one of its own; Netty's kind of threads, as event loops
 * are: its pools work differently in others. */
final class Loops implements Workload {
    private static final int BATCH = 128; // between two looks at what is shared
    private static final int PACED = (int) Math.max(1, Math.min(BATCH, Pace.RATE / 500)); // 2 ms of work

    private final IntFunction<Runnable> operation;
    private Runnable[] made;

    Loops(IntFunction<Runnable> operation) {
        this.operation = operation;
    }

    @Override
    public void prepare(int threads) {
        made = new Runnable[threads];
        for (int i = 0; i < threads; i++) {
            made[i] = operation.apply(threads);
        }
    }

    @Override
    public void run(int threads) throws InterruptedException {
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int number = i;
            all[i] = new FastThreadLocalThread(() -> loop(number), "bench-" + i);
            all[i].start();
        }
        for (Thread t : all) {
            t.join();
        }
    }

    private void loop(int number) {
        Runnable op = made[number];
        Pace pace = new Pace();
        int batch = Pace.RATE == 0 ? BATCH : PACED;
        while (!Bench.stopped()) {
            for (int i = 0; i < batch; i++) {
                op.run();
            }
            Bench.done(number, batch);
            long wait = pace.until(batch);
            if (wait > 0) {
                LockSupport.parkNanos(wait);
            }
        }
    }
}
