import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.function.Consumer;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * SynthGen FOLDER: writes the corner-case classes, and FOLDER/expected.tsv with the events that the
 * rewritten class has to make: entries, exits, exits with a parameter, constructed, returned,
 * thrown, widths (bbflow.RewriteShim), when the agent instruments all that it can.
 *
 * Each class has `static Object run()`, which calls what the case is about. run() itself makes one
 * exit. Needs ASM; the classes run everywhere.
 */
public final class SynthGen implements Opcodes {
    private static final String OBJECT = "Ljava/lang/Object;";
    private static final String UNARY = "(" + OBJECT + ")" + OBJECT;

    private final Path folder;
    private final PrintStream expected;

    private SynthGen(Path folder) throws Exception {
        this.folder = folder;
        this.expected = new PrintStream(folder.resolve("expected.tsv").toFile());
    }

    public static void main(String[] args) throws Exception {
        SynthGen gen = new SynthGen(Paths.get(args[0]));
        Files.createDirectories(gen.folder.resolve("synth"));
        gen.code();
        gen.switches();
        gen.frames();
        gen.constructors();
        gen.sizes();
        gen.expected.close();
    }

    /** One class; `events` are entries, exits, exits with parameter, constructed, returned, … */
    private void make(String name, int version, int flags, Consumer<ClassWriter> body,
            long... events) throws Exception {
        ClassWriter writer =
                new ClassWriter(flags) {
                    @Override
                    protected String getCommonSuperClass(String a, String b) {
                        return "java/lang/Object";
                    }
                };
        writer.visit(version, ACC_PUBLIC | ACC_SUPER, "synth/" + name, null, "java/lang/Object",
                null);
        body.accept(writer);
        writer.visitEnd();
        Files.write(folder.resolve("synth/" + name + ".class"), writer.toByteArray());
        long[] counts = Arrays.copyOf(events, 7);
        StringBuilder line = new StringBuilder("synth." + name);
        for (long count : counts) {
            line.append('\t').append(count);
        }
        expected.println(line);
    }

    private void auto(String name, Consumer<ClassWriter> body, long... events) throws Exception {
        make(name, V1_8, ClassWriter.COMPUTE_FRAMES, body, events);
    }

    private static void method(ClassWriter c, int access, String name, String descriptor,
            Consumer<MethodVisitor> body) {
        MethodVisitor m = c.visitMethod(access, name, descriptor, null, null);
        m.visitCode();
        body.accept(m);
        m.visitMaxs(8, 8);
        m.visitEnd();
    }

    private static void statics(ClassWriter c, String name, String descriptor,
            Consumer<MethodVisitor> body) {
        method(c, ACC_PUBLIC | ACC_STATIC, name, descriptor, body);
    }

    private static void run(ClassWriter c, Consumer<MethodVisitor> body) {
        statics(c, "run", "()" + OBJECT, body);
    }

    private static void call(MethodVisitor m, String owner, String name, String descriptor) {
        m.visitMethodInsn(INVOKESTATIC, "synth/" + owner, name, descriptor, false);
    }

    private static void special(MethodVisitor m, String owner, String descriptor) {
        m.visitMethodInsn(INVOKESPECIAL, owner, "<init>", descriptor, false);
    }

    private static void load(MethodVisitor m, Object... constants) {
        for (Object constant : constants) {
            m.visitLdcInsn(constant);
        }
    }

    private static void ops(MethodVisitor m, int... opcodes) {
        for (int opcode : opcodes) {
            m.visitInsn(opcode);
        }
    }

    /** run() { return f("x"); }: no event after the call, since an areturn follows. */
    private static void runUnary(ClassWriter c, String name) {
        run(c, m -> {
            load(m, "x");
            call(m, name, "f", UNARY);
            m.visitInsn(ARETURN);
        });
    }

