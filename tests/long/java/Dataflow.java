// Dataflow: which parameters do the methods of Netty keep, return, release, give away, and which do they only borrow?
//   java -Dinclude=io/netty/ -cp ASM:. Dataflow OUT JAR...
// One full dataflow (ASM's Analyzer: frames merged at every edge, loops to their fixpoint) for each method, closed over calls. The oracle
// of tests/long/owner-facts, beside the linear pass of classfile/params_method.c. Found by the study behind ADR 44.
import org.objectweb.asm.*;
import org.objectweb.asm.tree.*;
import org.objectweb.asm.tree.analysis.*;
import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.zip.*;

public class Dataflow {
    static final int K = 1, T = 2, R = 4, N = 8, U = 16, G = 32; // keeps, returns, releases, retains, unknown, gives (pipeline)
    static final class V implements Value {
        final int size; final BitSet o;
        V(int s, BitSet o) { size = s; this.o = o; }
        public int getSize() { return size; }
        public boolean equals(Object x) { return x instanceof V v && v.size == size && Objects.equals(v.o, o); }
        public int hashCode() { return size; }
    }
    static final V ONE = new V(1, null), TWO = new V(2, null);
    static final class Call { String owner, name, desc; int op, result = -1; BitSet[] args; int[] argOrigin; }
    static final class M {
        ClassNode c; MethodNode m; String id; int params; // origins 0..params-1 = parameters (receiver first)
        String[] kind; int n; int[] direct; List<Call> calls = new ArrayList<>(); String[] type;
        int[] flags; boolean bad;
    }
    static Map<String, ClassNode> classes = new HashMap<>();
    static Map<String, List<String>> subs = new HashMap<>();
    static Map<String, M> methods = new HashMap<>();
    static Map<String, Set<String>> supersMemo = new HashMap<>();
    static Set<String> family = new HashSet<>(); // may be a buffer or hold one

