import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodTooLargeException;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.LocalVariableAnnotationNode;
import org.objectweb.asm.tree.LocalVariableNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;
import org.objectweb.asm.util.TraceClassVisitor;

/**
 * AsmDiff FOLDER: does ASM, told to insert the same calls into N.old, come to the same class as
 * N.new? Compared is ASM's text of both: instructions, jumps, frames, lines, locals, annotations,
 * ranges, maxs. What a verifier does not see (debug tables, annotations) is seen here.
 *
 * The agent ran with dump=FOLDER,firstid=1000. The line before the last says what ASM inserted.
 */
public final class AsmDiff implements Opcodes {
    private static final String SHIM = "bbflow/RewriteShim";
    private static final int ID = 1000;
    private static final int GOT_ID = 40000;

    private static final AtomicInteger equal = new AtomicInteger();
    private static final AtomicInteger different = new AtomicInteger();
    private static final Map<String, LongAdder> inserted = new ConcurrentSkipListMap<>();

    public static void main(String[] args) throws Exception {
        int count = 0;
        while (Files.exists(Paths.get(args[0], count + ".old"))) {
            count++;
        }
        IntStream.range(0, count).parallel().forEach(i -> compare(args[0], i));
        StringBuilder calls = new StringBuilder("inserted:");
        inserted.forEach((name, n) -> calls.append(' ').append(name).append('=').append(n));
        System.out.println(calls);
        System.out.println("equal=" + equal + " different=" + different);
    }

    private static void compare(String folder, int number) {
        try {
            byte[] our = Files.readAllBytes(Paths.get(folder, number + ".new"));
            byte[] their = insert(Files.readAllBytes(Paths.get(folder, number + ".old")));
            String ours = text(our, false);
            String theirs = text(their, false);
            if (!ours.equals(theirs)) {
                ours = text(our, true);
                theirs = text(their, true);
                System.out.println(number + ".old: again without labels that nothing refers to");
            }
            if (ours.equals(theirs)) {
                equal.incrementAndGet();
            } else if (different.getAndIncrement() < 20) {
                report(number, theirs.split("\n"), ours.split("\n"));
            }
        } catch (Exception e) {
            different.incrementAndGet();
            System.out.println(number + ".old: ASM fails: " + e);
        }
    }

    private static synchronized void report(int number, String[] theirs, String[] ours) {
        int at = 0;
        while (at < theirs.length && at < ours.length && theirs[at].equals(ours[at])) {
            at++;
        }
        System.out.println(number + ".old, line " + at + " of the text:");
        for (int i = Math.max(0, at - 3); i < at + 3; i++) {
            System.out.println("  asm  " + (i < theirs.length ? theirs[i] : "-"));
            System.out.println("  ours " + (i < ours.length ? ours[i] : "-"));
        }
    }

    /**
     * ASM makes a label at each `new` whose offset it sees behind a byte 8 in a StackMapTable, in
     * case that is Uninitialized(offset). The 8 may as well be half of a constant's index, and ASM
     * numbers constants anew: one of two equal classes may show a label more, which nothing uses.
     */
    private static String text(byte[] bytes, boolean usedLabelsOnly) {
        StringWriter writer = new StringWriter();
        TraceClassVisitor trace = new TraceClassVisitor(new PrintWriter(writer));
        ClassReader reader = new ClassReader(bytes);
        if (!usedLabelsOnly) {
            reader.accept(trace, 0);
            return writer.toString();
        }
        ClassNode node = new ClassNode();
        reader.accept(node, 0);
        for (MethodNode method : node.methods) {
            Set<LabelNode> used = usedLabels(method);
            for (AbstractInsnNode insn : method.instructions.toArray()) {
                if (insn instanceof LabelNode && !used.contains(insn)) {
                    method.instructions.remove(insn);
                }
            }
        }
        node.accept(trace);
        return writer.toString();
    }