    /* Code: pc 0, jumps to returns, after calls, jsr, handlers, wide, many parameters. */
    private void code() throws Exception {
        auto("Plain", c -> {
            runUnary(c, "Plain");
            statics(c, "f", UNARY, m -> {
                m.visitVarInsn(ALOAD, 0);
                m.visitInsn(ARETURN);
            });
        }, 1, 1, 1);

        auto("LoopAt0", c -> {
            run(c, m -> {
                load(m, "x", 5);
                call(m, "LoopAt0", "f", "(" + OBJECT + "I)" + OBJECT);
                m.visitInsn(ARETURN);
            });
            statics(c, "f", "(" + OBJECT + "I)" + OBJECT, m -> {
                Label start = new Label();
                Label end = new Label();
                m.visitLabel(start);
                m.visitVarInsn(ILOAD, 1);
                m.visitJumpInsn(IFEQ, end);
                m.visitIincInsn(1, -1);
                m.visitJumpInsn(GOTO, start);
                m.visitLabel(end);
                m.visitVarInsn(ALOAD, 0);
                m.visitInsn(ARETURN);
            });
        }, 1, 1, 1, 0, 0, 0, 5);

        // Two ways to one areturn, and a way round the call in front of a store.
        auto("JumpToReturn", c -> {
            runUnary(c, "JumpToReturn");
            statics(c, "f", UNARY, m -> {
                Label end = new Label();
                m.visitVarInsn(ALOAD, 0);
                m.visitInsn(DUP);
                m.visitJumpInsn(IFNONNULL, end);
                m.visitInsn(POP);
                load(m, "null");
                m.visitLabel(end);
                m.visitInsn(ARETURN);
            });
        }, 1, 1, 1);

        for (int skip = 0; skip < 2; skip++) {
            String name = "AfterCall" + skip;
            int chosen = skip;
            auto(name, c -> {
                run(c, m -> {
                    Label behind = new Label();
                    load(m, "skipped", chosen);
                    m.visitJumpInsn(IFNE, behind);
                    m.visitInsn(POP);
                    call(m, name, "g", "()Ljava/lang/String;");
                    m.visitLabel(behind); // a jump to here has not returned from g
                    m.visitVarInsn(ASTORE, 0);
                    m.visitVarInsn(ALOAD, 0);
                    m.visitInsn(ARETURN);
                });
                statics(c, "g", "()Ljava/lang/String;", m -> {
                    load(m, "called");
                    m.visitInsn(ARETURN);
                });
            }, 0, 2 - skip, 0, 0, 1 - skip);
        }

        make("Jsr", V1_4, 0, c -> {
            runUnary(c, "Jsr");
            statics(c, "f", UNARY, m -> {
                Label sub = new Label();
                m.visitJumpInsn(JSR, sub);
                m.visitJumpInsn(JSR, sub);
                m.visitVarInsn(ALOAD, 0);
                m.visitInsn(ARETURN);
                m.visitLabel(sub);
                m.visitVarInsn(ASTORE, 1);
                m.visitVarInsn(RET, 1);
            });
        }, 1, 1, 1);

        // Code that nothing reaches; the inferring verifier does not look at it.
        make("DeadCode", V1_4, 0, c -> {
            runUnary(c, "DeadCode");
            statics(c, "f", UNARY, m -> {
                m.visitVarInsn(ALOAD, 0);
                ops(m, ARETURN, ARETURN, POP, ATHROW, RETURN);
            });
        }, 1, 1, 1);

        auto("ReturnInTry", c -> {
            runUnary(c, "ReturnInTry");
            statics(c, "f", UNARY, m -> {
                Label start = new Label();
                Label end = new Label();
                m.visitTryCatchBlock(start, end, end, "java/lang/Throwable");
                m.visitLabel(start);
                m.visitVarInsn(ALOAD, 0);
                call(m, "ReturnInTry", "g", UNARY);
                m.visitInsn(ARETURN);
                m.visitLabel(end);
                m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/Throwable", "getMessage",
                        "()Ljava/lang/String;", false);
                m.visitInsn(ARETURN);
            });
            statics(c, "g", UNARY, m -> {
                m.visitTypeInsn(NEW, "java/lang/RuntimeException");
                m.visitInsn(DUP);
                load(m, "thrown");
                special(m, "java/lang/RuntimeException", "(Ljava/lang/String;)V");
                m.visitInsn(ATHROW);
            });
        }, 2, 1, 1, 0, 0, 1);

        // A return in a synchronized block: the range ends at the areturn, its handler rethrows.
        auto("Synchronized", c -> {
            runUnary(c, "Synchronized");
            method(c, ACC_PUBLIC | ACC_STATIC | ACC_SYNCHRONIZED, "f", UNARY, m -> {
                Label start = new Label();
                Label end = new Label();
                Label handler = new Label();
                m.visitTryCatchBlock(start, end, handler, null);
                m.visitVarInsn(ALOAD, 0);
                m.visitInsn(MONITORENTER);
                m.visitLabel(start);
                m.visitVarInsn(ALOAD, 0);
                m.visitVarInsn(ALOAD, 0);
                m.visitInsn(MONITOREXIT);
                m.visitLabel(end);
                m.visitInsn(ARETURN);
                m.visitLabel(handler);
                m.visitVarInsn(ALOAD, 0);
                m.visitInsn(MONITOREXIT);
                m.visitInsn(ATHROW);
            });
        }, 1, 1, 1);

