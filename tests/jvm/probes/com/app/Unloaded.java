package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.PooledByteBufAllocator;

import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;

/**
 * unloaded ROUNDS: a class that holds a buffer, then one that has a number where that had the buffer,
 * each of a class loader that is collected before the next: the JVM gives the next class the same
 * place. Who took the one for the other would follow the number.
 */
final class Unloaded {
    private static final Gc LOST = new Gc();
    private static final int EVERY = 10;

    private Unloaded() {
    }

    public static final class Holder extends DefaultByteBufHolder {
        public Holder(ByteBuf b) {
            super(b);
        }
    }

    public static final class Number {
        private final int value = 0x12345678;

        public Number(ByteBuf b) {
            b.setInt(0, value);
        }
    }

    /** Has only the one class for its own. */
    private static final class Own extends URLClassLoader {
        Own() {
            super(new URL[0], Unloaded.class.getClassLoader());
        }

        Object make(Class<?> like, ByteBuf b) throws Exception {
            try (InputStream in = like.getResourceAsStream('/' + like.getName().replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(like.getName(), bytes, 0, bytes.length)
                        .getConstructor(ByteBuf.class).newInstance(b);
            }
        }
    }

    static void run(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        for (int i = 0; i < rounds; i++) {
            round(i);
            System.gc();
        }
        Oracle.say("lives", 2 * rounds, "released", 2 * rounds - rounds / EVERY, "leaked",
                rounds / EVERY, "taken", rounds, "collected", LOST.settle());
    }

    private static void round(int i) throws Exception {
        ByteBuf held = PooledByteBufAllocator.DEFAULT.directBuffer(64);
        Object holder = new Own().make(Holder.class, held);
        for (int again = 0; again < 3; again++) {
            take(holder);
        }
        if (i % EVERY == EVERY - 1) {
            LOST.watch(held);
        } else {
            held.release();
        }
        holder = null;
        System.gc();
        ByteBuf other = PooledByteBufAllocator.DEFAULT.directBuffer(64);
        Object number = new Own().make(Number.class, other);
        for (int again = 0; again < 3; again++) {
            take(number);
        }
        other.release();
    }

    private static void take(Object any) {
        any.hashCode();
    }
}
