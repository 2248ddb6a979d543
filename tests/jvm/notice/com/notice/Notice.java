package com.notice;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.ObjectStreamField;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.Serializable;
import java.io.StringWriter;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Enumeration;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;

/**
 * Prints all that a program can see of classes which we rewrite: the same, byte by byte, with and
 * without us. Sections by name: traces nulls endings reflection streams handles. What differs and is
 * meant to has a program of its own, World.
 */
public final class Notice {
    static final PrintStream OUT = System.out;

    private Notice() {
    }

    public static void main(String[] args) throws Exception {
        for (String section : args) {
            OUT.println("==== " + section);
            switch (section) {
            case "traces" -> traces();
            case "nulls" -> nulls();
            case "endings" -> endings();
            case "reflection" -> reflection();
            case "streams" -> streams();
            case "read" -> read();
            case "handles" -> handles();
            default -> throw new IllegalArgumentException(section);
            }
        }
    }

    static ByteBuf four() {
        return Unpooled.wrappedBuffer(new byte[4]);
    }

    /** Without what is another one in each process: hashes and the numbers of hidden classes. */
    static String plain(Object o) {
        return String.valueOf(o).replaceAll("@[0-9a-f]{4,}", "@#")
                .replaceAll("0x[0-9a-f]{8,}", "0x#").replaceAll("\\$\\$Lambda/?\\d*", "\\$\\$Lambda");
    }

    static String trace(Throwable t) {
        StringWriter text = new StringWriter();
        t.printStackTrace(new PrintWriter(text));
        return plain(text);
    }

    interface Body {
        Object call() throws Throwable;
    }

    static void attempt(String name, Body body) {
        try {
            OUT.println(name + " -> " + plain(body.call()));
        } catch (Throwable t) {
            OUT.println(name + " threw " + trace(t));
        }
    }

    // ---- stack traces ----

    static void traces() {
        attempt("recursion", () -> Subject.thrown(four(), 3));
        attempt("lambda", () -> Subject.lambda(four()));
        attempt("method reference", () -> Subject.reference(four()));
        attempt("anonymous class", () -> Subject.anonymous(four()));
        attempt("many lines", () -> Subject.manyLines(four()));
        attempt("constructor", () -> new Subject.Square(four(), 1, 2, 3));
        attempt("before super()", () -> new Subject.Cube(null));
        attempt("record", () -> new Subject.Pair(null, null));
        attempt("static initialiser", () -> Subject.Broken.N);
        attempt("and again", () -> Subject.Broken.N);
        attempt("default method", () -> new Subject.Round().draw(Unpooled.EMPTY_BUFFER));
        attempt("enum constant", () -> Subject.Kind.COPIED.make(null));
        attempt("reflection", () -> Subject.class.getDeclaredMethod("thrown", ByteBuf.class, int.class)
                .invoke(null, four(), 2));
        attempt("released", () -> {
            ByteBuf b = four();
            b.release();
            return b.readByte();
        });
        attempt("released twice", () -> {
            ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(10);
            b.release();
            return b.release();
        });
        attempt("retained too late", () -> {
            ByteBuf b = PooledByteBufAllocator.DEFAULT.heapBuffer(10);
            b.release();
            return b.retain();
        });
        attempt("out of bounds", () -> four().slice(1, 2).getInt(0));
        attempt("composite", () -> Unpooled.compositeBuffer().addComponent(four()).getByte(7));
        attempt("unpooled limit", () -> Unpooled.buffer(4, 8).writeLong(1).writeByte(1));
        pipeline();
        walk(four());
        new Walker().walk(four(), 2);
    }

