package com.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;

/**
 * A server and its client in one JVM. Lines on stdin drive it: "clean N" or "leak N" runs N
 * requests and prints the oracle's line, "end" stops the server. READY is printed after warm-up.
 */
public abstract class Program {
    private static final int WARM_UP = 200;
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /** Starts the server and connects the client. */
    protected abstract void start() throws Exception;

    /** One exchange, complete when it returns. */
    protected abstract void request(int number) throws Exception;

    protected abstract void stop() throws Exception;

    /** The reference count of what the user's method kept. */
    protected abstract int refCnt(Object kept) throws Exception;

    /** How many buffers are lost with it. */
    protected int lives(Object kept) throws Exception {
        return 1;
    }

    protected final void run() throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        start();
        repeat(WARM_UP);
        System.out.println("READY");
        for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("leak"))
                Tally.plant();
            measure(Integer.parseInt(words[1]));
        }
        stop();
        System.exit(0); // some frameworks leave threads behind
    }

    private void repeat(int times) throws Exception {
        for (int i = 0; i < times; i++)
            request(i);
    }

    private void measure(int times) throws Exception {
        long seen = Tally.seen();
        long before = SYSTEM.getProcessCpuTime();
        repeat(times);
        long spent = SYSTEM.getProcessCpuTime() - before;
        settle();
        int lost = 0;
        int open = 0;
        for (Object kept : Tally.kept()) {
            lost += lives(kept);
            open += refCnt(kept) > 0 ? lives(kept) : 0;
        }
        System.out.printf("ORACLE requests=%d received=%d kept=%d open=%d cpu_ms=%d%n", times,
                Tally.seen() - seen, lost, open, spent / 1_000_000);
        Tally.forget();
    }

    /** A response can be here before the server's side of the exchange has ended. */
    private static void settle() throws InterruptedException {
        for (long last = -1; last != Tally.seen(); Thread.sleep(100))
            last = Tally.seen();
    }
}
