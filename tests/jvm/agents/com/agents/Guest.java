package com.agents;

import com.app.BetweenPhases;

import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A Java agent, started with the JVM or attached to it, on all classes of Netty and of the probes;
 * one "THEIRS" line each time says how many it changed and which were refused:
 * nothing   a retransforming transformer returns null
 * bytes     a retransforming transformer returns the bytes that it got
 * plain     a transformer that cannot retransform returns the bytes that it got
 * redefine  all classes are redefined with what the jars have
 */
public final class Guest implements BetweenPhases {
    private static final AtomicInteger LOADS = new AtomicInteger();
    private static final AtomicInteger AGAIN = new AtomicInteger();
    private static Instrumentation jvm;
    private static String mode;

    public static void premain(String options, Instrumentation instrumentation) {
        jvm = instrumentation;
        mode = options;
        if (!mode.equals("redefine")) {
            jvm.addTransformer(new Unchanged(), !mode.equals("plain"));
        }
    }

    /** Attached: acts at once on every class that may be changed, and lets the program continue. */
    public static void agentmain(String options, Instrumentation instrumentation) throws Exception {
        premain(options, instrumentation);
        List<Class<?>> others = new ArrayList<>();
        for (Class<?> type : jvm.getAllLoadedClasses()) {
            if (jvm.isModifiableClass(type) && !type.isArray() && !ours(type.getName())) {
                others.add(type);
            }
        }
        jvm.retransformClasses(others.toArray(new Class<?>[0])); // the JDK's, and bbflow's
        System.out.println("THEIRS everything else " + (others.size() > 500));
        new Guest().after(0);
        Wait.go = true;
    }

    @Override
    public void after(int phase) throws Exception {
        List<Class<?>> mine = new ArrayList<>();
        for (Class<?> type : jvm.getAllLoadedClasses()) {
            if (ours(type.getName()) && jvm.isModifiableClass(type) && !type.isArray()) {
                mine.add(type);
            }
        }
        Set<String> refused = new TreeSet<>();
        mine.removeIf(type -> !change(Arrays.asList(type), refused));
        AGAIN.set(0);
        change(mine, refused);
        System.out.println("THEIRS " + mode + " phase=" + phase + " missed="
                + (mode.equals("redefine") || mode.equals("plain") ? 0
                : mine.size() - AGAIN.get()) + " refused=" + refused);
        if (phase == 3) { // before, threads of Netty's may still load some
            System.out.println("THEIRS " + mode + " loads=" + LOADS + " classes=" + mine.size());
        }
    }

    static boolean ours(String name) {
        return name.startsWith("io.netty.") || name.startsWith("com.app.");
    }

    private static boolean change(List<Class<?>> types, Set<String> refused) {
        try {
            if (!mode.equals("redefine")) {
                jvm.retransformClasses(types.toArray(new Class<?>[0]));
                return true;
            }
            List<ClassDefinition> definitions = new ArrayList<>();
            for (Class<?> type : types) {
                definitions.add(new ClassDefinition(type, Jar.bytes(type.getName())));
            }
            jvm.redefineClasses(definitions.toArray(new ClassDefinition[0]));
            return true;
        } catch (Exception | LinkageError | InternalError no) {
            refused.add((types.size() == 1 ? types.get(0).getName() : "all together") + ": " + no);
            return false;
        }
    }

    private static final class Unchanged implements ClassFileTransformer {
        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> type,
                ProtectionDomain domain, byte[] bytes) {
            if (name == null || !ours(name.replace('/', '.'))) {
                return null;
            }
            (type == null ? LOADS : AGAIN).incrementAndGet();
            return mode.equals("nothing") ? null : bytes.clone();
        }
    }
}
