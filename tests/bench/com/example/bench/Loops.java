package com.example.bench;

import io.netty.util.concurrent.FastThreadLocalThread;

import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/** An operation in a loop, in each thread one of its own; Netty's kind of threads, as event loops
 * are: its pools work differently in others. */
final class Loops implements Workload {
    private static final int BATCH = 128; // between two looks at what is shared

    /** Nanoseconds a batch, of -Dbench.pace=N operations a second in each thread; 0: as fast as it can. */
    private static final long PACE = Long.getLong("bench.pace", 0) == 0 ? 0
            : BATCH * 1_000_000_000L / Long.getLong("bench.pace");

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
        for (long due = System.nanoTime(); !Bench.stopped(); due += PACE) {
            for (int i = 0; i < BATCH; i++) {
                op.run();
            }
            Bench.done(number, BATCH);
            if (PACE != 0) {
                LockSupport.parkNanos(due + PACE - System.nanoTime());
            }
        }
    }
}
