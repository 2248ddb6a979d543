package com.hand;

import com.example.bytebuf.tracker.metrics.MetricHandlerRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.io.File;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Handlers of three kinds in the application's loader, and of two in a loader that has all classes once
 * more; each has to get every loss of the JVM since the snapshot before it came, once. Prints "SUM loader handler direct heap".
 */
public final class Main {
    private static final UnpooledByteBufAllocator ALLOCATOR = UnpooledByteBufAllocator.DEFAULT;
    private static final long TIMEOUT_NS = 60_000_000_000L;

    private Main() {
    }

    static void keep(ByteBuf buffer) {
        buffer.writeByte(1);
    }

    static void loseDirect(int count) {
        for (int i = 0; i < count; i++)
            keep(ALLOCATOR.directBuffer(64));
    }

    static void loseHeap(int count) {
        for (int i = 0; i < count; i++)
            keep(ALLOCATOR.heapBuffer(64));
    }

    static boolean until(BooleanSupplier done) throws InterruptedException {
        long end = System.nanoTime() + TIMEOUT_NS;
        while (!done.getAsBoolean() && System.nanoTime() - end < 0) {
            System.gc();
            Thread.sleep(100);
        }
        return done.getAsBoolean();
    }

    /** All handlers of this loader have these sums, and two snapshots later they still have them. */
    static void expect(String loader, long direct, long heap) throws Exception {
        for (String name : new String[] {"Named", "Registered", "Service"}) {
            String want = direct + " " + (name.equals("Named") ? 0 : heap) + " made 1";
            until(() -> Sum.ALL.containsKey(name) && Sum.ALL.get(name).sums().equals(want));
        }
        Map<Sum, Long> before = new HashMap<>();
        Sum.ALL.values().forEach(each -> before.put(each, each.snapshots()));
        until(() -> before.entrySet().stream().allMatch(each -> each.getKey().snapshots() > each.getValue() + 1));
        Sum.ALL.forEach((name, sum) -> System.out.println("SUM " + loader + " " + name + " " + sum.sums()));
    }

    /** In the other loader, called by reflection. */
    public static void other(String direct, String heap) throws Exception {
        if (Sum.ALL.get("Registered") == null) {
            MetricHandlerRegistry.register(new Registered());
            loseDirect(1);
        }
        expect("other", Long.parseLong(direct), Long.parseLong(heap));
    }

    static WeakReference<ClassLoader> inOtherLoader(String type, String method, Object... args) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            File[] jars = entry.endsWith("*") ? new File(entry.substring(0, entry.length() - 1)).listFiles() : null;
            for (File file : jars != null ? jars : new File[] {new File(entry)})
                urls.add(file.toURI().toURL());
        }
        URLClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
        Class<?>[] types = new Class<?>[args.length];
        Arrays.fill(types, String.class);
        loader.loadClass(type).getMethod(method, types).invoke(null, args);
        WeakReference<ClassLoader> weak = new WeakReference<>(loader);
        loader.close();
        return weak;
    }

    public static void main(String[] args) throws Exception {
        Registered registered = new Registered();
        MetricHandlerRegistry.register(registered);
        MetricHandlerRegistry.register(registered);
        loseDirect(3);
        loseHeap(2);
        expect("first", 3, 2);
        WeakReference<ClassLoader> other = inOtherLoader("com.hand.Main", "other", "1", "0");
        expect("both", 4, 2);
        System.out.println("UNLOADED " + until(() -> other.get() == null));
        System.out.println("READY");
        while (System.in.read() >= 0)
            continue;
        loseDirect(2);
        expect("again", 6, 2);
        MetricHandlerRegistry.unregister(registered);
        System.out.println("REGISTERED " + MetricHandlerRegistry.getHandlers().size());
        Sum.ALL.get("Service").flows.forEach((flow, count) -> System.out.println("FLOW " + count + " " + flow));
    }
}