    static Set<String> supers(String c) {
        Set<String> s = supersMemo.get(c);
        if (s != null) return s;
        s = new HashSet<>(); supersMemo.put(c, s); s.add(c);
        ClassNode n = classes.get(c);
        if (n != null) { if (n.superName != null) s.addAll(supers(n.superName)); for (String i : n.interfaces) s.addAll(supers(i)); }
        return s;
    }
    static boolean isA(String c, String suffix) { for (String s : supers(c)) if (s.endsWith(suffix)) return true; return false; }
    static boolean buf(String c) { return c != null && isA(c, "netty/buffer/ByteBuf"); }
    static boolean counted(String c) { return c != null && isA(c, "netty/util/ReferenceCounted"); }
    static boolean relevant(Type t) {
        if (t.getSort() != Type.OBJECT) return false;
        String n = t.getInternalName();
        return n.equals("java/lang/Object") || family.contains(n);
    }
    static M resolve(String owner, String name, String desc) {
        for (String c = owner; c != null; ) { M m = methods.get(c + "." + name + desc); if (m != null) return m; ClassNode n = classes.get(c); c = n == null ? null : n.superName; }
        for (String i : supers(owner)) { M m = methods.get(i + "." + name + desc); if (m != null) return m; }
        return null;
    }
    static Set<String> below(String c) { Set<String> s = new LinkedHashSet<>(); Deque<String> d = new ArrayDeque<>(List.of(c)); while (!d.isEmpty()) { String x = d.pop(); if (s.add(x)) d.addAll(subs.getOrDefault(x, List.of())); } return s; }
    // -Dinclude=io/netty/handler,..: look only into these classes, and call targets are found by name and descriptor alone (what an agent sees)
    static final String[] INCLUDE = System.getProperty("include") == null ? null : System.getProperty("include").split(",");
    static final java.util.regex.Pattern TAKES = java.util.regex.Pattern.compile("(write|send|fire|add|put|offer|push|enqueue|queue|submit|set|release|close|complete|onNext|emit).*");
    static boolean included(String c) { if (INCLUDE == null) return true; for (String i : INCLUDE) if (c.startsWith(i)) return true; return false; }
    static Map<String, List<M>> byName = new HashMap<>();
    static Map<String, List<M>> allMemo = new HashMap<>(), declMemo = new HashMap<>();
    static List<M> targets(Call c, boolean all) {
        boolean virt = c.op == Opcodes.INVOKEVIRTUAL || c.op == Opcodes.INVOKEINTERFACE;
        String key = (virt ? "v" : "s") + c.owner + "." + c.name + c.desc;
        return (all && virt ? allMemo : declMemo).computeIfAbsent(key, k -> {
            List<M> l = new ArrayList<>();
            if (INCLUDE != null) { if (c.name.equals("<init>") || !virt) { M m = resolve(c.owner, c.name, c.desc); if (m != null && included(m.c.name)) l.add(m); } else l.addAll(byName.getOrDefault(c.name + c.desc, List.of())); return l; }
            M m = resolve(c.owner, c.name, c.desc);
            if (m != null && (m.m.access & Opcodes.ACC_ABSTRACT) == 0) l.add(m);
            if (all && virt) for (String s : below(c.owner)) { M x = methods.get(s + "." + c.name + c.desc); if (x != null && x != m && (x.m.access & Opcodes.ACC_ABSTRACT) == 0) l.add(x); }
            return l; });
    }
    // ---- what is known without looking: flags, or -1 = look into the callee; ALIAS = the result is the same resource
    static final int ALIAS = 1 << 20;
    static int model(Call c, int arg, boolean isStatic) {
        String o = c.owner, n = c.name, d = c.desc;
        boolean recv = arg == 0 && !isStatic;
        if (recv && (n.equals("release") && (d.endsWith(")Z")))) return R;
        if (recv && n.equals("retain")) return N | ALIAS;
        if (recv && n.equals("touch")) return ALIAS;
        if (buf(o)) {
            if (recv) {
                if (!d.contains(")L") || n.equals("copy") || n.equals("readBytes") && d.startsWith("(I)") || n.startsWith("retained") || n.equals("readRetainedSlice") || n.equals("alloc")) return 0;
                Type r = Type.getReturnType(d); return r.getSort() == Type.OBJECT && (buf(r.getInternalName())) ? ALIAS : 0;
            }
            if (n.startsWith("addComponent") || n.startsWith("addFlattened")) return K;
            if (n.equals("<init>")) return -1;
            return 0;
        }
        if (recv && counted(o) && n.equals("content") && d.startsWith("()")) return ALIAS;
        if (recv && counted(o) && (n.equals("copy") || n.equals("duplicate") || n.equals("retainedDuplicate") || n.equals("replace"))) return 0;
        if (recv && n.equals("<init>")) return 0;
        if (o.endsWith("netty/util/ReferenceCountUtil")) return n.equals("release") || n.equals("safeRelease") || n.equals("releaseLater") ? R | (n.equals("releaseLater") ? ALIAS : 0) : n.equals("retain") ? N | ALIAS : n.equals("touch") ? ALIAS : 0;
        if (o.endsWith("netty/util/internal/ObjectUtil")) return ALIAS;
        if (!recv && (isA(o, "netty/channel/ChannelInboundInvoker") || isA(o, "netty/channel/ChannelOutboundInvoker")) && (n.startsWith("fire") || n.startsWith("write"))) return G;
        if (o.contains("/logging/") || o.endsWith("Logger")) return 0;
        if (o.startsWith("java/") || o.startsWith("javax/") || o.startsWith("[")) {
            if (recv || o.startsWith("[")) return 0;
            if (n.equals("requireNonNull")) return ALIAS;
            if (n.startsWith("add") || n.startsWith("offer") || n.startsWith("put") || n.equals("set") || n.equals("push") || n.equals("compareAndSet") || n.equals("getAndSet") || n.startsWith("submit") || n.equals("execute") || n.equals("<init>")) return K;
            if (n.equals("equals") || n.equals("valueOf") || n.equals("append") || n.startsWith("print") || n.equals("identityHashCode") || n.equals("cast") || n.equals("isInstance") || n.startsWith("remove") || n.startsWith("contains") || n.equals("get") || n.equals("hash") || n.equals("toString")) return n.equals("cast") ? ALIAS : 0;
            return U;
        }
        if (recv && (n.equals("getClass") || n.equals("hashCode") || n.equals("equals") || n.equals("toString"))) return 0;
        return -1;
    }
    static BitSet or(BitSet a, BitSet b) { if (a == null || a.equals(b)) return b == null ? a : b; if (b == null) return a; BitSet r = (BitSet) a.clone(); r.or(b); return r; }
    static BitSet one(int i) { BitSet b = new BitSet(); b.set(i); return b; }

