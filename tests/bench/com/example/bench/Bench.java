package com.example.bench;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import sun.misc.Unsafe;

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
    private static Unsafe unsafe;
    private static long gate; // the address of the agent's gate, once its bits are set

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
        int begun = 0, bits = Integer.getInteger("bench.gate", 0);
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
                if (++begun == 2 && bits != 0) { // what is compiled by now is compiled for an open gate, too
                    gate(bits);
                }
                worker = new Thread(() -> work(workload, threads), "bench");
                worker.start();
            }
            if (gate != 0 && (unsafe.getInt(gate) & bits) != bits) {
                throw new IllegalStateException("the gate was opened meanwhile");
            }
            System.out.println(line);
            if (line.equals("end")) {
                break;
            }
        }
        System.exit(0);
    }

    /** Sets bits of the agent's gate for good. With duty=100% its own thread does not change them. */
    private static void gate(int bits) throws ReflectiveOperationException {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        unsafe = (Unsafe) field.get(null);
        gate = sharedPage(); // SHARED_SLOW_HOOKS; behind it SHARED_FLAGS
        if ((unsafe.getInt(gate + 4) & 256) == 0) { // SHARED_WINDOWS
            throw new IllegalStateException("the agent has no gate: duty=100% is missing");
        }
        unsafe.putInt(gate, unsafe.getInt(gate) | bits);
    }

    /** The page of core/layout.h's SHARED_ offsets: an address on it is the only long constant of BBFlowGuard. */
    private static long sharedPage() throws ReflectiveOperationException {
        Object access = Class.forName("jdk.internal.access.SharedSecrets").getMethod("getJavaLangAccess").invoke(null);
        Object pool = Class.forName("jdk.internal.access.JavaLangAccess").getMethod("getConstantPool", Class.class)
                .invoke(access, Class.forName("java.lang.BBFlowGuard"));
        Class<?> type = Class.forName("jdk.internal.reflect.ConstantPool");
        int size = (Integer) type.getMethod("getSize").invoke(pool);
        for (int i = 1; i < size; i++) {
            if (type.getMethod("getTagAt", int.class).invoke(pool, i).toString().equals("LONG")) {
                return (Long) type.getMethod("getLongAt", int.class).invoke(pool, i) & -4096;
            }
        }
        throw new IllegalStateException("BBFlowGuard has no long constant");
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
