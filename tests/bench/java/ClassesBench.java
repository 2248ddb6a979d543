import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.implementation.bytecode.assign.Assigner;
import net.bytebuddy.matcher.ElementMatchers;
import net.bytebuddy.pool.TypePool;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * ClassesBench FOLDER: what ASM and ByteBuddy need to put the calls of classfile_bench's modes
 * "every reference, exits, after calls" and "nothing matches" into all class files below FOLDER.
 * For each line on stdin one round of every way; a line "WAY microseconds changed failed" each, then
 * "." Time is the thread's processor time: what the JVM's compiler and collector threads take comes
 * on top and is not counted.
 */
public final class ClassesBench implements Opcodes {
    private static final String SHIM = "java/lang/BBFlowShim";
    private static final String CALL = "(Ljava/lang/Object;I)V";

    private static final List<byte[]> files = new ArrayList<>();
    private static final Map<String, byte[]> byName = new HashMap<>();

    private interface Way {
        /** Null: left as it is. */
        byte[] rewrite(byte[] bytes) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        try (Stream<Path> paths = Files.walk(Paths.get(args[0]))) {
            for (Path path : (Iterable<Path>) paths.sorted()::iterator) {
                if (path.toString().endsWith(".class")) {
                    byte[] bytes = Files.readAllBytes(path);
                    files.add(bytes);
                    byName.put(new ClassReader(bytes).getClassName().replace('/', '.'), bytes);
                }
            }
        }
        Map<String, Way> ways = new LinkedHashMap<>();
        ways.put("asm-maxs", b -> asm(b, ClassWriter.COMPUTE_MAXS, true));
        ways.put("asm-frames", b -> asm(b, ClassWriter.COMPUTE_FRAMES, true));
        ways.put("asm-none", b -> asm(b, 0, false));
        ways.put("bytebuddy", b -> byteBuddy(b, true));
        ways.put("bytebuddy-none", b -> byteBuddy(b, false));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            ways.forEach(ClassesBench::round);
            System.out.println(".");
        }
    }

    private static void round(String name, Way way) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        int changed = 0;
        int failed = 0;
        pool = null;
        long start = threads.getCurrentThreadCpuTime();
        for (byte[] bytes : files) {
            try {
                changed += way.rewrite(bytes) != null ? 1 : 0;
            } catch (Exception | LinkageError e) {
                failed++;
            }
        }
        long us = (threads.getCurrentThreadCpuTime() - start) / 1000;
        System.out.println(name + " " + us + " " + changed + " " + failed);
    }

    // ---- ASM ----

    private static byte[] asm(byte[] bytes, int flags, boolean insert) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer =
                new ClassWriter(reader, flags) {
                    /** No class is looked up: quicker, and wrong, than a real one must be. */
                    @Override
                    protected String getCommonSuperClass(String a, String b) {
                        return "java/lang/Object";
                    }
                };
        boolean[] inserted = new boolean[1];
        int skip = (flags & ClassWriter.COMPUTE_FRAMES) != 0 ? ClassReader.SKIP_FRAMES : 0;
        reader.accept(insert ? new Inserting(writer, inserted) : none(writer), skip);
        return inserted[0] ? writer.toByteArray() : null;
    }

    /** Looks at every method's signature, wants none. */
    private static ClassVisitor none(ClassWriter writer) {
        return new ClassVisitor(ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor,
                    String signature, String[] exceptions) {
                if (descriptor.contains("no/such/Type;")) {
                    throw new AssertionError();
                }
                return super.visitMethod(access, name, descriptor, signature, exceptions);
            }
        };
    }

    private static final class Inserting extends ClassVisitor {
        private final boolean[] inserted;

        Inserting(ClassVisitor next, boolean[] inserted) {
            super(ASM9, next);
            this.inserted = inserted;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor,
                String signature, String[] exceptions) {
            MethodVisitor next =
                    super.visitMethod(access, name, descriptor, signature, exceptions);
            return new Calls(next, access, name, descriptor, inserted);
        }
    }

    /** The same calls as classfile_bench's plan() and after_call(). */
    private static final class Calls extends MethodVisitor {
        private final int access;
        private final String name;
        private final String descriptor;
        private final boolean[] inserted;
        private boolean returned; // the last instruction is an invoke that returns a reference

        Calls(MethodVisitor next, int access, String name, String descriptor,
                boolean[] inserted) {
            super(ASM9, next);
            this.access = access;
            this.name = name;
            this.descriptor = descriptor;
            this.inserted = inserted;
        }

        private void call(String method) {
            mv.visitIntInsn(SIPUSH, 12345);
            mv.visitMethodInsn(INVOKESTATIC, SHIM, method, CALL, false);
            inserted[0] = true;
        }

        private void flush() {
            if (returned) {
                returned = false;
                mv.visitInsn(DUP);
                call("exit");
            }
        }

        private void invoked(String of) {
            returned = isReference(of.charAt(of.indexOf(')') + 1));
        }

        private static boolean isReference(char type) {
            return type == 'L' || type == '[';
        }

        @Override
        public void visitCode() {
            int slot = (access & ACC_STATIC) != 0 ? 0 : 1;
            mv.visitCode();
            for (Type type : Type.getArgumentTypes(descriptor)) {
                if (type.getSort() == Type.OBJECT) {
                    mv.visitVarInsn(ALOAD, slot);
                    call("step");
                }
                slot += type.getSize();
            }
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == ARETURN || opcode == POP) {
                returned = false;
            }
            flush();
            if (opcode == ARETURN) {
                mv.visitInsn(DUP);
                call("exit");
            } else if (opcode == RETURN && name.equals("<init>")) {
                mv.visitVarInsn(ALOAD, 0);
                call("exit");
            }
            mv.visitInsn(opcode);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String method, String of,
                boolean isInterface) {
            flush();
            mv.visitMethodInsn(opcode, owner, method, of, isInterface);
            invoked(of);
        }

        @Override
        public void visitInvokeDynamicInsn(String method, String of, Handle bootstrap,
                Object... arguments) {
            flush();
            mv.visitInvokeDynamicInsn(method, of, bootstrap, arguments);
            invoked(of);
        }

        @Override
        public void visitVarInsn(int opcode, int slot) {
            flush();
            mv.visitVarInsn(opcode, slot);
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            flush();
            mv.visitIntInsn(opcode, operand);
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            flush();
            mv.visitTypeInsn(opcode, type);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String field, String of) {
            flush();
            mv.visitFieldInsn(opcode, owner, field, of);
        }

        @Override
        public void visitJumpInsn(int opcode, Label label) {
            flush();
            mv.visitJumpInsn(opcode, label);
        }

        @Override
        public void visitLabel(Label label) {
            flush();
            mv.visitLabel(label);
        }

        @Override
        public void visitLdcInsn(Object value) {
            flush();
            mv.visitLdcInsn(value);
        }

        @Override
        public void visitIincInsn(int slot, int by) {
            flush();
            mv.visitIincInsn(slot, by);
        }

        @Override
        public void visitTableSwitchInsn(int min, int max, Label other, Label... labels) {
            flush();
            mv.visitTableSwitchInsn(min, max, other, labels);
        }

        @Override
        public void visitLookupSwitchInsn(Label other, int[] keys, Label[] labels) {
            flush();
            mv.visitLookupSwitchInsn(other, keys, labels);
        }

        @Override
        public void visitMultiANewArrayInsn(String of, int dimensions) {
            flush();
            mv.visitMultiANewArrayInsn(of, dimensions);
        }
    }

    // ---- ByteBuddy ----

    /** The nearest that Advice comes to: all arguments at entry, the result at exit. */
    public static final class Entered {
        @Advice.OnMethodEnter
        static void enter(@Advice.AllArguments Object[] arguments) {
            Shim.step(arguments, 12345);
        }

        @Advice.OnMethodExit
        static void exit(@Advice.Return(typing = Assigner.Typing.DYNAMIC) Object value) {
            Shim.exit(value, 12345);
        }
    }

    /** Stands for the shim: Advice needs a class to compile against. */
    public static final class Shim {
        public static void step(Object value, int id) {}

        public static void exit(Object value, int id) {}
    }

    private static final ByteBuddy buddy = new ByteBuddy().with(TypeValidation.DISABLED);
    private static final Advice advice = Advice.to(Entered.class);
    private static TypePool pool; // a new one each round, as for an application's class loader
    private static ClassFileLocator locator;

    private static byte[] byteBuddy(byte[] bytes, boolean insert) throws IOException {
        if (pool == null) {
            locator =
                    new ClassFileLocator.Compound(
                            new ClassFileLocator.Simple(byName),
                            ClassFileLocator.ForClassLoader.ofPlatformLoader());
            pool = TypePool.Default.of(locator);
        }
        String name = new ClassReader(bytes).getClassName().replace('/', '.');
        TypeDescription type = pool.describe(name).resolve();
        if (!insert) {
            for (Object method : type.getDeclaredMethods()) {
                if (method.toString().contains("no.such.Type")) {
                    throw new AssertionError();
                }
            }
            return null;
        }
        return buddy.redefine(type, locator)
                .visit(advice.on(ElementMatchers.not(ElementMatchers.isAbstract())
                        .and(ElementMatchers.not(ElementMatchers.isNative()))
                        .and(ElementMatchers.not(ElementMatchers.isTypeInitializer()))))
                .make()
                .getBytes();
    }
}
