package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/**
 * redefined: threads retain, release, and use what was released, below calls through many classes
 * (copies of one, a loader for each) that a client has retransformed all the while, so that frames
 * of old bodies are on their stacks. Until stdin closes.
 */
final class Redefined {
    private static final int COPIES = 40, DEPTH = 10, THREADS = 6;
    private static volatile boolean stop;

    private Redefined() {
    }

    static void run(String[] args) throws Exception {
        List<Consumer<Object[]>> hops = new ArrayList<>();
        for (int i = 0; i < COPIES; i++) {
            hops.add(copy());
        }
        Thread[] threads = new Thread[THREADS];
        long[] done = new long[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            threads[i] = new Thread(() -> done[number] = work(hops));
            threads[i].start();
        }
        System.out.println("READY");
        while (System.in.read() >= 0) {
            continue;
        }
        stop = true;
        long sum = 0;
        for (int i = 0; i < THREADS; i++) {
            threads[i].join();
            sum += done[i];
        }
        Oracle.say("released", sum, "leaked", 0, "live", 0);
    }

    @SuppressWarnings("unchecked")
    private static Consumer<Object[]> copy() throws Exception {
        ClassLoader own = new ClassLoader(Redefined.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve)
                    throws ClassNotFoundException {
                return name.equals(Hop.class.getName()) ? findClass(name)
                                                        : super.loadClass(name, resolve);
            }

            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                String file = name.replace('.', '/') + ".class";
                try (InputStream in = getParent().getResourceAsStream(file)) {
                    byte[] bytes = in.readAllBytes();
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        };
        return (Consumer<Object[]>) own.loadClass(Hop.class.getName()).getConstructor()
                .newInstance();
    }

    @SuppressWarnings("unchecked")
    private static long work(List<Consumer<Object[]>> hops) {
        long n = 0;
        while (!stop) {
            ByteBuf b = UnpooledByteBufAllocator.DEFAULT.heapBuffer(16);
            Object[] way = new Object[DEPTH + 2];
            way[0] = b;
            for (int i = 1; i <= DEPTH; i++) {
                way[i] = hops.get(ThreadLocalRandom.current().nextInt(COPIES));
            }
            way[DEPTH + 1] = 0;
            ((Consumer<Object[]>) way[1]).accept(way);
            n++;
        }
        return n;
    }

    /** Calls the next of its like; the last one counts, and uses what it released. */
    public static final class Hop implements Consumer<Object[]> {
        @Override
        @SuppressWarnings("unchecked")
        public void accept(Object[] way) {
            int at = (Integer) way[way.length - 1] + 1;
            way[way.length - 1] = at;
            if (at < way.length - 2) {
                ((Consumer<Object[]>) way[at + 1]).accept(way);
                return;
            }
            ByteBuf b = (ByteBuf) way[0];
            b.retain();
            b.release();
            b.release();
            try {
                b.readByte();
            } catch (IllegalReferenceCountException e) {
                way[0] = null;
            }
        }
    }
}
