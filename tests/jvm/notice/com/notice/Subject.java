package com.notice;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.Serializable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;

/** Classes and methods of every form that we rewrite: what Notice looks at. */
final class Subject {
    private Subject() {
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Mark {
        String value() default "none";

        int[] numbers() default {1, 2};
    }

    record Pair(ByteBuf left, @Mark("right") ByteBuf right) {
        Pair {
            if (left == null && right == null)
                throw new IllegalArgumentException("both are null");
        }

        ByteBuf first() {
            return left != null ? left : right;
        }
    }

    enum Kind {
        PLAIN {
            @Override
            ByteBuf make(ByteBuf b) {
                return b;
            }
        },
        COPIED {
            @Override
            ByteBuf make(ByteBuf b) {
                return b.copy();
            }
        };

        abstract ByteBuf make(ByteBuf b);
    }

    sealed interface Shape permits Round, Square {
        default ByteBuf draw(ByteBuf b) {
            return inner(b);
        }

        private ByteBuf inner(ByteBuf b) {
            return b.readByte() == 0 ? null : b;
        }
    }

    static final class Round implements Shape {
    }

    static non-sealed class Square implements Shape {
        protected final transient ByteBuf kept;

        @Mark(numbers = {})
        Square(@Mark final ByteBuf kept, int... rest) throws IllegalStateException {
            super();
            this.kept = kept;
            if (rest.length > 2)
                throw new IllegalStateException("too many: " + rest.length);
        }

        /** A bridge method belongs to it in Cube. */
        <T extends ByteBuf & Comparable<ByteBuf>> List<? super T> generic(T buf, List<T> more)
                throws java.io.IOException {
            List<ByteBuf> list = new ArrayList<>(more);
            list.add(buf);
            return list;
        }

        synchronized Object bridge(ByteBuf b) {
            return b;
        }
    }

    static class Cube extends Square {
        Cube(ByteBuf kept) {
            super(check(kept), 1, 2);
        }

        static ByteBuf check(ByteBuf b) {
            if (b == null)
                throw new IllegalArgumentException("no buffer",
                        new RuntimeException("a cause with a trace of its own"));
            return b;
        }

        @Override
        synchronized ByteBuf bridge(ByteBuf b) {
            return b.retain();
        }
    }

    /** serialVersionUID is computed from names and descriptors, in the stream for ever. */
    static class Stored implements Serializable {
        private transient ByteBuf buf;
        private final String text;
        int number;

        Stored(ByteBuf buf, String text) {
            this.buf = buf;
            this.text = text;
            number = buf.readableBytes();
        }

        static final long COUNT = initial(Unpooled.EMPTY_BUFFER);

        static long initial(ByteBuf b) {
            return b.capacity();
        }

        protected ByteBuf buf() {
            return buf == null ? Unpooled.EMPTY_BUFFER : buf;
        }

        public void take(ByteBuf b, Stored other) {
            buf = b;
        }

        private Object readResolve() {
            return new Stored(Unpooled.wrappedBuffer(new byte[number]), text + " again");
        }
    }

    static class Broken {
        static final int N = Cube.check(null).capacity();

        static void touch(ByteBuf b) {
        }
    }

    // ---- throwing, at known lines ----

    static ByteBuf nothing(ByteBuf b) {
        return null;
    }

    static int thrown(ByteBuf b, int depth) {
        if (depth == 0)
            throw new IllegalStateException("at the bottom: " + b.readableBytes());
        return thrown(b, depth - 1)
                + 1;
    }

    static int lambda(ByteBuf b) {
        Function<ByteBuf, Integer> f = x -> thrown(x,
                1);
        return f.apply(b);
    }

    static int reference(ByteBuf b) {
        BiFunction<ByteBuf, Integer, Integer> f = Subject::thrown;
        return f.apply(b, 1);
    }

    static int anonymous(ByteBuf b) {
        return new Object() {
            int run(ByteBuf inner) {
                return thrown(inner, 0);
            }
        }.run(b);
    }

    static ByteBuf manyLines(ByteBuf b) {
        return Unpooled
                .wrappedBuffer(
                        nothing(
                                b))
                .retainedSlice(
                        1,
                        b.readableBytes())
                .retainedDuplicate();
    }

    static String ending(ByteBuf b, int how, StringBuilder log) {
        try {
            log.append("try ");
            if (how == 0)
                return "returned";
            if (how == 1)
                thrown(b, 2);
            if (how == 2)
                nothing(b).release();
            if (how == 3)
                ((Object[]) new ByteBuf[1])[0] = log;
            if (how == 4)
                return (String) (Object) b;
            if (how == 5)
                synchronized (b) {
                    b.notify();
                    log.notifyAll();
                }
            if (how == 6)
                log.notify();
            if (how == 7)
                return "" + new ByteBuf[-1].length + b;
            return "end";
        } catch (NullPointerException | ArrayStoreException e) {
            log.append("caught ").append(e.getMessage());
            throw new RuntimeException(e);
        } finally {
            log.append(" finally ");
            if (how == 8)
                return "overruled";
        }
    }

    static void resources(ByteBuf b, StringBuilder log) throws Exception {
        try (AutoCloseable first = () -> {
            throw new Exception("first at close");
        }; AutoCloseable second = () -> {
            log.append("second closed ");
            thrown(b, 1);
        }) {
            thrown(b, 0);
        }
    }

    // ---- helpful NullPointerExceptions: each a null of another origin ----

    private ByteBuf field;
    private Subject next;
    private static ByteBuf[] array;

    static List<Supplier<Object>> nulls(ByteBuf absent, ByteBuf there) {
        Subject s = new Subject();
        ByteBuf[] holes = new ByteBuf[2];
        ByteBuf[][] deep = new ByteBuf[2][];
        Integer unboxed = null;
        return List.of(() -> parameter(absent), () -> second(there, absent),
                () -> overwritten(there), () -> local(there), () -> s.field.readByte(),
                () -> s.next.next.field, () -> array[3], () -> holes[1].capacity(),
                () -> deep[1][0].alloc(), () -> nothing(there).slice(), () -> returned(there),
                () -> chain(there), () -> unboxed + there.capacity(),
                () -> { synchronized (nothing(there)) { return 1; } },
                () -> { s.next.field = there; return 1; },
                () -> { throw (RuntimeException) (Object) absent; },
                () -> holes[there.readableBytes() - 4].retain().slice().release(),
                () -> conditional(there, true), () -> wide(1L, 2.0, absent, 3L), () -> s.own(absent),
                () -> taken(there, s));
    }

    static int parameter(ByteBuf p) {
        return p.readByte();
    }

    static int second(ByteBuf p, ByteBuf q) {
        return p.capacity() + q.capacity();
    }

    static int overwritten(ByteBuf p) {
        p = nothing(p);
        return p.capacity();
    }

    static int local(ByteBuf p) {
        ByteBuf made = nothing(p);
        ByteBuf other = made;
        return other.capacity();
    }

    static ByteBuf returned(ByteBuf p) {
        return nothing(p).retain();
    }

    static int chain(ByteBuf p) {
        return nothing(p.duplicate()).retain().retainedSlice().readInt();
    }

    static int conditional(ByteBuf p, boolean yes) {
        return (yes ? nothing(p) : p).capacity();
    }

    static int wide(long a, double d, ByteBuf p, long b) {
        return (int) (a + d + p.readInt() + b);
    }

    int own(ByteBuf p) {
        return field.compareTo(p);
    }

    static Object taken(ByteBuf p, Subject s) {
        s.field = p.copy();
        ByteBuf copy = s.field;
        s.field = null;
        copy.release();
        return s.field.refCnt();
    }

    // ---- stack depth ----

    static int depth;

    static void down(ByteBuf b) {
        depth++;
        down(b);
    }

    static void downAlone() {
        depth++;
        downAlone();
    }

    /** Every level owns a reference and gives it back, however it ends. */
    static void owning(ByteBuf b) {
        ByteBuf mine = b.retain();
        try {
            depth++;
            owning(mine);
        } finally {
            b.release();
        }
    }
}
