// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.tracker.internal;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.Charset;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The way to bbflow, if it is in this JVM: {@code java.lang.BBFlowApi}, a class that bbflow defines in the
 * boot loader. Without it each method does nothing; it is looked for again after a second, because bbflow
 * may be attached later. Not for applications.
 */
public final class Bbflow {
    /** Positions in {@link #numbers}, of agent/jmx_natives.h. */
    public static final int LIVES = 0, RELEASED = 1, LIVE = 2, LEAKED = 4, ROOTS = 10, NODES = 13, MAX_NODES = 14,
            MAX_DEPTH = 15;

    private static final int NUMBERS = 16, MAX_TRACKED = 16;
    private static final long AGAIN_NANOS = 1000000000L;
    private static final Charset UTF8 = Charset.forName("UTF-8");
    private static final Set<String> WAITING = new LinkedHashSet<String>(); // entries; under itself

    private static volatile Bbflow found;
    private static volatile boolean missed;
    private static volatile long missedNanos;

    private final MethodHandle record, report, numbers, reset, track;

    private Bbflow() throws ReflectiveOperationException {
        Class<?> api = Class.forName("java.lang.BBFlowApi", true, null);
        MethodHandles.Lookup lookup = MethodHandles.publicLookup();
        record = lookup.findStatic(api, "record",
                MethodType.methodType(void.class, Object.class, String.class, String.class, int.class));
        report = lookup.findStatic(api, "report", MethodType.methodType(byte[].class, byte[].class));
        numbers = lookup.findStatic(api, "numbers", MethodType.methodType(long[].class));
        reset = lookup.findStatic(api, "reset", MethodType.methodType(boolean.class));
        track = lookup.findStatic(api, "track", MethodType.methodType(byte[].class, byte[].class));
    }

    private static Bbflow get() {
        Bbflow now = found;
        if (now != null || missed && System.nanoTime() - missedNanos < AGAIN_NANOS)
            return now;
        return find();
    }

    private static Bbflow find() {
        try {
            Bbflow now = new Bbflow();
            found = now;
            String[] waiting;
            synchronized (WAITING) {
                waiting = WAITING.toArray(new String[0]);
                WAITING.clear();
            }
            for (String entry : waiting)
                now.trackNow(entry);
            return now;
        } catch (Throwable e) { // not there, or a security manager
            missedNanos = System.nanoTime();
            missed = true;
            return null;
        }
    }

    /** The object is in that method now; metric 0: it is closed. */
    public static void record(Object o, String type, String method, int metric) {
        Bbflow now = get();
        if (now == null)
            return;
        try {
            now.record.invokeExact(o, type, method, metric);
        } catch (Throwable e) {
            return; // no stack for the call: the step is not noted
        }
    }

    /** A report, or the reason that it was not made. Empty without bbflow. */
    public static String report(String format) {
        Bbflow now = get();
        if (now == null)
            return "";
        try {
            return text((byte[]) now.report.invokeExact(format.getBytes(UTF8)));
        } catch (Throwable e) {
            return "";
        }
    }

    /** The first byte says whether it is an answer. */
    private static String text(byte[] answer) {
        return answer == null || answer.length < 1 ? "" : new String(answer, 1, answer.length - 1, UTF8);
    }

    /** Zeros without bbflow. */
    public static long[] numbers() {
        Bbflow now = get();
        try {
            long[] all = now == null ? null : (long[]) now.numbers.invokeExact();
            return all != null && all.length >= NUMBERS ? all : new long[NUMBERS];
        } catch (Throwable e) {
            return new long[NUMBERS];
        }
    }

    /** False without bbflow. */
    public static boolean reset() {
        Bbflow now = get();
        try {
            return now != null && (boolean) now.reset.invokeExact();
        } catch (Throwable e) {
            return false;
        }
    }

    /** Follow objects as track=Class:method does. Without bbflow that comes when it is found. */
    public static void track(String entry) {
        Bbflow now = get();
        if (now != null) {
            now.trackNow(entry);
            return;
        }
        synchronized (WAITING) {
            if (WAITING.size() < MAX_TRACKED)
                WAITING.add(entry);
        }
    }

    private void trackNow(String entry) {
        try {
            byte[] said = (byte[]) track.invokeExact(entry.getBytes(UTF8));
            if (said != null)
                return; // bbflow logs what it refuses
        } catch (Throwable e) {
            return;
        }
    }
}
