package com.app;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.SplittableRandom;

/**
 * Objects of track=, without Netty. Tracked flows: each kind of class, and every way of closing;
 * stress THREADS SECONDS: many at once. ORACLE says what was made, closed and lost.
 */
public final class Tracked {
    interface Resource {
        void dispose();
    }

    static class Connection {
        boolean open = true;

        Connection() {
            this(1);
        }

        Connection(int port) {
            if (port < 0) {
                throw new IllegalArgumentException();
            }
        }

        void close() {
            open = false;
        }
    }

    /** Closes by the inherited method, and by its own that calls it. */
    static class Secure extends Connection {
        @Override
        void close() {
            super.close();
        }
    }

    /** Its own closing method does not call the inherited one. */
    static final class Silent extends Connection {
        @Override
        void close() {
            open = false;
        }
    }

    static final class Plain extends Connection {
    }

    abstract static class Base {
        int disposed;

        public void dispose() {
            disposed++;
        }
    }

    /** The interface is met here, the method inherited. */
    static final class Handle extends Base implements Resource {
    }

    /** Its method of the same name is another one: not tracked. */
    static final class Unrelated extends Base {
        void close() {
            disposed--;
        }
    }

    /** Closed by a method of the JDK, which is not hooked: not followed. */
    static final class Stream extends FilterInputStream {
        Stream() {
            super(new ByteArrayInputStream(new byte[1]));
        }
    }

    private static final Gc LOST = new Gc();
    private static final Queue<Object> QUEUE = new ArrayDeque<>();

    private Tracked() {
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("flows")) {
            flows();
        } else if (args[0].equals("later")) {
            later();
        } else {
            stress(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
        }
    }

    // ---- flows ----

    private static void flows() throws Exception {
        for (int i = 0; i < 7; i++) {
            use(new Connection());
        }
        for (int i = 0; i < 3; i++) {
            leak(new Connection(2));
        }
        use(new Secure());
        use(new Silent());
        use(new Plain());
        try {
            new Connection(-1);
        } catch (IllegalArgumentException expected) {
            // Never finished, so nothing to close.
        }
        QUEUE.add(new Connection(3));
        queued();
        dispose(new Handle());
        leakHandle(new Handle());
        new Unrelated().close();
        new Unrelated().dispose();
        new Stream().close();
        drop(new Stream());
        Connection open = make();
        Oracle.say("lives", 17, "released", 12, "leaked", 4, "live", 1, "gone", LOST.settle());
        open.hashCode();
        java.lang.ref.Reference.reachabilityFence(open);
    }

    static Connection make() {
        return new Connection();
    }

    /** Twice, and a use after it: the first counts. */
    static void use(Connection c) {
        c.close();
        c.close();
        after(c);
    }

    static void after(Connection c) {
        c.hashCode();
    }

    static void leak(Connection c) {
        LOST.watch(c);
    }

    /** Out of a queue it is an Object until the cast. */
    static void queued() {
        Connection c = (Connection) QUEUE.poll();
        c.close();
    }

    static void dispose(Resource r) {
        r.dispose();
    }

    static void leakHandle(Resource r) {
        LOST.watch(r);
    }

    static void drop(Object o) {
        LOST.watch(o);
    }

    // ---- later: made before and after an attach ----

    private static void later() throws Exception {
        Connection old = new Connection();
        System.out.println("READY");
        while (System.in.read() == 'm') {
            leak(new Connection());
            use(new Connection());
            dispose(new Handle());
            leakHandle(new Handle());
            use(old); // from before: of none of our lives
            LOST.settle();
            System.out.println("MADE");
        }
    }

    // ---- stress ----

    private static void stress(int threads, int seconds) throws Exception {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        long[][] counts = new long[threads][2];
        Thread[] all = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            int number = t;
            all[t] = new Thread(() -> churn(number, end, counts[number]));
            all[t].start();
        }
        Thread gc = new Thread(() -> {
            while (System.nanoTime() < end) {
                System.gc();
            }
        });
        gc.start();
        for (Thread t : all) {
            t.join();
        }
        gc.join();
        new Gc().settle();
        long made = 0, closed = 0;
        for (long[] count : counts) {
            made += count[0];
            closed += count[1];
        }
        Oracle.say("lives", made, "released", closed, "leaked", made - closed, "live", 0);
    }

    private static void churn(int seed, long end, long[] count) {
        SplittableRandom random = new SplittableRandom(seed);
        Connection[] open = new Connection[64];
        while (System.nanoTime() < end) {
            int at = random.nextInt(open.length);
            if (open[at] == null) {
                open[at] = random.nextBoolean() ? new Connection() : new Secure();
                count[0]++;
                continue;
            }
            after(open[at]);
            if (random.nextInt(16) > 0) {
                open[at].close();
                count[1]++;
            }
            open[at] = null;
        }
    }
}
