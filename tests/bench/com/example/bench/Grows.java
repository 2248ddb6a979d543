package com.example.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.function.IntFunction;

/**
 * live: N small heap buffers stay open; each operation releases one of them, any, and puts a new
 * one in its place, through three methods. held: they all stay open, as what a cache or a slow
 * client keeps, and each operation is a buffer more that is released at once. nodes: a pooled
 * buffer through ten methods, each of them one of four by the digits of a number below N: a tree
 * of about 4/3 N nodes and N ends, visited at random.
 */
final class Grows {
    private static final ByteBufAllocator UNPOOLED = new UnpooledByteBufAllocator(false);

    private long random = 88172645463325252L;
    private int sink;
    private ByteBuf[] open; // a field: of an array that a method is given each element is looked at

    private Grows() {
    }

    static IntFunction<Runnable> operation(String name, int n) {
        if (name.equals("live")) {
            return threads -> new Grows().live(Math.max(1, n / threads));
        }
        if (name.equals("held")) {
            return threads -> new Grows().held(Math.max(1, n / threads));
        }
        return threads -> {
            Grows own = new Grows();
            for (int i = 0; i < n; i++) { // what a new node costs is another question
                own.path(i);
            }
            return () -> own.path(own.below(n));
        };
    }

    private int below(int n) { // Marsaglia's xorshift64, then Lemire's reduction of its upper half
        random ^= random << 13;
        random ^= random >>> 7;
        random ^= random << 17;
        return (int) ((random >>> 32) * n >>> 32);
    }

    private void fill(int n) {
        open = new ByteBuf[n];
        for (int i = 0; i < n; i++) {
            open[i] = fresh();
        }
    }

    private Runnable live(int n) {
        fill(n);
        return () -> {
            int i = below(n);
            open[i].release();
            open[i] = fresh();
        };
    }

    private Runnable held(int n) {
        fill(n);
        return () -> {
            fresh().release();
            if (open[0].refCnt() != 1) { // and they are reachable
                throw new IllegalStateException("a buffer that is held was released");
            }
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
        sink += Tree.walk(b, number);
        b.release();
    }
}
