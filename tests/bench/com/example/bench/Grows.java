package com.example.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.function.IntFunction;

/**
 * live: N small heap buffers stay open; each operation releases one of them, any, and puts a new
 * one in its place, through three methods. nodes: a pooled buffer through six methods, each of them
 * one of ten by a digit of a number below N: a tree of about 1.1 N nodes, visited at random.
 */
final class Grows {
    private static final ByteBufAllocator UNPOOLED = new UnpooledByteBufAllocator(false);

    private long random = 88172645463325252L;
    private int sink;

    private Grows() {
    }

    static IntFunction<Runnable> operation(String name, int n) {
        if (name.equals("live")) {
            return threads -> new Grows().live(Math.max(1, n / threads));
        }
        return threads -> {
            Grows own = new Grows();
            return () -> own.path(own.below(n));
        };
    }

    private int below(int n) { // Marsaglia's xorshift64, then Lemire's reduction of its upper half
        random ^= random << 13;
        random ^= random >>> 7;
        random ^= random << 17;
        return (int) ((random >>> 32) * n >>> 32);
    }

    private Runnable live(int n) {
        ByteBuf[] open = new ByteBuf[n];
        for (int i = 0; i < n; i++) {
            open[i] = fresh();
        }
        return () -> {
            int i = below(n);
            open[i].release();
            open[i] = fresh();
        };
    }

    private static ByteBuf fresh() {
        ByteBuf b = UNPOOLED.heapBuffer(16);
        one(b);
        return b;
    }

    private static void one(ByteBuf b) {
        b.writeByte(1);
        two(b);
    }

    private static void two(ByteBuf b) {
        b.writeByte(2);
        three(b);
    }

    private static void three(ByteBuf b) {
        b.writeByte(3);
    }

    private void path(int number) {
        ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(64);
        int rest = number;
        for (int digit = 0; digit < 6; digit++) {
            sink += one(b, rest % 10);
            rest /= 10;
        }
        b.release();
    }

    private static int one(ByteBuf b, int digit) {
        switch (digit) {
        case 0:
            return d0(b);
        case 1:
            return d1(b);
        case 2:
            return d2(b);
        case 3:
            return d3(b);
        case 4:
            return d4(b);
        case 5:
            return d5(b);
        case 6:
            return d6(b);
        case 7:
            return d7(b);
        case 8:
            return d8(b);
        default:
            return d9(b);
        }
    }

    private static int d0(ByteBuf b) {
        return b.writerIndex();
    }

    private static int d1(ByteBuf b) {
        return b.writerIndex() + 1;
    }

    private static int d2(ByteBuf b) {
        return b.writerIndex() + 2;
    }

    private static int d3(ByteBuf b) {
        return b.writerIndex() + 3;
    }

    private static int d4(ByteBuf b) {
        return b.writerIndex() + 4;
    }

    private static int d5(ByteBuf b) {
        return b.writerIndex() + 5;
    }

    private static int d6(ByteBuf b) {
        return b.writerIndex() + 6;
    }

    private static int d7(ByteBuf b) {
        return b.writerIndex() + 7;
    }

    private static int d8(ByteBuf b) {
        return b.writerIndex() + 8;
    }

    private static int d9(ByteBuf b) {
        return b.writerIndex() + 9;
    }
}
