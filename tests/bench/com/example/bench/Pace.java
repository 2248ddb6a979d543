package com.example.bench;

/**
 * When the next operation of one thread may begin: -Dbench.pace=N operations a second, of every second
 * -Dbench.step=SECONDS a tenth of that. Without bench.pace, and for the first -Dbench.free=SECONDS, always now. For
 * one thread.
 */
final class Pace {
    static final long RATE = Long.getLong("bench.pace", 0);
    private static final double STEP_NANOS = nanos("bench.step");
    private static final double FREE_UNTIL = System.nanoTime() + nanos("bench.free");
    private static final double FORGIVEN_NANOS = 100e6; // work that came later than this is not made up for

    private double due = System.nanoTime();

    /** Nanoseconds until the next n operations may begin. Asks for them: call it once for each n. */
    long until(int n) {
        if (RATE == 0) {
            return 0;
        }
        double now = System.nanoTime();
        if (now < FREE_UNTIL) {
            return 0;
        }
        due = Math.max(due, now - FORGIVEN_NANOS);
        double ahead = due - now;
        due += n * 1e9 / rate(now);
        return (long) Math.max(0, ahead);
    }

    private static double nanos(String property) {
        return Double.parseDouble(System.getProperty(property, "0")) * 1e9;
    }

    private static double rate(double now) {
        boolean low = STEP_NANOS > 0 && (long) (now / STEP_NANOS) % 2 != 0;
        return low ? RATE / 10.0 : RATE;
    }
}
