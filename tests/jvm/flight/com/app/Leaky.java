package com.app;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;

/**
 * Buffers with known ends, for the report that is made of Netty's own flight recorder events.
 * Leaky pooled|adaptive [rounds]. Prints what it lost and what it holds at its end.
 */
public final class Leaky {
    private static final List<ByteBuf> HELD = new ArrayList<>();
    private static final int SIZE = 1000;

    private final ByteBufAllocator allocator;

    private Leaky(ByteBufAllocator allocator) {
        this.allocator = allocator;
    }

    /** Released at once: no leak. */
    private void good(int i) {
        ByteBuf buf = allocator.directBuffer(SIZE);
        buf.writeInt(i);
        buf.release();
    }

    /** Grows once, in place or not, and is released. */
    private void grown() {
        ByteBuf buf = allocator.directBuffer(64);
        buf.writeZero(4000);
        buf.release();
    }

    /** Never released. */
    private void lose() {
        allocator.directBuffer(SIZE).writeInt(1);
    }

    /** Grows and is never released. */
    private void loseGrown() {
        allocator.directBuffer(64).writeZero(9000);
    }

    private void loseInHandler() {
        lose();
    }

    private void hold() {
        HELD.add(allocator.directBuffer(2 * SIZE));
    }

    private void heap() {
        allocator.heapBuffer(SIZE).release();
    }

    private void run(int rounds) {
        for (int i = 0; i < rounds; i++) {
            good(i);
            if (i % 10 == 0) {
                grown();
                heap();
            }
            if (i % 100 == 0) {
                loseInHandler();
            }
            if (i % 200 == 0) {
                loseGrown();
                hold();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 2000;
        ByteBufAllocator allocator = args[0].equals("adaptive")
                ? new AdaptiveByteBufAllocator(true) : new PooledByteBufAllocator(true);
        new Leaky(allocator).run(rounds);
        Unpooled.directBuffer(SIZE).release();
        System.out.println("lost=" + (rounds + 99) / 100 + " grown=" + (rounds + 199) / 200
                + " held=" + HELD.size());
    }
}
