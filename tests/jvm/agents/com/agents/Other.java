package com.agents;

import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/**
 * Another agent in the same JVM, as APM and coverage tools are. -javaagent:…=MODE:
 * load    loads ByteBuf before bbflow can add its field to it
 * retransform  gives every class of Netty's buffer package back as it was, over and over
 * early   redefines ByteBuf when it is loaded and not yet linked
 * patch   makes com.app.Steps.number() return 4243 instead of 4242, for as long as the JVM lives
 * redefine     replaces ByteBuf, an allocator, the counted base and a probe by what the jars have
 */
public final class Other {
    private static final String[] REDEFINED = {"io.netty.buffer.ByteBuf",
        "io.netty.buffer.PooledByteBufAllocator",
        "io.netty.buffer.AbstractReferenceCountedByteBuf", "com.app.Steps"};

    private Other() {
    }

    private interface Work {
        void run() throws Exception;
    }

    public static void premain(String mode, Instrumentation jvm) throws Exception {
        switch (mode) {
        case "load":
            Class.forName("io.netty.buffer.ByteBuf");
            break;
        case "retransform":
            jvm.addTransformer(new Unchanged(), true);
            start("retransformed", () -> retransform(jvm));
            break;
        case "patch":
            jvm.addTransformer(new Patch(), true);
            break;
        case "early":
            report("redefined", () -> redefine(jvm, REDEFINED[0]));
            break;
        case "redefine":
            start("redefined", () -> redefine(jvm));
            break;
        default:
            throw new IllegalArgumentException(mode);
        }
    }

    private static void start(String done, Work work) {
        Thread thread = new Thread(() -> report(done, work));
        thread.setDaemon(false); // the JVM ends when it has said how it went
        thread.start();
    }

    /** Says on stdout how it went: a refusal is what this is here to find. */
    private static void report(String done, Work work) {
        try {
            work.run();
            System.out.println("OTHER " + done);
        } catch (Throwable refused) {
            System.out.println("OTHER failed " + refused);
        }
    }

    private static final class Unchanged implements ClassFileTransformer {
        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> type,
                ProtectionDomain domain, byte[] bytes) {
            return name != null && name.startsWith("io/netty/buffer") ? bytes : null;
        }
    }

    private static final class Patch implements ClassFileTransformer {
        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> type,
                ProtectionDomain domain, byte[] bytes) {
            if (!"com/app/Steps".equals(name)) {
                return null;
            }
            byte[] changed = bytes.clone();
            for (int i = 0; i + 2 < changed.length; i++) {
                if (changed[i] == 0x11 && changed[i + 1] == 0x10 && changed[i + 2] == (byte) 0x92) {
                    changed[i + 2]++; // sipush 4242
                }
            }
            return changed;
        }
    }

    private static void retransform(Instrumentation jvm) throws Exception {
        for (int round = 0; round < 4; round++) {
            Thread.sleep(50);
            for (Class<?> type : jvm.getAllLoadedClasses()) {
                if (jvm.isModifiableClass(type)
                        && (type.getName().startsWith("io.netty.buffer.")
                        || type.getName().startsWith("com.app."))) {
                    jvm.retransformClasses(type);
                }
            }
        }
    }

    private static void redefine(Instrumentation jvm) throws Exception {
        Thread.sleep(400);
        for (String name : REDEFINED) {
            redefine(jvm, name);
        }
    }

    private static void redefine(Instrumentation jvm, String name) throws Exception {
        Class<?> type = Class.forName(name, false, ClassLoader.getSystemClassLoader());
        byte[] bytes = type.getClassLoader()
                .getResourceAsStream(name.replace('.', '/') + ".class").readAllBytes();
        jvm.redefineClasses(new ClassDefinition(type, bytes));
    }
}
