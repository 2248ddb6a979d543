package com.bench;

import java.util.ArrayList;
import java.util.List;

/**
 * The oracle, which does not use bbflow: the buffers that a program loses on purpose. In a package of
 * its own, which no include= matches, and it takes Objects: no step of a path is made here.
 */
public final class Tally {
    private static final int EVERY = 7;
    private static final List<Object> KEPT = new ArrayList<>();
    private static boolean planting;
    private static long seen;

    private Tally() {
    }

    static synchronized void plant() {
        planting = true;
    }

    /** For a historical bug: is it time for the input that triggers it? */
    static synchronized boolean isPlanting() {
        seen++;
        return planting;
    }

    /** Must this buffer be lost? True for every 7th, once planting has begun. */
    public static synchronized boolean isLost() {
        return ++seen % EVERY == 0 && planting;
    }

    public static synchronized void keep(Object buffer) {
        KEPT.add(buffer);
    }

    static synchronized long seen() {
        return seen;
    }

    static synchronized List<Object> kept() {
        return new ArrayList<>(KEPT);
    }

    static synchronized void forget() {
        KEPT.clear();
    }
}
