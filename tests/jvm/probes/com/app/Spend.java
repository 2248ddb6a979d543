package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * spend: buffers as fast as one thread can, nine steps each, every thousandth lost, until a line is
 * read; then none, until stdin closes. Prints READY once it is warm, RESTS when it has stopped.
 */
final class Spend {
    private static volatile boolean rest;

    private Spend() {
    }

    static void run(String[] args) throws Exception {
        Thread spender = new Thread(Spend::spend, "spender");
        spender.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        in.readLine();
        rest = true;
        spender.join();
        System.out.println("RESTS");
        while (in.readLine() != null) {
            continue;
        }
        System.gc();
    }

    private static void spend() {
        long n = 0, lost = 0;
        while (!rest) {
            ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(64);
            for (int i = 0; i < 4; i++) {
                Steps.step(b);
                Steps.step2(b);
            }
            if (n % 1000 == 0) {
                Steps.leaky(b);
                lost++;
            } else {
                Steps.done(b);
            }
            if (++n == 50_000) {
                System.out.println("READY");
            }
        }
        Oracle.say("lives", n, "lost", lost);
    }
}