        auto("DeepStack", c -> {
            runUnary(c, "DeepStack");
            statics(c, "f", UNARY, m -> {
                load(m, 7L, "below", 1.5);
                m.visitVarInsn(ALOAD, 0);
                m.visitInsn(ARETURN); // leaves five words behind
            });
        }, 1, 1, 1);

        auto("Wide", c -> {
            runUnary(c, "Wide");
            statics(c, "f", UNARY, m -> {
                m.visitVarInsn(ALOAD, 0);
                m.visitVarInsn(ASTORE, 400);
                load(m, 1);
                m.visitVarInsn(ISTORE, 500);
                m.visitIincInsn(500, 1000);
                m.visitVarInsn(ALOAD, 400);
                m.visitInsn(ARETURN);
            });
        }, 1, 1, 1);

        auto("Overwritten", c -> {
            runUnary(c, "Overwritten");
            statics(c, "f", UNARY, m -> {
                load(m, "other");
                m.visitVarInsn(ASTORE, 0);
                m.visitVarInsn(ALOAD, 0);
                m.visitInsn(ARETURN);
            });
        }, 1, 2);

        String mixed = "(J" + OBJECT + "D[I[" + OBJECT + "ZS" + OBJECT + ")" + OBJECT;
        auto("Mixed", c -> {
            run(c, m -> {
                load(m, 1L, "x", 2.0);
                m.visitInsn(ACONST_NULL);
                m.visitInsn(ACONST_NULL);
                load(m, 1, 300, "y");
                call(m, "Mixed", "f", mixed);
                m.visitInsn(ARETURN);
            });
            statics(c, "f", mixed, m -> {
                m.visitVarInsn(ALOAD, 9);
                m.visitInsn(ARETURN);
            });
        }, 4, 1, 1, 0, 0, 0, 301);

