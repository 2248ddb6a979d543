package com.proof;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.ArrayList;
import java.util.List;

/**
 * What fills each limit, with a known number of lives and steps. The sub-command runs, then it
 * prints "READY lives=N steps=N open=N", holds what is open until stdin ends, lets go, prints the
 * same with "RESULT" and ends.
 *
 * <p>paths N: N lives on N distinct paths of five steps (16 methods a level), all open at the end.
 * lives N: N lives of two steps, one after the other, released. live N: N lives open at once, one
 * step each. lost N: the same, all dropped at once. lostpaths N: as paths, all dropped at once.
 * held N: N lives and a slice of each, all dropped at once. depth N: one life of N steps no part of
 * which repeats itself. mixed N: all of paths, lives, live and depth.
 * One step more for each: the allocator's answer.
 */
public final class Limits {
    private static final UnpooledByteBufAllocator ALLOC =
            new UnpooledByteBufAllocator(false, true, false);
    private static final List<ByteBuf> OPEN = new ArrayList<>();
    private static long lives, steps;

    private Limits() {
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[1]);
        switch (args[0]) {
        case "paths":
            paths(n);
            break;
        case "lives":
            lives(n);
            break;
        case "live":
            live(n);
            break;
        case "lost":
            live(n);
            OPEN.clear();
            break;
        case "lostpaths":
            paths(n);
            OPEN.clear();
            Levels.buffer = null;
            break;
        case "held":
            held(n);
            break;
        case "depth":
            depth(n);
            break;
        default:
            depth(Math.min(n, 10_000));
            paths(n);
            lives(n);
            live(n);
        }
        System.gc();
        say("READY");
        while (System.in.read() >= 0) {
            continue;
        }
        for (ByteBuf b : OPEN) {
            steps++; /* where it is cast (ADR 13) */
            b.release();
        }
        say("RESULT");
    }

    private static void say(String word) {
        System.out.println(word + " lives=" + lives + " steps=" + steps + " open=" + OPEN.size());
        System.out.flush();
    }

    /** A life, and its first step: it comes back from a call. */
    private static void opened() {
        lives++;
        steps++;
    }

    private static void paths(int n) {
        for (int i = 0; i < n; i++) {
            ByteBuf b = ALLOC.heapBuffer(0);
            opened();
            Levels.buffer = b;
            for (int level = 0; level < 5; level++) {
                Levels.step(level, i >>> 4 * level & 15);
                steps++;
            }
            OPEN.add(b);
        }
    }

    private static void lives(int n) {
        for (int i = 0; i < n; i++) {
            ByteBuf b = ALLOC.heapBuffer(0);
            opened();
            a(b);
            b(b);
            b.release();
        }
    }

    private static void live(int n) {
        for (int i = 0; i < n; i++) {
            ByteBuf b = ALLOC.heapBuffer(0);
            opened();
            c(b);
            OPEN.add(b);
        }
    }

    /** A pooled slice has a count, and so a life, of its own. */
    private static void held(int n) {
        PooledByteBufAllocator pool = new PooledByteBufAllocator(false);
        List<ByteBuf> slices = new ArrayList<>(n);
        for (int i = 0; i < n; i++) {
            ByteBuf b = pool.heapBuffer(16).writeByte(1);
            opened();
            slices.add(b.retainedSlice());
            opened();
            steps++; /* its path begins with its owner's */
        }
    }

    /** A square-free word over three letters: the gaps between the ones of Thue and Morse's. */
    private static void depth(int n) {
        ByteBuf b = ALLOC.heapBuffer(0);
        opened();
        int ones = 0;
        for (int i = 1, done = 0; done < n; i++) {
            if ((Integer.bitCount(i) & 1) == 1) {
                ones++;
                continue;
            }
            if (ones == 0) {
                a(b);
            } else if (ones == 1) {
                b(b);
            } else {
                c(b);
            }
            ones = 0;
            done++;
        }
        OPEN.add(b);
    }

    private static void a(ByteBuf b) {
        steps++;
    }

    private static void b(ByteBuf b) {
        steps++;
    }

    private static void c(ByteBuf b) {
        steps++;
    }
}
