package com.proof;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.io.FileInputStream;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * A small application for the fault tests: two rounds of work with a known outcome, a pause between
 * them in which a client may look. It prints READY, waits for the end of stdin, and prints RESULT
 * with a sum over every byte that it read: what the agent does may not show in it. With the
 * argument "fds" it holds every file descriptor that it can get, from READY to the first byte on
 * stdin; with "fds exit" to its end.
 */
public final class Work {
    private static final int THREADS = 4, CYCLES = 100, LOST = 10;
    private static final List<WeakReference<ByteBuf>> WATCHED = new ArrayList<>();
    private static final List<FileInputStream> HELD = new ArrayList<>();
    private static long sum;

    private Work() {
    }

    public static void main(String[] args) throws Exception {
        round(1);
        if (args.length > 0) {
            holdAll();
        }
        System.out.println("READY");
        if (System.in.read() >= 0 && args.length == 1) {
            for (FileInputStream in : HELD) {
                in.close();
            }
        }
        waitForEnd();
        round(2);
        System.out.println("RESULT sum=" + sum + " lost=" + lost());
    }

    private static void holdAll() {
        try {
            while (true) {
                HELD.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException none) {
            return;
        }
    }

    private static void waitForEnd() throws IOException {
        while (System.in.read() >= 0) {
            continue;
        }
    }

    private static void round(int seed) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int number = seed * THREADS + i;
            Thread thread = new Thread(() -> work(number));
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        derived(PooledByteBufAllocator.DEFAULT);
        for (int i = 0; i < LOST; i++) {
            lose(UnpooledByteBufAllocator.DEFAULT.heapBuffer(32).writeLong(i));
        }
        collect();
    }

    private static void work(int seed) {
        ByteBufAllocator[] allocators =
                {PooledByteBufAllocator.DEFAULT, UnpooledByteBufAllocator.DEFAULT};
        for (int i = 0; i < CYCLES; i++) {
            ByteBuf b = i % 3 == 0 ? allocators[i & 1].directBuffer(64)
                    : allocators[i & 1].heapBuffer(64);
            fill(b, seed + i);
            if (i % 5 == 0) {
                b.retain();
                pass(b);
                b.release();
            }
            add(finish(b));
        }
    }

    private static void fill(ByteBuf b, int value) {
        b.writeInt(value);
        b.writeLong(value * 31L);
    }

    private static void pass(ByteBuf b) {
        b.writeByte(1);
    }

    private static long finish(ByteBuf b) {
        long read = b.readInt() + b.readLong();
        b.release();
        return read;
    }

    private static void derived(ByteBufAllocator allocator) {
        ByteBuf b = allocator.directBuffer(64);
        fill(b, 7);
        ByteBuf slice = b.retainedSlice(0, 12);
        add(finish(slice));
        ByteBuf wrapped = Unpooled.wrappedBuffer(b, Unpooled.wrappedBuffer(new byte[8]));
        add(finish(wrapped));
    }

    private static synchronized void add(long value) {
        sum += value;
    }

    private static void lose(ByteBuf b) {
        add(b.getLong(0));
        synchronized (WATCHED) {
            WATCHED.add(new WeakReference<>(b));
        }
    }

    private static int lost() {
        int n = 0;
        for (WeakReference<ByteBuf> w : WATCHED) {
            n += w.get() == null ? 1 : 0;
        }
        return n;
    }

    /** Until the JVM has taken what was lost; without an agent at once, with one after its scan. */
    private static void collect() throws InterruptedException {
        for (int i = 0; i < 40 && lost() < WATCHED.size(); i++) {
            System.gc();
            Thread.sleep(25);
        }
    }
}
