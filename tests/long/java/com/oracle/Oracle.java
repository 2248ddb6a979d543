package com.oracle;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.security.ProtectionDomain;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Says of every reference-counted ByteBuf whether it was released, without bbflow: a Java agent (by
 * ASM) that sees the ends of AbstractReferenceCountedByteBuf's constructor, of resetRefCnt and
 * setRefCnt (a buffer that is used again), and handleRelease(true). Which buffers are gone says a
 * weak reference to each. Only tests/long/claimed-leaks uses it; exact, and as slow as it likes to be.
 */
public final class Oracle implements ClassFileTransformer {
    private static final String CLASS = "io/netty/buffer/AbstractReferenceCountedByteBuf";
    private static final String SELF = "com/oracle/Oracle";
    private static final ReferenceQueue<Object> GONE = new ReferenceQueue<>();
    private static final ConcurrentHashMap<Key, Life> LIVES = new ConcurrentHashMap<>();
    private static final StackWalker STACK = StackWalker.getInstance();

    /** Counts since the start; guarded by Oracle.class. */
    static long opened, released, lost, chunks;
    /** Where those were made that were collected unreleased, since the last look. */
    private static Map<String, Integer> lostAt = new TreeMap<>();

    private static final class Life {
        boolean open;
        boolean chunk; // its allocator's own memory: nobody's buffer
        String place;
    }

    /** By identity: a ByteBuf's own equals() reads its bytes. */
    private static class Key {
        final int hash;
        Object asked;

        Key(Object asked) {
            this.asked = asked;
            hash = System.identityHashCode(asked);
        }

        Object get() {
            return asked;
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            return this == other || other instanceof Key && get() != null
                    && ((Key) other).get() == get();
        }
    }

    private static final class Weak extends WeakReference<Object> {
        final WeakKey key;

        Weak(Object of, WeakKey key) {
            super(of, GONE);
            this.key = key;
        }
    }

    private static final class WeakKey extends Key {
        final Weak weak;

        WeakKey(Object of) {
            super(of);
            asked = null;
            weak = new Weak(of, this);
        }

        @Override
        Object get() {
            return weak.get();
        }
    }

    private Oracle() {
    }

    public static void premain(String args, Instrumentation on) {
        on.addTransformer(new Oracle());
    }

    // ---- what Netty's class calls ----

    public static void made(Object buffer) {
        if (isWrapper(buffer.getClass()))
            return;
        Life life = new Life();
        life.place = STACK.walk(f -> place(f.iterator()));
        life.chunk = life.place.contains("ChunkAllocator.");
        life.open = !life.place.contains(".newObject "); // of a recycler: nobody's before reused()
        LIVES.put(new WeakKey(buffer), life);
        synchronized (Oracle.class) {
            opened += life.open && !life.chunk ? 1 : 0;
        }
    }

    public static void reused(Object buffer) {
        Life life = LIVES.get(new Key(buffer));
        if (life == null)
            return; // its own constructor has not ended
        String place = STACK.walk(f -> place(f.iterator()));
        synchronized (Oracle.class) {
            if (life.open)
                return;
            life.open = true;
            life.place = place;
            opened++;
        }
    }

    public static void release(Object buffer, boolean last) {
        Life life = last ? LIVES.get(new Key(buffer)) : null;
        synchronized (Oracle.class) {
            if (life == null || !life.open)
                return;
            life.open = false;
            released += life.chunk ? 0 : 1;
        }
    }

    /** It has a count of its own, by inheritance, and never uses it. */
    private static boolean isWrapper(Class<?> type) {
        for (; type != null; type = type.getSuperclass())
            if (type.getSimpleName().equals("WrappedCompositeByteBuf"))
                return true;
        return false;
    }

    /** The outermost method of a test class, which is the test; then who called Netty. */
    private static String place(Iterator<StackWalker.StackFrame> frames) {
        String test = Thread.currentThread().getName();
        String caller = "";
        String type = "";
        while (frames.hasNext()) {
            StackWalker.StackFrame frame = frames.next();
            String name = frame.getClassName();
            if (name.startsWith("com.oracle."))
                continue;
            if (name.startsWith("org.junit.") || name.startsWith("java.lang.reflect."))
                break;
            if (frame.getMethodName().equals("<init>") && caller.isEmpty())
                type = name.substring(name.lastIndexOf('.') + 1);
            else if (caller.isEmpty())
                caller = name + "." + frame.getMethodName();
            if (name.contains("ChunkAllocator"))
                caller = name + "." + frame.getMethodName();
            if (name.contains("Test"))
                test = name + "." + frame.getMethodName();
        }
        return test + " < " + caller + " (" + type + ")";
    }

    // ---- what the listener asks ----

    /** Counts what the collector found; the places that are new since the last call. */
    static synchronized Map<String, Integer> look() {
        for (Weak weak; (weak = (Weak) GONE.poll()) != null;) {
            Life life = LIVES.remove(weak.key);
            if (life != null && life.open && life.chunk) {
                chunks++; // it goes with its allocator
            } else if (life != null && life.open) {
                lost++;
                lostAt.merge(life.place, 1, Integer::sum);
            }
        }
        Map<String, Integer> found = lostAt;
        lostAt = new TreeMap<>();
        return found;
    }

    // ---- the transformation ----

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain,
            byte[] bytes) {
        if (!CLASS.equals(name))
            return null;
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(int access, String method, String type,
                    String signature, String[] thrown) {
                MethodVisitor next = super.visitMethod(access, method, type, signature, thrown);
                if (method.equals("handleRelease"))
                    return new AtEntry(next);
                String call = method.equals("<init>") ? "made"
                        : method.equals("resetRefCnt") || method.equals("setRefCnt") ? "reused"
                        : null;
                return call == null ? next : new AtReturn(next, call);
            }
        }, 0);
        return writer.toByteArray();
    }

    private static final class AtEntry extends MethodVisitor {
        AtEntry(MethodVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public void visitCode() {
            super.visitCode();
            visitVarInsn(Opcodes.ALOAD, 0);
            visitVarInsn(Opcodes.ILOAD, 1);
            visitMethodInsn(Opcodes.INVOKESTATIC, SELF, "release", "(Ljava/lang/Object;Z)V", false);
        }
    }

    private static final class AtReturn extends MethodVisitor {
        private final String call;

        AtReturn(MethodVisitor next, String call) {
            super(Opcodes.ASM9, next);
            this.call = call;
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.RETURN) {
                super.visitVarInsn(Opcodes.ALOAD, 0);
                super.visitMethodInsn(Opcodes.INVOKESTATIC, SELF, call, "(Ljava/lang/Object;)V",
                        false);
            }
            super.visitInsn(opcode);
        }
    }
}