    static final class I extends Interpreter<V> {
        final M m; final Map<AbstractInsnNode, Integer> origin = new IdentityHashMap<>(); final List<String> kinds = new ArrayList<>(), types = new ArrayList<>(); int param = 0; boolean isStatic;
        I(M m) { super(Opcodes.ASM9); this.m = m; isStatic = (m.m.access & Opcodes.ACC_STATIC) != 0; }
        V of(Type t) { return t == null ? ONE : t.getSize() == 2 ? TWO : ONE; }
        public V newValue(Type t) { return t == Type.VOID_TYPE ? null : of(t); }
        public V newParameterValue(boolean inst, int local, Type t) {
            int i = kinds.size(); kinds.add("P"); types.add(t.getDescriptor());
            return inst || relevant(t) ? new V(t.getSize(), one(i)) : of(t);
        }
        V made(AbstractInsnNode n, String kind, Type t) {
            Integer i = origin.get(n);
            if (i == null) { i = kinds.size(); origin.put(n, i); kinds.add(kind); types.add(t.getDescriptor()); }
            return new V(1, one(i));
        }
        public V newOperation(AbstractInsnNode n) {
            switch (n.getOpcode()) {
                case Opcodes.LCONST_0: case Opcodes.LCONST_1: case Opcodes.DCONST_0: case Opcodes.DCONST_1: return TWO;
                case Opcodes.LDC: Object c = ((LdcInsnNode) n).cst; return c instanceof Long || c instanceof Double ? TWO : ONE;
                case Opcodes.GETSTATIC: Type t = Type.getType(((FieldInsnNode) n).desc); return relevant(t) ? made(n, "F", t) : of(t);
                case Opcodes.NEW: return made(n, "W", Type.getObjectType(((TypeInsnNode) n).desc));
            } return ONE;
        }
        public V copyOperation(AbstractInsnNode n, V v) { return v; }
        public V unaryOperation(AbstractInsnNode n, V v) {
            switch (n.getOpcode()) {
                case Opcodes.LNEG: case Opcodes.DNEG: case Opcodes.I2L: case Opcodes.I2D: case Opcodes.L2D: case Opcodes.F2L: case Opcodes.F2D: case Opcodes.D2L: return TWO;
                case Opcodes.GETFIELD: Type t = Type.getType(((FieldInsnNode) n).desc); return relevant(t) ? made(n, "F", t) : of(t);
                case Opcodes.CHECKCAST: return v;
            } return ONE;
        }
        public V binaryOperation(AbstractInsnNode n, V a, V b) {
            switch (n.getOpcode()) {
                case Opcodes.LALOAD: case Opcodes.DALOAD: case Opcodes.LADD: case Opcodes.DADD: case Opcodes.LSUB: case Opcodes.DSUB: case Opcodes.LMUL: case Opcodes.DMUL: case Opcodes.LDIV: case Opcodes.DDIV:
                case Opcodes.LREM: case Opcodes.DREM: case Opcodes.LSHL: case Opcodes.LSHR: case Opcodes.LUSHR: case Opcodes.LAND: case Opcodes.LOR: case Opcodes.LXOR: return TWO;
                case Opcodes.AALOAD: return made(n, "E", Type.getObjectType("java/lang/Object"));
            } return ONE;
        }
        public V ternaryOperation(AbstractInsnNode n, V a, V b, V c) { return ONE; }
        public V naryOperation(AbstractInsnNode n, List<? extends V> args) {
            if (n instanceof MethodInsnNode x) {
                Type r = Type.getReturnType(x.desc);
                boolean st = n.getOpcode() == Opcodes.INVOKESTATIC; BitSet o = null;
                if (r.getSort() == Type.OBJECT) {
                    Call c = new Call(); c.owner = x.owner; c.name = x.name; c.desc = x.desc;
                    for (int i = 0; i < args.size(); i++) if (args.get(i).o != null) { int f = model(c, i, st); if (f >= 0 && (f & ALIAS) != 0) o = or(o, args.get(i).o); }
                    if (relevant(r)) { BitSet mine = made(n, "C", r).o; o = o == null ? mine : o; }
                }
                return new V(Math.max(1, r.getSize()), o);
            }
            if (n instanceof InvokeDynamicInsnNode d) return of(Type.getReturnType(d.desc));
            return ONE;
        }
        public void returnOperation(AbstractInsnNode n, V v, V e) {}
        public V merge(V a, V b) { if (a.equals(b)) return a; return new V(Math.min(a.size, b.size), or(a.o, b.o)); }
    }
    static void use(M m, BitSet o, int f) { if (o != null) for (int i = o.nextSetBit(0); i >= 0; i = o.nextSetBit(i + 1)) m.direct[i] |= f; }

