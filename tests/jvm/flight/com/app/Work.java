package com.app;

import java.io.FileInputStream;
import java.io.InputStream;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Frequency;
import jdk.jfr.Label;
import jdk.jfr.MemoryAddress;
import jdk.jfr.Name;
import jdk.jfr.Percentage;
import jdk.jfr.Timespan;
import jdk.jfr.Timestamp;
import jdk.jfr.Unsigned;

/** Something for a flight recorder to record: Work KIND, one of main()'s words. */
public final class Work {
    private static final int EVENTS = 2000;

    private Work() {
    }

    /** A field of each kind, with each annotation that a reader gives a meaning to. */
    @Name("app.All")
    @Label("Every \"kind\"")
    @Category({"App", "Sub category"})
    @Description("Fields of all kinds")
    private static final class All extends Event {
        @Label("Flag")
        boolean flag;
        byte small;
        char letter;
        short narrow;
        int number;
        long wide;
        float single;
        double real;
        String text;
        Class<?> type;
        Thread thread;
        @DataAmount
        long bytes;
        @DataAmount(DataAmount.BITS)
        @Frequency
        long bitRate;
        @Percentage
        float share;
        @Timespan(Timespan.MILLISECONDS)
        long millis;
        @Timespan(Timespan.NANOSECONDS)
        long nanos;
        @Timestamp(Timestamp.MILLISECONDS_SINCE_EPOCH)
        long when;
        @MemoryAddress
        long address;
        @Unsigned
        int unsigned;
        @Frequency
        int rate;
    }

    private static void events() {
        String[] texts = {null, "", "short", "x".repeat(17), "y".repeat(200), "\u017e\u6f22 \u00e9",
            "a \"quote\"\\ and \t a tab"};
        long[] longs = {0, 1, -1, 127, 128, 1023, 1024, 999_999, 1_000_000, 59_999, 60_000, 86_400_000,
            Long.MAX_VALUE, Long.MIN_VALUE, Integer.MAX_VALUE, Integer.MIN_VALUE};
        double[] reals = {0, -0.0, 1, 0.1, 1e-5, 1e7, 123456.789, Double.MAX_VALUE, Double.NaN,
            Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.MIN_VALUE, 1 / 3.0};
        for (int i = 0; i < EVENTS; i++) {
            All e = new All();
            long value = longs[i % longs.length];
            e.begin();
            e.flag = i % 3 == 0;
            e.small = (byte) i;
            e.letter = (char) ('!' + i % 90);
            e.narrow = (short) (i * 31);
            e.number = (int) value;
            e.wide = value;
            e.single = (float) reals[i % reals.length];
            e.real = reals[i % reals.length];
            e.text = texts[i % texts.length];
            e.type = i % 4 == 0 ? null : i % 4 == 1 ? int[][].class : Work.class;
            e.thread = i % 5 == 0 ? null : Thread.currentThread();
            e.bytes = value;
            e.bitRate = value;
            e.share = (float) reals[i % 8];
            e.millis = value;
            e.nanos = value;
            e.when = Math.abs(value % 4_000_000_000_000L);
            e.address = value;
            e.unsigned = (int) value;
            e.rate = i;
            e.commit();
        }
    }

    /** JMC's parser leaves out the exception event of an error; recordings take some of them, by time. */
    private static void errors() {
        for (int i = 0; i < 20; i++) {
            try {
                throw new AssertionError("no " + i);
            } catch (AssertionError expected) {
                sleep(10);
            }
        }
    }

    private static void exceptions() throws Exception {
        Thread thrower = new Thread(() -> {
            for (int i = 0; i < 300; i++) {
                try {
                    throw new IllegalStateException("no " + i);
                } catch (IllegalStateException expected) {
                    Thread.yield();
                }
            }
        }, "w\u00f6rker-\u017e\u6f22");
        thrower.start();
        thrower.join();
        Object lock = new Object();
        Thread locker = new Thread(() -> {
            for (int i = 0; i < 5; i++) {
                synchronized (lock) {
                    sleep(25);
                }
            }
        }, "a locker \"with\" a quote");
        locker.start();
        while (locker.isAlive()) {
            synchronized (lock) {
                Thread.yield();
            }
        }
    }

    private static void memory() {
        List<Object> kept = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            kept.add(new byte[50_000]);
            if (i % 100 == 0) {
                System.gc();
            }
        }
        if (kept.isEmpty()) {
            throw new AssertionError();
        }
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void sockets() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Thread client = new Thread(() -> {
                try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                    for (int i = 0; i < 20; i++) {
                        s.getOutputStream().write(new byte[3000]);
                        sleep(2);
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            client.start();
            try (Socket s = server.accept(); InputStream in = s.getInputStream()) {
                in.readAllBytes();
            }
        }
        try (InputStream in = new FileInputStream("/proc/self/status")) {
            in.readAllBytes();
        }
        Runtime.getRuntime().exec(new String[] {"true"}).waitFor();
    }

    /** Loaders with a name and without, proxies, lambdas. */
    private static void classes() throws Exception {
        InvocationHandler none = (proxy, method, args) -> null;
        for (int i = 0; i < 40; i++) {
            ClassLoader loader = i % 2 == 0 ? new ClassLoader(Work.class.getClassLoader()) { }
                    : new ClassLoader("loader-" + i, Work.class.getClassLoader()) { };
            Class<?>[] types = {Runnable.class, Executor.class};
            ((Runnable) Proxy.newProxyInstance(loader, types, none)).run();
        }
        Runnable lambda = () -> new IllegalStateException().getStackTrace();
        lambda.run();
    }

    /** Where there are virtual threads; JDK 17 has none. */
    private static void virtual() throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            Runnable task = () -> {
                sleep(30);
                All e = new All();
                e.commit();
            };
            Thread thread;
            try {
                thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                        .invoke(null, task);
            } catch (NoSuchMethodException e) {
                thread = new Thread(task);
                thread.start();
            }
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "events" -> {
                events();
                errors();
            }
            case "exceptions" -> exceptions();
            case "memory" -> memory();
            case "sockets" -> sockets();
            case "classes" -> classes();
            case "virtual" -> virtual();
            default -> throw new IllegalArgumentException(args[0]);
        }
    }
}