    static void pipeline() {
        for (boolean decoder : new boolean[] {false, true}) {
            EmbeddedChannel channel = new EmbeddedChannel();
            channel.pipeline().addLast(decoder ? new ByteToMessageDecoder() {
                @Override
                protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
                    out.add(in.readRetainedSlice(2));
                    Subject.thrown(in, 1);
                }
            } : new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object message) {
                    Subject.thrown((ByteBuf) message, 1);
                }
            });
            attempt(decoder ? "decoder" : "handler", () -> channel.writeInbound(four()));
            attempt("channel", channel::finishAndReleaseAll);
        }
    }

    /** Byte code positions do move; lines, names and descriptors must not. */
    static ByteBuf walk(ByteBuf b) {
        for (StackWalker.Option option : List.of(StackWalker.Option.RETAIN_CLASS_REFERENCE,
                StackWalker.Option.SHOW_REFLECT_FRAMES, StackWalker.Option.SHOW_HIDDEN_FRAMES))
            OUT.println(option + " " + StackWalker.getInstance(EnumSet.of(option,
                    StackWalker.Option.RETAIN_CLASS_REFERENCE)).walk(frames -> frames.map(f ->
                    plain(f.getDeclaringClass() + " " + f.getMethodName() + f.getDescriptor() + " "
                            + f.getFileName() + ":" + f.getLineNumber() + " " + f.isNativeMethod()))
                    .collect(Collectors.joining("\n  "))));
        return b;
    }

    static final class Walker {
        ByteBuf walk(ByteBuf b, int depth) {
            Supplier<ByteBuf> inner = () -> depth == 0 ? Notice.walk(b) : walk(b, depth - 1);
            try {
                return (ByteBuf) Supplier.class.getMethod("get").invoke(inner);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            } finally {
                OUT.println(Arrays.stream(Thread.currentThread().getStackTrace()).map(Notice::plain)
                        .collect(Collectors.joining("\n  ", "finally ", "")));
                OUT.println(StackWalker.getInstance(
                        StackWalker.Option.RETAIN_CLASS_REFERENCE).getCallerClass());
            }
        }
    }

    // ---- messages that describe byte code ----

    static void nulls() {
        int i = 0;
        for (Supplier<Object> test : Subject.nulls(null, four()))
            attempt("null " + i++, test::get);
    }

    static void endings() {
        for (int how = 0; how <= 8; how++) {
            StringBuilder log = new StringBuilder();
            int way = how;
            attempt("ending " + how, () -> Subject.ending(four(), way, log));
            OUT.println(log);
        }
        StringBuilder log = new StringBuilder();
        attempt("resources", () -> {
            Subject.resources(four(), log);
            return null;
        });
        OUT.println(log);
        attempt("heap", () -> Unpooled.buffer(Integer.MAX_VALUE).capacity());
        attempt("direct", () -> PooledByteBufAllocator.DEFAULT.directBuffer(1 << 30).release());
        attempt("monitor", () -> {
            ByteBuf b = four();
            Object bridged = new Subject.Cube(b).bridge(b);
            return Thread.holdsLock(bridged);
        });
    }

    // ---- reflection ----

    static List<Class<?>> classes() throws Exception {
        TreeSet<String> names = new TreeSet<>();
        String[] path = System.getProperty("java.class.path").split(File.pathSeparator);
        for (String part : path)
            if (part.contains("netty-") && part.endsWith(".jar"))
                try (JarFile jar = new JarFile(part)) {
                    for (Enumeration<JarEntry> e = jar.entries(); e.hasMoreElements();)
                        names.add(e.nextElement().getName());
                }
        names.removeIf(n -> !n.matches("io/netty/(buffer|channel|handler/codec)/[^/]*\\.class"));
        Path own = Path.of(path[0], "com/notice");
        try (var files = Files.list(own)) {
            files.map(f -> "com/notice/" + f.getFileName()).filter(n -> n.endsWith(".class"))
                    .forEach(names::add);
        }
        List<Class<?>> found = new ArrayList<>();
        for (String name : names)
            try {
                found.add(Class.forName(name.replace('/', '.').replace(".class", ""), false,
                        Notice.class.getClassLoader()));
            } catch (LinkageError e) {
                OUT.println(name + ": " + e);
            }
        return found;
    }

    static void reflection() throws Exception {
        for (Class<?> c : classes())
            try {
                describe(c);
            } catch (LinkageError | TypeNotPresentException e) {
                OUT.println("  not to be linked: " + plain(e));
            }
    }

    static void describe(Class<?> c) throws Exception {
        OUT.println(c.toGenericString() + " " + Integer.toHexString(c.getModifiers()) + " "
                + c.isSynthetic() + c.isSealed() + c.isRecord() + " in " + c.getEnclosingClass() + " "
                + c.getEnclosingMethod() + " host " + c.getNestHost() + " super "
                + c.getGenericSuperclass() + " " + Arrays.toString(c.getGenericInterfaces()));
        OUT.println("  bytes " + digest(c) + " uid " + uid(c));
        lines("nest", c.getNestMembers(), Class::toString);
        lines("inner", c.getDeclaredClasses(), Class::toString);
        lines("permits", c.isSealed() ? c.getPermittedSubclasses() : new Class<?>[0], Class::toString);
        lines("component", c.isRecord() ? c.getRecordComponents() : new Object[0],
                r -> r + " " + notes((AnnotatedElement) r));
        for (Field f : c.getDeclaredFields()) // in the order of the class file
            OUT.println("  field " + f.toGenericString() + " " + Integer.toHexString(f.getModifiers())
                    + " " + f.isSynthetic() + notes(f));
        lines("method", c.getDeclaredMethods(), Notice::signature);
        lines("constructor", c.getDeclaredConstructors(), Notice::signature);
        OUT.println("  " + notes(c));
    }

    static <T> void lines(String what, T[] things, java.util.function.Function<T, String> text) {
        Arrays.stream(things).map(text).sorted().forEach(t -> OUT.println("  " + what + " " + t));
    }

    static String notes(AnnotatedElement e) {
        return " " + Arrays.toString(e.getDeclaredAnnotations());
    }

    static String signature(Executable e) {
        StringBuilder text = new StringBuilder(e.toGenericString() + " "
                + Integer.toHexString(e.getModifiers()) + e.isVarArgs() + e.isSynthetic() + notes(e));
        if (e instanceof Method m)
            text.append(m.isBridge()).append(m.isDefault()).append(m.getDefaultValue() == null);
        for (Parameter p : e.getParameters())
            text.append(' ').append(p).append(p.isNamePresent()).append(p.getModifiers())
                    .append(notes(p)).append(p.getAnnotatedType());
        return text.toString();
    }

    /** The class file as a resource: bytes as they are in the jar. */
    static String digest(Class<?> c) throws Exception {
        String name = c.getName().substring(c.getName().lastIndexOf('.') + 1) + ".class";
        try (InputStream in = c.getResourceAsStream(name)) {
            return in == null ? "none" : java.util.HexFormat.of().formatHex(
                    MessageDigest.getInstance("SHA-256").digest(in.readAllBytes())).substring(0, 16);
        }
    }

    /** The computed uid counts fields, methods and constructors: of everything, Serializable or not. */
    static String uid(Class<?> c) {
        ObjectStreamClass stream = ObjectStreamClass.lookupAny(c);
        return stream.getSerialVersionUID() + " " + computed(c) + " "
                + Arrays.stream(stream.getFields()).map(ObjectStreamField::toString).toList();
    }

    private static String computed(Class<?> c) {
        try {
            Method m = ObjectStreamClass.class.getDeclaredMethod("computeDefaultSUID", Class.class);
            m.setAccessible(true);
            return m.invoke(null, c).toString();
        } catch (ReflectiveOperationException | RuntimeException e) {
            return plain(e);
        }
    }

    // ---- serialization ----

    static void streams() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            for (Object o : storable())
                out.writeObject(o);
        }
        Files.write(Path.of("objects.ser"), bytes.toByteArray());
        OUT.println(java.util.HexFormat.of().formatHex(bytes.toByteArray()));
        read(new ByteArrayInputStream(bytes.toByteArray()));
    }

    static List<Object> storable() {
        List<Object> list = new ArrayList<>();
        list.add(new Subject.Stored(four(), "stored"));
        list.add(Subject.Kind.COPIED);
        list.add(new Subject.Stored[] {new Subject.Stored(four(), "in an array")});
        list.add((Serializable & Supplier<String>) () -> "a lambda");
        list.add(new io.netty.util.IllegalReferenceCountException(3, -1).getMessage());
        list.add(new io.netty.handler.codec.DecoderException("of Netty's"));
        ((Throwable) list.get(5)).setStackTrace(new StackTraceElement[0]);
        return list;
    }

    /** What another JVM wrote: with us or without us. */
    static void read() throws Exception {
        try (InputStream in = Files.newInputStream(Path.of("../objects.ser"))) {
            read(in);
        }
    }

    static void read(InputStream from) throws Exception {
        try (ObjectInputStream in = new ObjectInputStream(from)) {
            for (int i = 0; i < 6; i++) {
                Object o = in.readObject();
                OUT.println(o instanceof Subject.Stored s ? s.number + " " + s.buf()
                        : o instanceof Supplier<?> f ? f.get() : plain(o));
            }
        }
    }

    // ---- handles, proxies, hidden classes ----

    interface Port {
        ByteBuf take(ByteBuf b, int n);
    }

    public static final class Hidden {
        public static ByteBuf take(ByteBuf b) {
            if (b.readByte() == 0)
                throw new IllegalStateException("thrown in a hidden class");
            return b;
        }
    }

    static void handles() throws Exception {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodType type = MethodType.methodType(ByteBuf.class, ByteBuf.class);
        MethodHandle nothing = lookup.findStatic(Subject.class, "nothing", type);
        attempt("handle", () -> (ByteBuf) nothing.invokeExact(four()));
        OUT.println(nothing.type() + " " + lookup.revealDirect(nothing));
        MethodHandle thrown = lookup.findStatic(Subject.class, "thrown",
                MethodType.methodType(int.class, ByteBuf.class, int.class));
        attempt("caught", () -> (int) MethodHandles.catchException(thrown,
                IllegalStateException.class, MethodHandles.dropArguments(MethodHandles.constant(
                        int.class, -7), 0, IllegalStateException.class)).invokeExact(four(), 2));
        OUT.println(lookup.findVarHandle(Subject.Stored.class, "number", int.class).varType());
        InvocationHandler handler = (self, method, args) -> Subject.thrown((ByteBuf) args[0], 1);
        Port port = (Port) Proxy.newProxyInstance(Notice.class.getClassLoader(),
                new Class<?>[] {Port.class}, handler);
        attempt("proxy", () -> port.take(four(), 1));
        byte[] file;
        try (InputStream in = Notice.class.getResourceAsStream("Notice$Hidden.class")) {
            file = in.readAllBytes();
        }
        Class<?> hidden = MethodHandles.lookup().defineHiddenClass(file, true).lookupClass();
        OUT.println(plain(hidden) + " " + hidden.isHidden() + " "
                + plain(Arrays.toString(hidden.getDeclaredMethods())));
        attempt("hidden", () -> hidden.getMethod("take", ByteBuf.class).invoke(null, four()));
        attempt("allocator", () -> ByteBufAllocator.DEFAULT.getClass());
        records();
    }

    static void records() {
        ByteBuf b = four();
        OUT.println(new Subject.Pair(b, b) + " " + new Subject.Pair(b, null).equals(
                new Subject.Pair(b, null)) + " " + new Subject.Pair(b, null).hashCode());
        OUT.println(Subject.Kind.valueOf("PLAIN").make(b) == b);
        OUT.println(Modifier.toString(Subject.Cube.class.getModifiers()) + new Subject.Cube(b).kept);
    }
}