    static M facts(ClassNode c, MethodNode mn) {
        M m = new M(); m.c = c; m.m = mn; m.id = c.name + "." + mn.name + mn.desc;
        m.params = Type.getArgumentTypes(mn.desc).length + ((mn.access & Opcodes.ACC_STATIC) != 0 ? 0 : 1);
        m.flags = m.direct = new int[m.params]; m.n = m.params;
        return m;
    }
    static void analyse(M m) {
        if (m.m.instructions.size() == 0) { m.direct = new int[m.params]; m.kind = new String[m.params]; Arrays.fill(m.kind, "P"); m.type = new String[m.params]; Arrays.fill(m.type, ""); return; }
        I in = new I(m); Frame<V>[] fr;
        try { fr = new Analyzer<V>(in).analyze(m.c.name, m.m); } catch (Exception e) { m.bad = true; m.direct = new int[m.params]; m.kind = new String[m.params]; Arrays.fill(m.kind, "P"); m.type = m.kind; return; }
        m.n = in.kinds.size(); m.direct = new int[m.n]; m.kind = in.kinds.toArray(new String[0]); m.type = in.types.toArray(new String[0]);
        AbstractInsnNode[] code = m.m.instructions.toArray();
        for (int i = 0; i < code.length; i++) {
            Frame<V> f = fr[i]; if (f == null) continue;
            AbstractInsnNode n = code[i]; int s = f.getStackSize();
            collect(m, n, s > 0 ? f.getStack(s - 1) : null, k -> f.getStack(s - 1 - k), in.origin.getOrDefault(n, -1));
        }
    }
    interface Stack { V at(int depth); }
    static void collect(M m, AbstractInsnNode n, V top, Stack st, int result) {
        switch (n.getOpcode()) {
            case Opcodes.PUTFIELD: case Opcodes.PUTSTATIC: case Opcodes.AASTORE: use(m, top.o, K); return;
            case Opcodes.ARETURN: use(m, top.o, T); return;
            case Opcodes.INVOKEDYNAMIC: {
                InvokeDynamicInsnNode d = (InvokeDynamicInsnNode) n; if (d.bsm.getOwner().equals("java/lang/invoke/StringConcatFactory")) return;
                int k = Type.getArgumentTypes(d.desc).length; for (int a = 0; a < k; a++) use(m, st.at(a).o, K); return; }
            case Opcodes.INVOKEVIRTUAL: case Opcodes.INVOKEINTERFACE: case Opcodes.INVOKESPECIAL: case Opcodes.INVOKESTATIC: {
                MethodInsnNode x = (MethodInsnNode) n; boolean stat = n.getOpcode() == Opcodes.INVOKESTATIC;
                int k = Type.getArgumentTypes(x.desc).length + (stat ? 0 : 1); Call c = null; boolean any = false;
                c = new Call(); c.owner = x.owner; c.name = x.name; c.desc = x.desc; c.op = n.getOpcode(); c.args = new BitSet[k]; c.result = result;
                for (int a = 0; a < k; a++) { V v = st.at(k - 1 - a); if (v != null && v.o != null) { c.args[a] = v.o; any = true; } }
                m.calls.add(c); return; }
        }
    }
    // ---- the closure ----
        static int step(M m, boolean all, int unknown, boolean ctorKeeps, boolean cha) {
        int[] f = m.flags; int changed = 0;
        for (int again = 1; again == 1; ) {
            again = 0;
            for (Call c : m.calls) {
                boolean stat = c.op == Opcodes.INVOKESTATIC;
                for (int a = 0; a < c.args.length; a++) {
                    if (c.args[a] == null) continue;
                    int g = model(c, a, stat);
                    if (g < 0) {
                        if (ctorKeeps && c.name.equals("<init>")) g = K;
                        else {
                            List<M> l = targets(c, all);
                            g = l.isEmpty() ? INCLUDE != null ? TAKES.matcher(c.name).matches() && !c.name.endsWith("setBytes") || c.name.equals("<init>") ? K : 0 : unknown : 0;
                            for (M t : l) if (a < t.flags.length) g |= t.flags[a];
                            if (INCLUDE == null && !all && l.isEmpty()) g = unknown;
                        }
                        if ((g & T) != 0) { g &= ~T; if (c.result >= 0) g |= f[c.result]; }
                    } else { g &= ~ALIAS; if ((g & U) != 0) g = (g & ~U) | unknown; }
                    if (g == 0) continue;
                    for (int i = c.args[a].nextSetBit(0); i >= 0; i = c.args[a].nextSetBit(i + 1)) if ((f[i] | g) != f[i]) { f[i] |= g; changed = 1; again = 1; }
                }
            }
        }
        return changed;
    }
    static int close(Collection<M> ms, boolean all, int unknown, boolean ctorKeeps) {
        for (M m : ms) m.flags = m.direct.clone();
        int rounds = 0; boolean more = true;
        while (more && rounds < 100) { more = false; rounds++; for (M m : ms) if (!m.calls.isEmpty() && step(m, all, unknown, ctorKeeps, true) != 0) more = true; }
        return rounds;
    }
    static String text(int f) { if (f == 0) return "-"; StringBuilder b = new StringBuilder(); String n = "KTRNUG"; for (int i = 0; i < 6; i++) if ((f >> i & 1) != 0) b.append(n.charAt(i)); return b.toString(); }

