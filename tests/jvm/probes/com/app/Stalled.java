package com.app;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import javax.management.ObjectName;

/**
 * Stalled CLASS COMMAND [ARGS]: what Probes does, but CLASS, a super class of Netty's, is loaded only once
 * a line came in: until then its subclass is neither loaded nor on its way through a hook any more.
 *
 * With -Dstalled.bodies="LIBRARY OPTIONS" it waits for bbflow's stop instead of a line, and calls the
 * library as soon as the subclass is there. No other process takes part, so this is quick on a busy
 * machine. It prints "STALLED A B": A milliseconds, at most, from the subclass's hook to the stop, B
 * from the stop until the library was done.
 */
public final class Stalled extends URLClassLoader {
    private static final String SUBCLASS = "io.netty.buffer.AbstractReferenceCountedByteBuf";
    private static final String BODIES = System.getProperty("stalled.bodies");

    private String until;
    private long notStopped; // System.nanoTime() of the last look before the stop
    private long stopped;    // and of the first one after it

    private Stalled(URL[] path, String until) {
        super(path, ClassLoader.getPlatformClassLoader());
        this.until = until;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (name.equals(until)) {
            until = null;
            System.out.println("READY");
            System.out.flush();
            try {
                if (BODIES != null) {
                    untilStopped();
                } else {
                    Late.untilLine();
                }
            } catch (IOException | InterruptedException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
        return super.loadClass(name, resolve);
    }

    private void untilStopped() throws IOException, InterruptedException {
        notStopped = System.nanoTime();
        for (long now = notStopped; !isStopped(); now = System.nanoTime()) {
            notStopped = now;
            Thread.sleep(1);
        }
        stopped = System.nanoTime();
    }

    /** The agent thread has another name then (wire/sockdir.h). */
    private static boolean isStopped() throws IOException {
        for (File thread : new File("/proc/self/task").listFiles()) {
            File comm = new File(thread, "comm");
            try {
                String name = new String(Files.readAllBytes(comm.toPath()), StandardCharsets.UTF_8);
                if (name.trim().equals("bbflow-stopped")) {
                    return true;
                }
            } catch (IOException gone) {
                continue;
            }
        }
        return false;
    }

    private static void bodies(String[] libraryAndOptions) throws Exception {
        ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
        if (libraryAndOptions == null) { // the first call takes long
            ManagementFactory.getPlatformMBeanServer().getMBeanInfo(commands);
            return;
        }
        Object answer = ManagementFactory.getPlatformMBeanServer().invoke(commands, "jvmtiAgentLoad",
                new Object[] {libraryAndOptions}, new String[] {String[].class.getName()});
        if (!answer.toString().contains("return code: 0")) {
            throw new AssertionError(answer);
        }
    }

    private void loadAndWriteBodies() throws Exception {
        bodies(null);
        long begin = System.nanoTime();
        loadClass(SUBCLASS);
        bodies(BODIES.split(" "));
        long end = System.nanoTime();
        System.out.printf("STALLED %d %d%n", (stopped - begin) / 1000000, (end - notStopped) / 1000000);
    }

    public static void main(String[] args) throws Throwable {
        String[] files = System.getProperty("java.class.path").split(File.pathSeparator);
        URL[] path = new URL[files.length];
        for (int i = 0; i < files.length; i++) {
            path[i] = new File(files[i]).toURI().toURL();
        }
        Stalled loader = new Stalled(path, args[0]);
        if (BODIES != null) {
            loader.loadAndWriteBodies();
        } else {
            loader.loadClass(SUBCLASS);
        }
        String[] rest = java.util.Arrays.copyOfRange(args, 1, args.length);
        loader.loadClass("com.app.Probes").getMethod("main", String[].class).invoke(null, (Object) rest);
    }
}