        StringBuilder many = new StringBuilder("(");
        for (int i = 0; i < 255; i++) {
            many.append(OBJECT);
        }
        many.append(")").append(OBJECT);
        auto("Parameters255", c -> {
            run(c, m -> {
                for (int i = 0; i < 255; i++) {
                    load(m, "p" + i);
                }
                call(m, "Parameters255", "f", many.toString());
                m.visitInsn(ARETURN);
            });
            statics(c, "f", many.toString(), m -> {
                m.visitVarInsn(ALOAD, 254);
                m.visitInsn(ARETURN);
            });
        }, 255, 1, 1);
    }

    /* Each padding of each switch, behind 0-2 returns. */
    private void switches() throws Exception {
        for (int i = 0; i < 24; i++) {
            boolean table = i < 12;
            int pad = i % 4;
            int returns = i / 4 % 3;
            String name = (table ? "Table" : "Lookup") + pad + "Returns" + returns;
            int[] values = {100, 101, 0, 1, 2, 3, -1};
            String f = "(I)Ljava/lang/String;";
            long n = values.length;
            auto(name, c -> {
                run(c, m -> {
                    load(m, "");
                    for (int value : values) {
                        load(m, value);
                        call(m, name, "f", f);
                        m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/String", "concat",
                                "(Ljava/lang/String;)Ljava/lang/String;", false);
                    }
                    m.visitInsn(ARETURN);
                });
                statics(c, "f", f, m -> switchBody(m, table, pad, returns));
            }, 0, n + 1, 0, 0, 2 * n - 1, 0, Arrays.stream(values).sum());
        }
    }

    private static void switchBody(MethodVisitor m, boolean table, int pad, int returns) {
        for (int k = 0; k < returns; k++) {
            Label next = new Label();
            m.visitVarInsn(ILOAD, 0);
            load(m, 100 + k);
            m.visitJumpInsn(IF_ICMPNE, next);
            load(m, "early" + k);
            m.visitInsn(ARETURN);
            m.visitLabel(next);
        }
        for (int k = 0; k < pad; k++) {
            m.visitInsn(NOP);
        }
        Label[] cases = {new Label(), new Label(), new Label()};
        Label other = new Label();
        m.visitVarInsn(ILOAD, 0);
        if (table) {
            m.visitTableSwitchInsn(0, 2, other, cases);
        } else {
            m.visitLookupSwitchInsn(other, new int[] {0, 1, 2}, cases);
        }
        for (int k = 0; k < 3; k++) {
            m.visitLabel(cases[k]);
            load(m, "case" + k);
            m.visitInsn(ARETURN);
        }
        m.visitLabel(other);
        load(m, "other");
        m.visitInsn(ARETURN);
    }

    /* Frames that javac does not write. */
    private void frames() throws Exception {
        // Uninitialized(offset) with the `new` behind an early return.
        auto("UninitializedFrame", c -> {
            runUnary(c, "UninitializedFrame");
            statics(c, "f", UNARY, m -> {
                Label go = new Label();
                Label second = new Label();
                Label join = new Label();
                m.visitVarInsn(ALOAD, 0);
                m.visitJumpInsn(IFNONNULL, go);
                load(m, "null");
                m.visitInsn(ARETURN);
                m.visitLabel(go);
                m.visitTypeInsn(NEW, "java/lang/String");
                m.visitInsn(DUP);
                m.visitVarInsn(ALOAD, 0);
                m.visitJumpInsn(IFNULL, second);
                load(m, "first");
                m.visitJumpInsn(GOTO, join);
                m.visitLabel(second);
                load(m, "second");
                m.visitLabel(join);
                special(m, "java/lang/String", "(Ljava/lang/String;)V");
                m.visitInsn(ARETURN);
            });
        }, 1, 1, 1);

        // The frame has dropped the parameter, as compilers that know liveness do: it cannot be
        // loaded at the exit, though nothing stores to it.
        make("DroppedParameter", V1_8, 0, c -> {
            runUnary(c, "DroppedParameter");
            statics(c, "f", UNARY, m -> {
                Label next = new Label();
                m.visitJumpInsn(GOTO, next);
                m.visitLabel(next);
                m.visitFrame(F_FULL, 0, new Object[0], 0, new Object[0]);
                load(m, "done");
                m.visitInsn(ARETURN);
            });
        }, 1, 2);

        // A frame at pc 0 that says no more than the method's own.
        make("FrameAt0", V1_8, 0, c -> {
            runUnary(c, "FrameAt0");
            statics(c, "f", UNARY, m -> {
                m.visitFrame(F_SAME, 0, null, 0, null);
                m.visitVarInsn(ALOAD, 0);
                m.visitInsn(ARETURN);
            });
        }, 1, 1, 1);

        // Deltas around 63, before and after the calls in front.
        for (int nops = 40; nops < 60; nops++) {
            String name = "Delta" + nops;
            int count = nops;
            auto(name, c -> {
                runUnary(c, name);
                statics(c, "f", UNARY, m -> {
                    Label a = new Label();
                    Label b = new Label();
                    m.visitVarInsn(ALOAD, 0);
                    m.visitJumpInsn(IFNONNULL, a);
                    load(m, "null");
                    m.visitInsn(ARETURN);
                    m.visitLabel(a);
                    nops(m, count);
                    m.visitVarInsn(ALOAD, 0);
                    m.visitJumpInsn(IFNONNULL, b);
                    load(m, "never");
                    m.visitInsn(ARETURN);
                    m.visitLabel(b);
                    m.visitVarInsn(ALOAD, 0);
                    m.visitInsn(ARETURN);
                });
            }, 1, 1, 1);
        }
    }

    private static void runNew(ClassWriter c, String name) {
        run(c, m -> {
            m.visitTypeInsn(NEW, "synth/" + name);
            m.visitInsn(DUP);
            load(m, "x");
            special(m, "synth/" + name, "(" + OBJECT + ")V");
            m.visitVarInsn(ASTORE, 0);
            load(m, "made");
            m.visitInsn(ARETURN);
        });
    }

    private static void init(ClassWriter c, Consumer<MethodVisitor> body) {
        method(c, ACC_PUBLIC, "<init>", "(" + OBJECT + ")V", body);
    }

    private static void superInit(MethodVisitor m) {
        m.visitVarInsn(ALOAD, 0);
        special(m, "java/lang/Object", "()V");
    }

    private void constructors() throws Exception {
        auto("Constructor", c -> {
            runNew(c, "Constructor");
            init(c, m -> {
                superInit(m);
                m.visitInsn(RETURN);
            });
        }, 1, 1, 0, 1);

        // Branches and returns; code before super() with uninitializedThis in its frames.
        auto("BranchesBeforeSuper", c -> {
            runNew(c, "BranchesBeforeSuper");
            init(c, m -> {
                Label isNull = new Label();
                Label end = new Label();
                m.visitVarInsn(ALOAD, 1);
                m.visitJumpInsn(IFNULL, isNull);
                load(m, "before");
                m.visitVarInsn(ASTORE, 2);
                m.visitLabel(isNull);
                superInit(m);
                m.visitVarInsn(ALOAD, 1);
                m.visitJumpInsn(IFNULL, end);
                m.visitInsn(RETURN);
                m.visitLabel(end);
                m.visitInsn(RETURN);
            });
        }, 1, 1, 0, 1);

        auto("OverwritesThis", c -> {
            runNew(c, "OverwritesThis");
            init(c, m -> {
                superInit(m);
                m.visitInsn(ACONST_NULL);
                m.visitVarInsn(ASTORE, 0);
                m.visitInsn(RETURN);
            });
        }, 1, 1);

        make("FrameDropsThis", V1_8, 0, c -> {
            runNew(c, "FrameDropsThis");
            init(c, m -> {
                Label next = new Label();
                superInit(m);
                m.visitJumpInsn(GOTO, next);
                m.visitLabel(next);
                m.visitFrame(F_FULL, 0, new Object[0], 0, new Object[0]);
                m.visitInsn(RETURN);
            });
        }, 1, 1);

        auto("ConstructorThrows", c -> {
            statics(c, "make", "()" + OBJECT, m -> {
                m.visitTypeInsn(NEW, "synth/ConstructorThrows");
                m.visitInsn(DUP);
                load(m, "x");
                special(m, "synth/ConstructorThrows", "(" + OBJECT + ")V");
                m.visitInsn(ARETURN);
            });
            run(c, m -> {
                Label start = new Label();
                Label end = new Label();
                m.visitTryCatchBlock(start, end, end, "java/lang/Throwable");
                m.visitLabel(start);
                call(m, "ConstructorThrows", "make", "()" + OBJECT);
                m.visitInsn(ARETURN);
                m.visitLabel(end);
                m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/Throwable", "getMessage",
                        "()Ljava/lang/String;", false);
                m.visitInsn(ARETURN);
            });
            init(c, m -> {
                superInit(m);
                m.visitTypeInsn(NEW, "java/lang/RuntimeException");
                m.visitInsn(DUP);
                load(m, "from the constructor");
                special(m, "java/lang/RuntimeException", "(Ljava/lang/String;)V");
                m.visitInsn(ATHROW);
            });
        }, 1, 1, 0, 0, 0, 1);
    }

    private static void nops(MethodVisitor m, int count) {
        for (int i = 0; i < count; i++) {
            m.visitInsn(NOP);
        }
    }

    private void sizes() throws Exception {
        // A branch that just reaches, and with one exit call in between does not any more.
        make("FarBranch", V1_8, 0, c -> {
            runUnary(c, "FarBranch");
            statics(c, "f", UNARY, m -> {
                Label far = new Label();
                m.visitVarInsn(ALOAD, 0);
                m.visitJumpInsn(IFNONNULL, far);
                load(m, "null");
                m.visitInsn(ARETURN);
                m.visitFrame(F_SAME, 0, null, 0, null);
                nops(m, 32755);
                m.visitVarInsn(ALOAD, 0);
                m.visitInsn(ARETURN);
                m.visitLabel(far);
                m.visitFrame(F_SAME, 0, null, 0, null);
                m.visitVarInsn(ALOAD, 0);
                m.visitInsn(ARETURN);
            });
        }, 1, 1);

        // 65535 bytes at most; the entry needs 7, the exit (which loads the parameter) 8.
        int[] sizes = {65520, 65521, 65528, 65529, 65535};
        for (int size : sizes) {
            String name = "Size" + size;
            boolean entry = size <= 65528;
            boolean exit = size <= 65520;
            make(name, V1_8, 0, c -> {
                runUnary(c, name);
                statics(c, "f", UNARY, m -> {
                    nops(m, size - 2);
                    m.visitVarInsn(ALOAD, 0);
                    m.visitInsn(ARETURN);
                });
            }, entry ? 1 : 0, 1, exit ? 1 : 0);
        }

        auto("PoolFull", c -> {
            runUnary(c, "PoolFull");
            statics(c, "f", UNARY, m -> {
                m.visitVarInsn(ALOAD, 0);
                m.visitInsn(ARETURN);
            });
            for (int i = 0; c.newConst(1000000 + i) < 65529; i++) {
                // only the indices matter
            }
        });
    }
}
