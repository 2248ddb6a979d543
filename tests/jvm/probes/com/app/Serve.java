package com.app;

import com.other.Other;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.io.IOException;

/**
 * serve: good and bad lives at a steady rate until stdin closes, for a client to look at. Prints
 * "READY" when the first hundred are through.
 */
final class Serve {
    private static volatile boolean stop;

    private Serve() {
    }

    static void run(String[] args) throws Exception {
        Thread waiter = new Thread(() -> {
            untilStdinCloses();
            stop = true;
        });
        waiter.setDaemon(true);
        waiter.start();
        long n = 0;
        while (!stop) {
            good();
            badHeap();
            badDirect();
            if (++n % 100 == 0) {
                System.gc();
            }
            if (n == 200) {
                System.out.println("READY");
            }
            Thread.sleep(2);
        }
        System.out.println("SERVED " + n);
    }

    private static void good() {
        ByteBuf b = UnpooledByteBufAllocator.DEFAULT.heapBuffer(32);
        Steps.step(b);
        Other.touch(b);
        Steps.done(b);
    }

    private static void badHeap() {
        ByteBuf b = UnpooledByteBufAllocator.DEFAULT.heapBuffer(32);
        Other.touch(b);
        Steps.leaky(b);
    }

    private static void badDirect() {
        ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(64);
        Steps.step2(b);
        Other.touch(b);
    }

    static void untilStdinCloses() {
        System.out.flush();
        try {
            while (System.in.read() >= 0) {
                continue;
            }
        } catch (IOException e) {
            System.err.println("stdin: " + e);
        }
    }
}
