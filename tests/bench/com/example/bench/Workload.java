package com.example.bench;

/** Work that goes on until it is told to stop, and says how often it was done. */
interface Workload {
    /** What it needs and that takes long, before the first run(). */
    default void prepare(int threads) {
    }

    /**
     * Works in the given number of threads until Bench.stopped() says so, calling
     * Bench.done(thread, n) as it gets on; returns when all of them have stopped. May be called
     * again.
     */
    void run(int threads) throws Exception;
}
