package com.example.bench;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;

/**
 * Bench COUNTERS WORKLOAD THREADS: works while tests/bench/run looks on. It obeys
 * lines on stdin ("go", "pause", "end") and answers each with one line. It measures nothing: how
 * often the work was done is in the file COUNTERS, 64 bytes a thread, which the measuring process
 * reads together with this process's clock.
 *
 * WORKLOAD: alloc, slice, heap, calls:N, codec, http2, ssl, grpc, rsocket, live:N, held:N, nodes:N.
 */
public final class Bench {
    private static final int LINE = 64; // two threads' counters never share a cache line
    private static final int MOST = 64;
    private static final long[] COUNTS = new long[MOST * LINE / Long.BYTES];
    private static ByteBuffer shown;
    private static volatile boolean stop;

    private Bench() {
    }

    public static void main(String[] args) throws Exception {
        try (RandomAccessFile file = new RandomAccessFile(args[0], "rw")) {
            shown = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, MOST * LINE)
                    .order(ByteOrder.nativeOrder());
        }
        Workload workload = workload(args[1]);
        int threads = Integer.parseInt(args[2]);
        workload.prepare(threads);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("up");
        Thread worker = null;
        for (String line; (line = in.readLine()) != null;) {
            if (worker != null) { // pause, end
                stop = true;
                worker.join();
                worker = null;
            }
            if (line.equals("pause")) {
                System.gc(); // what the start left would be copied by many young collections more
            }
            if (line.equals("go")) {
                stop = false;
                worker = new Thread(() -> work(workload, threads), "bench");
                worker.start();
            }
            System.out.println(line);
            if (line.equals("end")) {
                break;
            }
        }
        System.exit(0);
    }

    private static void work(Workload workload, int threads) {
        try {
            workload.run(threads);
        } catch (Throwable t) {
            t.printStackTrace();
            System.exit(1);
        }
    }

    static boolean stopped() {
        return stop;
    }

    /** By one thread for each number below 64. */
    static void done(int thread, int n) {
        int at = thread * (LINE / Long.BYTES);
        COUNTS[at] += n;
        shown.putLong(thread * LINE, COUNTS[at]);
    }

    private static Workload workload(String text) throws Exception {
        int colon = text.indexOf(':');
        String name = colon < 0 ? text : text.substring(0, colon);
        int n = colon < 0 ? 0 : Integer.parseInt(text.substring(colon + 1));
        switch (name) {
        case "alloc":
        case "slice":
        case "heap":
        case "calls":
        case "codec":
            return new Loops(Micro.operation(name, n));
        case "live":
        case "held":
        case "nodes":
            return new Loops(Grows.operation(name, n));
        case "http2":
            return new Http2();
        case "ssl":
            return new SslEcho();
        case "grpc":
            return byName("Grpc");
        case "rsocket":
            return byName("Rsocket");
        default:
            throw new IllegalArgumentException(text);
        }
    }

    /** What it needs is not always on the class path. */
    private static Workload byName(String simple) throws Exception {
        return (Workload) Class.forName("com.example.bench." + simple).getDeclaredConstructor().newInstance();
    }
}
