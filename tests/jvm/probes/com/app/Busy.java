package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

/** busy SECONDS: exact work while other agents change the classes under it; one in 100 is lost. */
final class Busy {
    private static final Gc LOST = new Gc();

    private Busy() {
    }

    static void run(String[] args) throws Exception {
        long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        int lives = 0;
        int lost = 0;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 100; i++) {
                one(i == 7);
                lives++;
            }
            lost++;
            Thread.sleep(5);
        }
        Oracle.say("lives", lives, "released", lives - lost, "leaked", lost, "collected",
                LOST.settle());
    }

    private static void one(boolean lose) {
        ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(64);
        Steps.step(b);
        if (lose) {
            LOST.watch(b);
            Steps.leaky(b);
        } else {
            Steps.done(b);
        }
    }
}