    public static void main(String[] a) throws Exception {
        List<byte[]> raw = new ArrayList<>();
        for (int i = 1; i < a.length; i++) {
            Path p = Path.of(a[i]);
            if (Files.isDirectory(p)) { try (var w = Files.walk(p)) { for (Path x : (Iterable<Path>) w::iterator) if (x.toString().endsWith(".class")) raw.add(Files.readAllBytes(x)); } continue; }
            try (ZipFile z = new ZipFile(a[i])) { for (var e = z.entries(); e.hasMoreElements(); ) { ZipEntry x = e.nextElement(); if (x.getName().endsWith(".class") && !x.getName().startsWith("META-INF") && !x.getName().endsWith("module-info.class")) raw.add(z.getInputStream(x).readAllBytes()); } }
        }
        for (byte[] b : raw) { ClassNode c = new ClassNode(); new ClassReader(b).accept(c, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES); classes.putIfAbsent(c.name, c); }
        for (ClassNode c : classes.values()) { if (c.superName != null) subs.computeIfAbsent(c.superName, k -> new ArrayList<>()).add(c.name); for (String i : c.interfaces) subs.computeIfAbsent(i, k -> new ArrayList<>()).add(c.name); }
        for (String c : classes.keySet()) if (counted(c)) family.addAll(supers(c));
        family.remove("java/lang/Object"); family.remove("java/lang/Enum");
        for (ClassNode c : classes.values()) for (MethodNode m : c.methods) { M x = facts(c, m); methods.put(x.id, x); if (INCLUDE != null && included(c.name) && (m.access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_STATIC)) == 0) byName.computeIfAbsent(m.name + m.desc, k -> new ArrayList<>()).add(x); }
        int bad = 0;
        for (M m : methods.values()) { analyse(m); if (m.bad) bad++; }
        Collection<M> ms = methods.values();
        int rounds = close(ms, true, 0, false);
        System.out.printf("# classes %d methods %d bad %d rounds %d%n", classes.size(), ms.size(), bad, rounds);
        try (PrintWriter w = new PrintWriter(a[0])) {
            for (M m : ms) for (int p = 0; p < m.params; p++) {
                String ty = m.type[p];
                if (ty == null || !ty.startsWith("L") || ty.equals("Ljava/lang/Object;") || !family.contains(ty.substring(1, ty.length() - 1))) continue;
                w.println(m.id + "\t" + p + "\t" + text(m.flags[p]));
            }
        }
    }
}
