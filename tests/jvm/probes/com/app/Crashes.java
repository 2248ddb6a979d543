package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.ArrayList;
import java.util.List;

/**
 * direct memory, then the Java heap: keeps direct buffers until there is no direct memory, says so,
 * waits for the report, and then fills the heap until the JVM has none left. lives N: keeps N heap
 * buffers instead.
 */
public final class Crashes {
    private static final List<Object> KEPT = new ArrayList<>();

    private Crashes() {
    }

    public static void main(String[] args) throws InterruptedException {
        if (args[0].equals("lives")) {
            for (int i = Integer.parseInt(args[1]); i > 0; i--) {
                KEPT.add(keep(UnpooledByteBufAllocator.DEFAULT.heapBuffer(16, 16)));
            }
            System.out.println("END");
            return;
        }
        try {
            while (true) {
                KEPT.add(keep(UnpooledByteBufAllocator.DEFAULT.directBuffer(1 << 20, 1 << 20)));
            }
        } catch (OutOfMemoryError e) {
            System.out.println("DIRECT");
        }
        Thread.sleep(2000);
        while (true) {
            KEPT.add(new long[1 << 16]);
        }
    }

    private static ByteBuf keep(ByteBuf b) {
        return b;
    }
}
