package com.notice;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Arrays;

/**
 * At the end of the stack: how deep a recursion goes, what its StackOverflowError shows, and that
 * references which a finally gives back are given back.
 */
public final class Depth {
    private Depth() {
    }

    interface Body {
        void run();
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("sweep")) {
            sweep(args);
            return;
        }
        ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(64);
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            deep("alone", Subject::downAlone);
            deep("followed", () -> Subject.down(b));
            deep("owning", () -> Subject.owning(b));
        }
        System.out.println("refCnt " + b.refCnt());
        System.out.println("released " + b.release(b.refCnt()));
        System.out.println("ORACLE lives=1 released=1 leaked=0 live=0");
    }

    // ---- every place near the end: each level gives a buffer back ----

    static ByteBuf[] all;
    static int level;
    static int from;
    static int next;
    static int freed;

    static void drop() {
        if (++level > from && next < all.length) {
            ByteBuf b = all[next++];
            if (b.release())
                freed++;
        }
        drop();
    }

    static void small(int n, int mask) {
        if (n == 0)
            drop();
        else if ((mask & 1) != 0)
            large(n - 1, mask >> 1, 1, 2);
        else
            small(n - 1, mask >> 1);
    }

    static void large(int n, int mask, long x, long y) {
        if (n == 0)
            drop();
        else if ((mask & 1) != 0)
            large(n - 1, mask >> 1, x, y);
        else
            small(n - 1, mask >> 1);
    }

    /**
     * Releases in the last levels of a recursion that begins at 32 places, 16 bytes apart: whatever
     * the hook does, the stack ends there once. A release that returned is counted by us, one that
     * threw at most once.
     */
    static void sweep(String[] args) throws InterruptedException {
        boolean pooled = args[1].equals("pooled");
        int warm = Integer.parseInt(args[2]);
        ByteBufAllocator allocator = pooled ? PooledByteBufAllocator.DEFAULT
                : UnpooledByteBufAllocator.DEFAULT;
        int made = 0;
        for (; made < warm; made++) // compiled, and pooled ones recycled
            freed += allocator.directBuffer(16).release() ? 1 : 0;
        all = new ByteBuf[0];
        overflow(0);
        for (int place = 0; place < 32; place++) {
            from = level - 100;
            all = new ByteBuf[200];
            for (int i = 0; i < all.length; i++, made++)
                all[i] = allocator.directBuffer(16);
            next = 0;
            overflow(place);
            for (int i = 0; i < all.length; i++) // those that no level reached, and what threw early
                if (all[i].refCnt() > 0)
                    freed += all[i].release() ? 1 : 0;
            all = new ByteBuf[0];
            from = Integer.MAX_VALUE;
            overflow(place + 1);
        }
        System.out.println("ORACLE made=" + made + " freed=" + freed);
    }

    static void overflow(int place) throws InterruptedException {
        level = 0;
        Thread thread = new Thread(null, () -> {
            try {
                small(32, (1 << place) - 1);
            } catch (StackOverflowError e) {
                String shown = shown(e.getStackTrace());
                if (shown != null)
                    System.out.println("shows us: " + e + " at " + shown);
            }
        }, "sweep", 1 << 18);
        thread.start();
        thread.join();
    }

    /** A frame of bbflow's, or one that it called: Netty calls the JDK's Unsafe through sun.misc.Unsafe. */
    static String shown(StackTraceElement[] trace) {
        for (int i = 0; i < Math.min(trace.length - 1, 40); i++) {
            boolean unsafe = trace[i].getClassName().equals("jdk.internal.misc.Unsafe");
            if (trace[i].getClassName().contains("BBFlow")
                    || unsafe && !trace[i + 1].getClassName().endsWith("misc.Unsafe"))
                return trace[i] + " from " + trace[i + 1];
        }
        return null;
    }

    static void deep(String name, Body body) throws InterruptedException {
        Thread thread = new Thread(null, () -> {
            Subject.depth = 0;
            try {
                body.run();
            } catch (StackOverflowError e) {
                System.out.println("depth " + name + " " + Subject.depth);
                StackTraceElement[] trace = e.getStackTrace();
                System.out.println("trace " + name + " " + trace.length + " "
                        + Arrays.stream(trace).map(StackTraceElement::toString)
                                .filter(t -> t.contains("BBFlow")).distinct().toList() + " "
                        + trace[trace.length - 1] + " " + e.getMessage());
            }
        }, name, 1 << 20);
        thread.start();
        thread.join();
    }
}
