package com.example.bench;

/** Work that runs until it is stopped, and reports how often it was done. */
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
