package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Hostile: a class whose name a compiler would not write and a JVM takes: ESC, BEL, a line end, a mark
 * that turns the reading direction, C1 CSI. It loses a buffer and uses another after its release.
 */
public final class Hostile {
    private static final byte[] PLAIN = "Plain_________".getBytes(StandardCharsets.UTF_8);
    private static final byte[] NAME =
            "\u001b]0\u0007\nLEAK\u202e\u009b".getBytes(StandardCharsets.UTF_8);

    private Hostile() {
    }

    public static void main(String[] args) throws Throwable {
        Gc lost = new Gc();
        Method lose = new Own().make().getMethod("lose", Consumer.class);
        lose.setAccessible(true);
        for (int i = 0; i < 3; i++) {
            lose.invoke(null, (Consumer<Object>) lost::watch);
        }
        lost.settle();
        System.out.println("READY");
        Late.untilLine();
    }

    private static final class Own extends ClassLoader {
        Own() {
            super(Hostile.class.getClassLoader());
        }

        Class<?> make() throws Exception {
            try (InputStream in = Hostile.class.getResourceAsStream("Plain_________.class")) {
                byte[] bytes = in.readAllBytes();
                for (int at = 0; at + PLAIN.length <= bytes.length; at++) {
                    if (Arrays.equals(bytes, at, at + PLAIN.length, PLAIN, 0, PLAIN.length)) {
                        System.arraycopy(NAME, 0, bytes, at, NAME.length);
                    }
                }
                String name = "com.app." + new String(NAME, StandardCharsets.UTF_8);
                return defineClass(name, bytes, 0, bytes.length);
            }
        }
    }
}

final class Plain_________ {
    private Plain_________() {
    }

    public static void lose(Consumer<Object> lost) {
        ByteBuf buffer = take(PooledByteBufAllocator.DEFAULT.directBuffer(64));
        lost.accept(buffer);
        ByteBuf other = take(PooledByteBufAllocator.DEFAULT.directBuffer(64));
        other.release();
        try {
            other.readByte();
        } catch (RuntimeException e) {
            return;
        }
    }

    private static ByteBuf take(ByteBuf buffer) {
        return buffer;
    }
}
