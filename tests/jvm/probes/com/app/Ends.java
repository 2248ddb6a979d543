package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

/**
 * ends exit|halt|hook|interrupt: what ends a thread or the JVM while a method that is followed runs, with an
 * open buffer in its hands.
 */
final class Ends {
    private Ends() {
    }

    static void run(String[] args) throws InterruptedException {
        ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(64);
        try {
            end(b, args[0]);
        } finally {
            Steps.step2(b);
            Steps.done(b);
        }
    }

    private static void end(ByteBuf b, String how) throws InterruptedException {
        switch (how) {
            case "exit":
                System.exit(7);
                break;
            case "halt":
                Runtime.getRuntime().halt(8);
                break;
            case "hook":
                Runtime.getRuntime().addShutdownHook(new Thread(() -> Steps.step(b)));
                System.exit(9);
                break;
            default:
                Thread.currentThread().interrupt();
                try {
                    Thread.sleep(10_000);
                    throw new IllegalStateException("nothing was interrupted");
                } catch (InterruptedException expected) {
                    Thread.currentThread().interrupt();
                }
                Steps.step(b);
                Oracle.say("interrupted", Thread.interrupted() ? 1 : 0);
        }
    }
}
