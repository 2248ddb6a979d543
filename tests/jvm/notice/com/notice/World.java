package com.notice;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * What a program can see of its JVM, one "section: line" each. docs/what-differs.md lists what differs
 * under the agent; the test knows the list.
 */
public final class World {
    private World() {
    }

    static void say(String section, Object line) {
        System.out.println(section + ": " + line);
    }

    public static void main(String[] args) throws Exception {
        ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(64);
        positions(b);
        b.release();
        Thread.sleep(300); // whatever starts at start has started
        properties();
        management();
        threads();
        files();
        classes(args);
        offsets();
        collections();
    }

    /** The byte code position of a frame; its line stays. */
    static void positions(ByteBuf b) {
        StackWalker.getInstance().walk(f -> {
            f.limit(1).forEach(x -> say("position", x.getByteCodeIndex()));
            return null;
        });
    }

    static void properties() {
        System.getProperties().forEach((k, v) -> say("property", k + "=" + v));
        System.getenv().forEach((k, v) -> say("environment", k + "=" + v));
    }

    static void management() throws Exception {
        ManagementFactory.getRuntimeMXBean().getInputArguments().forEach(a -> say("argument", a));
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        new TreeSet<>(server.queryNames(null, null)).forEach(n -> say("bean", n));
        ObjectName diagnostics = new ObjectName("com.sun.management:type=DiagnosticCommand");
        String[] signature = {String[].class.getName()};
        command(server, diagnostics, "flag", "vmFlags", signature, "-all");
        command(server, diagnostics, "command line", "vmCommandLine", new String[0]);
        String histogram = (String) server.invoke(diagnostics, "gcClassHistogram",
                new Object[] {new String[] {}}, signature);
        histogram.lines().filter(l -> l.contains("BBFlow"))
                .forEach(l -> say("histogram", l.trim().split("\\s+")[3]));
        say("platform", ManagementFactory.getClassLoadingMXBean().isVerbose() + " "
                + ManagementFactory.getThreadMXBean().isThreadContentionMonitoringEnabled() + " "
                + ManagementFactory.getCompilationMXBean().getName());
    }

    static void command(MBeanServer server, ObjectName name, String section, String operation,
            String[] signature, String... arguments) throws Exception {
        Object[] given = signature.length == 0 ? new Object[0] : new Object[] {arguments};
        ((String) server.invoke(name, operation, given, signature)).lines()
                .forEach(l -> say(section, l.replaceAll("\\s+", " ")));
    }

    static void threads() {
        Thread.getAllStackTraces().forEach((t, trace) -> say("thread", t.getName() + " "
                + t.isDaemon() + " " + t.getPriority() + " " + t.getThreadGroup().getName()));
        ThreadGroup top = Thread.currentThread().getThreadGroup();
        while (top.getParent() != null)
            top = top.getParent();
        Thread[] all = new Thread[100];
        int n = top.enumerate(all);
        for (int i = 0; i < n; i++)
            say("enumerated", all[i].getName());
        say("started", ManagementFactory.getThreadMXBean().getTotalStartedThreadCount());
        Thread fresh = new Thread(() -> { });
        say("fresh", fresh.getName() + " " + fresh.getId());
    }

    static void files() throws IOException {
        try (var fds = Files.list(Path.of("/proc/self/fd"))) {
            fds.forEach(fd -> {
                try {
                    say("descriptor", Files.readSymbolicLink(fd).toString()
                            .replaceAll("/proc/\\d+", "/proc/#").replaceAll("\\d{3,}", "#"));
                } catch (IOException gone) {
                    // the stream's own
                }
            });
        }
        TreeSet<String> mapped = new TreeSet<>();
        try (BufferedReader in = Files.newBufferedReader(Path.of("/proc/self/maps"))) {
            in.lines().map(l -> l.trim().split("\\s+", 6)).filter(p -> p.length == 6)
                    .forEach(p -> mapped.add(p[5].replaceAll("stack:\\d+", "stack")
                            .replaceAll("\\d{3,}", "#")));
        }
        mapped.forEach(m -> say("mapped", m));
        say("signals", Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(l -> l.startsWith("Sig") || l.startsWith("Cap") || l.startsWith("Seccomp"))
                .filter(l -> !l.startsWith("SigQ")).toList());
        say("limits", Files.readAllLines(Path.of("/proc/self/limits")));
    }

    /** names: all classes of the shim. */
    static void classes(String[] names) {
        for (String name : names)
            try {
                Class<?> c = Class.forName("java.lang." + name, false, null);
                say("class", c.toGenericString() + " " + c.getModule().isExported("java.lang"));
            } catch (ClassNotFoundException e) {
                say("class", name + " is not there");
            }
        say("resource", ClassLoader.getSystemResource("java/lang/BBFlowShim.class"));
        say("package", Package.getPackages().length);
    }

    /** Where the fields lie in the object. */
    static void offsets() throws Exception {
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        sun.misc.Unsafe unsafe = (sun.misc.Unsafe) field.get(null);
        List<Class<?>> chain = new ArrayList<>();
        for (ByteBuf b : new ByteBuf[] {PooledByteBufAllocator.DEFAULT.directBuffer(1),
            Unpooled.buffer(1), Unpooled.compositeBuffer(2), Unpooled.buffer(1).slice()}) {
            for (Class<?> c = b.getClass(); c != Object.class; c = c.getSuperclass())
                if (!chain.contains(c))
                    chain.add(c);
            b.release(b.refCnt());
        }
        for (Class<?> c : chain)
            for (Field f : c.getDeclaredFields())
                if (!Modifier.isStatic(f.getModifiers()))
                    say("offset", c.getSimpleName() + "." + f.getName() + " "
                            + unsafe.objectFieldOffset(f));
    }

    /** How many collections until a buffer that nobody holds is gone; and one that was released. */
    static void collections() throws Exception {
        say("collections", "lost " + gone(false));
        say("collections", "released " + gone(true));
    }

    static int gone(boolean release) throws Exception {
        WeakReference<ByteBuf> weak = made(release);
        for (int i = 1; i < 10; i++) {
            System.gc();
            Thread.sleep(200);
            if (weak.get() == null)
                return i;
        }
        return -1;
    }

    static WeakReference<ByteBuf> made(boolean release) {
        ByteBuf b = Unpooled.buffer(10);
        if (release)
            b.release();
        return new WeakReference<>(b);
    }
}
