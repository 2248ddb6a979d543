package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

import java.util.Arrays;
import java.util.function.Consumer;

/** written: buffers that are lost in code that a compiler names. The lines count: tests/jvm/names.py. */
final class Written {
    private static final Gc LOST = new Gc();

    private Written() {
    }

    interface Taker {
        void take(ByteBuf b);
    }

    static void run(String[] args) throws Throwable {
        for (int i = 0; i < 6; i++) {
            boolean lost = i < 3;
            record(directBuffer(), lost);
            anonymous(directBuffer(), lost);
            local(directBuffer(), lost);
            twice(directBuffer(), lost);
            refer(directBuffer());
        }
        Oracle.say("leaked", 12, "released", 18, "live", 0, "collected", LOST.settle());
    }

    static ByteBuf directBuffer() {
        return PooledByteBufAllocator.DEFAULT.directBuffer(64);
    }

    static void record(ByteBuf b, boolean lost) {
        Taker taker = x -> {
            end(x, lost);
        };
        taker.take(b);
    }

    static void anonymous(ByteBuf b, boolean lost) {
        new Taker() {
            @Override
            public void take(ByteBuf x) {
                end(x, lost);
            }
        }.take(b);
    }

    static void local(ByteBuf b, boolean lost) {
        class Local implements Taker {
            @Override
            public void take(ByteBuf x) {
                end(x, lost);
            }
        }
        new Local().take(b);
    }

    static void twice(ByteBuf b, boolean lost) {
        Taker first = x -> x.getByte(0), second = x -> end(x, lost);
        first.take(b);
        second.take(b);
    }

    /** The reference itself is the caller of release(), from a method of the JDK. */
    static void refer(ByteBuf b) {
        Consumer<ByteBuf> release = ByteBuf::release;
        Arrays.asList(b).forEach(release);
    }

    static void end(ByteBuf b, boolean lost) {
        if (lost) {
            LOST.watch(b);
        } else {
            b.release();
        }
    }
}