    private static Set<LabelNode> usedLabels(MethodNode method) {
        Set<LabelNode> used = new HashSet<>();
        for (AbstractInsnNode insn : method.instructions.toArray()) {
            if (insn instanceof JumpInsnNode) {
                used.add(((JumpInsnNode) insn).label);
            } else if (insn instanceof LineNumberNode) {
                used.add(((LineNumberNode) insn).start);
            } else if (insn instanceof TableSwitchInsnNode) {
                used.add(((TableSwitchInsnNode) insn).dflt);
                used.addAll(((TableSwitchInsnNode) insn).labels);
            } else if (insn instanceof LookupSwitchInsnNode) {
                used.add(((LookupSwitchInsnNode) insn).dflt);
                used.addAll(((LookupSwitchInsnNode) insn).labels);
            } else if (insn instanceof FrameNode) {
                addLabels(((FrameNode) insn).local, used);
                addLabels(((FrameNode) insn).stack, used);
            }
        }
        for (TryCatchBlockNode block : method.tryCatchBlocks) {
            used.addAll(List.of(block.start, block.end, block.handler));
        }
        if (method.localVariables != null) {
            method.localVariables.forEach(v -> used.addAll(List.of(v.start, v.end)));
        }
        addRanges(method.visibleLocalVariableAnnotations, used);
        addRanges(method.invisibleLocalVariableAnnotations, used);
        return used;
    }

    private static void addLabels(List<Object> types, Set<LabelNode> used) {
        if (types != null) {
            types.stream().filter(t -> t instanceof LabelNode).forEach(t -> used.add((LabelNode) t));
        }
    }

    private static void addRanges(List<LocalVariableAnnotationNode> annotations,
            Set<LabelNode> used) {
        if (annotations != null) {
            annotations.forEach(a -> used.addAll(a.start));
            annotations.forEach(a -> used.addAll(a.end));
        }
    }

    /** A method that becomes too large is left as it is, as ours leaves it. */
    private static byte[] insert(byte[] bytes) {
        Set<String> large = new HashSet<>();
        while (true) {
            try {
                return insert(bytes, large);
            } catch (MethodTooLargeException e) {
                if (!large.add(e.getMethodName() + e.getDescriptor())) {
                    throw e;
                }
            }
        }
    }

    private static byte[] insert(byte[] bytes, Set<String> large) {
        ClassNode node = new ClassNode();
        new ClassReader(bytes).accept(node, 0);
        for (MethodNode method : node.methods) {
            if (method.instructions.size() > 0 && !large.contains(method.name + method.desc)) {
                insert(method);
            }
        }
        ClassWriter writer = new ClassWriter(0);
        node.accept(writer);
        return writer.toByteArray();
    }

    private static InsnList call(String name, String descriptor, int id,
            AbstractInsnNode... pushes) {
        InsnList list = new InsnList();
        inserted.computeIfAbsent(name, n -> new LongAdder()).increment();
        for (AbstractInsnNode push : pushes) {
            list.add(push);
        }
        list.add(id > Short.MAX_VALUE ? new LdcInsnNode(id) : new IntInsnNode(SIPUSH, id));
        list.add(new MethodInsnNode(INVOKESTATIC, SHIM, name, descriptor, false));
        return list;
    }

    private static InsnList call(String name, int id, AbstractInsnNode push) {
        return call(name, "(Ljava/lang/Object;I)V", id, push);
    }

    private static boolean isReference(Type type) {
        return type.getSort() == Type.OBJECT || type.getSort() == Type.ARRAY;
    }

    private static void insert(MethodNode method) {
        InsnList entry = entryCalls(method);
        boolean sites = false;
        for (AbstractInsnNode insn : method.instructions.toArray()) {
            InsnList before = before(method, insn);
            if (before != null) {
                method.instructions.insertBefore(insn, before);
                sites = true;
            } else if (returnsReference(insn) && !discarded(insn)) {
                method.instructions.insert(insn, call("got", GOT_ID, new InsnNode(DUP)));
                sites = true;
            }
        }
        if (sites) {
            method.maxStack += 2;
        }
        if (entry.size() > 0) {
            if (!sites) {
                pad(method, entry);
            }
            method.maxStack = Math.max(method.maxStack, 2);
            prepend(method, entry);
        }
    }

    private static InsnList entryCalls(MethodNode method) {
        InsnList entry = new InsnList();
        int slot = (method.access & ACC_STATIC) != 0 ? 0 : 1;
        for (Type type : Type.getArgumentTypes(method.desc)) {
            if (isReference(type)) {
                entry.add(call("enter", ID, new VarInsnNode(ALOAD, slot)));
            } else if (type.getOpcode(ILOAD) == ILOAD) {
                entry.add(call("width", "(II)V", ID, new VarInsnNode(ILOAD, slot)));
            }
            slot += type.getSize();
        }
        return entry;
    }

