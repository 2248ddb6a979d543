package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

import java.util.ArrayList;
import java.util.List;

/** Loses buffers, and keeps more and more of them, until its input ends. */
public final class Growing {
    private static final List<ByteBuf> QUEUE = new ArrayList<>();

    private Growing() {
    }

    static void lose(ByteBuf buffer) {
        buffer.writeLong(1);
    }

    static void queue(ByteBuf buffer) {
        QUEUE.add(buffer);
    }

    static void use(ByteBuf buffer) {
        buffer.release();
    }

    private static void turn() throws InterruptedException {
        for (int i = 0; i < 8; i++) {
            lose(PooledByteBufAllocator.DEFAULT.directBuffer(1024));
            use(PooledByteBufAllocator.DEFAULT.directBuffer(1024));
        }
        queue(PooledByteBufAllocator.DEFAULT.directBuffer(4096));
        System.gc();
        Thread.sleep(250);
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 4; i++) { // a loss is found two collections later
            turn();
        }
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    turn();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.start();
        System.out.println("READY");
        System.in.read();
        thread.interrupt();
        thread.join();
    }
}