    /** Entry only: with a switch in the code the prologue is a multiple of 4 bytes. */
    private static void pad(MethodNode method, InsnList entry) {
        int size = 0;
        boolean hasSwitch = false;
        for (AbstractInsnNode insn : entry.toArray()) {
            boolean wide = insn instanceof VarInsnNode && ((VarInsnNode) insn).var > 3;
            size += insn instanceof VarInsnNode ? (wide ? 2 : 1) : 3;
        }
        for (AbstractInsnNode insn : method.instructions.toArray()) {
            hasSwitch |= insn.getOpcode() == TABLESWITCH || insn.getOpcode() == LOOKUPSWITCH;
        }
        for (; hasSwitch && size % 4 != 0; size++) {
            entry.add(new InsnNode(NOP));
        }
    }

    private static InsnList before(MethodNode method, AbstractInsnNode insn) {
        switch (insn.getOpcode()) {
            case ARETURN:
                return call("exit", ID, new InsnNode(DUP));
            case ATHROW:
                return call("thrown", ID, new InsnNode(DUP));
            case RETURN:
                return method.name.equals("<init>") && keepsThis(method)
                        ? call("construct", ID, new VarInsnNode(ALOAD, 0))
                        : null;
            default:
                return null;
        }
    }

    /**
     * May `this` be loaded at each return of the constructor? Not if local 0 is stored to, nor if a
     * frame has dropped it (ProGuard's do, once it is not used any more); we leave that call out.
     */
    private static boolean keepsThis(MethodNode method) {
        int locals = 1 + Type.getArgumentTypes(method.desc).length;
        for (AbstractInsnNode insn : method.instructions.toArray()) {
            if (insn instanceof VarInsnNode && ((VarInsnNode) insn).var == 0
                    && insn.getOpcode() >= ISTORE && insn.getOpcode() <= ASTORE) {
                return false;
            }
            if (!(insn instanceof FrameNode)) {
                continue;
            }
            FrameNode frame = (FrameNode) insn;
            if (frame.type == F_FULL) {
                Object first = frame.local.isEmpty() ? TOP : frame.local.get(0);
                if (!(first instanceof String || first == NULL || first == UNINITIALIZED_THIS)) {
                    return false;
                }
                locals = frame.local.size();
            } else if (frame.type == F_CHOP) {
                locals -= frame.local.size();
            } else if (frame.type == F_APPEND) {
                locals += frame.local.size();
            }
            if (locals < 1) {
                return false;
            }
        }
        return true;
    }

    private static boolean returnsReference(AbstractInsnNode insn) {
        String descriptor;
        if (insn instanceof MethodInsnNode) {
            descriptor = ((MethodInsnNode) insn).desc;
        } else if (insn instanceof InvokeDynamicInsnNode) {
            descriptor = ((InvokeDynamicInsnNode) insn).desc;
        } else {
            return false;
        }
        return isReference(Type.getReturnType(descriptor));
    }

    private static boolean discarded(AbstractInsnNode insn) {
        AbstractInsnNode next = insn.getNext();
        while (next != null && next.getOpcode() < 0) {
            next = next.getNext();
        }
        return next == null || next.getOpcode() == ARETURN || next.getOpcode() == POP;
    }

    /** Code before pc 0; what debug tables say of pc 0 is now true from the first byte on. */
    private static void prepend(MethodNode method, InsnList entry) {
        LabelNode first = new LabelNode();
        Set<LabelNode> atZero = new HashSet<>();
        InsnList head = new InsnList();
        head.add(first);
        for (AbstractInsnNode insn = method.instructions.getFirst();
                insn != null && insn.getOpcode() < 0;
                insn = insn.getNext()) {
            if (insn instanceof LabelNode) {
                atZero.add((LabelNode) insn);
            }
        }
        for (AbstractInsnNode insn : method.instructions.toArray()) {
            if (insn instanceof LineNumberNode
                    && atZero.contains(((LineNumberNode) insn).start)) {
                method.instructions.remove(insn);
                head.add(new LineNumberNode(((LineNumberNode) insn).line, first));
            }
        }
        if (method.localVariables != null) {
            for (LocalVariableNode variable : method.localVariables) {
                if (atZero.contains(variable.start)) {
                    variable.start = first;
                }
            }
        }
        moveToFirst(method.visibleLocalVariableAnnotations, atZero, first);
        moveToFirst(method.invisibleLocalVariableAnnotations, atZero, first);
        head.add(entry);
        method.instructions.insert(head);
    }

    private static void moveToFirst(List<LocalVariableAnnotationNode> annotations,
            Set<LabelNode> atZero, LabelNode first) {
        if (annotations == null) {
            return;
        }
        for (LocalVariableAnnotationNode annotation : annotations) {
            annotation.start.replaceAll(label -> atZero.contains(label) ? first : label);
        }
    }
}
