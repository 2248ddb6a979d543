package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.ArrayDeque;
import java.util.function.Consumer;

/** Every shape of method that takes or returns a buffer; each is called once. */
public class Signatures {
    private static final Gc LOST = new Gc();
    private static final ByteBufAllocator ALLOC = UnpooledByteBufAllocator.DEFAULT;

    private interface Face {
        void inInterface(ByteBuf b);

        default void inDefault(ByteBuf b) {
            b.setByte(0, 1);
        }

        static void inStatic(ByteBuf b) {
            b.setByte(0, 1);
        }
    }

    private abstract static class Base {
        void inAbstractClass(ByteBuf b) {
            b.setByte(0, 1);
        }

        abstract void overridden(ByteBuf b);
    }

    private static final class Impl extends Base implements Face {
        @Override
        void overridden(ByteBuf b) {
            b.setByte(0, 1);
        }

        @Override
        public void inInterface(ByteBuf b) {
            b.setByte(0, 1);
        }
    }

    static void run(String[] args) {
        Signatures s = new Signatures();
        Impl impl = new Impl();
        Consumer<ByteBuf> lambda = b -> b.setByte(0, 1);
        Consumer<ByteBuf> anonymous = new Consumer<ByteBuf>() {
            @Override
            public void accept(ByteBuf b) {
                b.setByte(0, 1);
            }
        };
        Consumer<ByteBuf> reference = Signatures::referred;
        one(s::publicOne);
        one(s::protectedOne);
        one(s::packageOne);
        one(s::privateOne);
        one(Signatures::staticOne);
        one(impl::inInterface);
        one(impl::inDefault);
        one(Face::inStatic);
        one(impl::inAbstractClass);
        one(impl::overridden);
        one(lambda);
        one(anonymous);
        one(reference);
        one(Signatures::generic);
        one(b -> s.varied(1L, 2.0, 3, "four", b, (byte) 5));
        one(b -> s.throwing(b));
        one(b -> s.same(b, b));
        one(b -> s.overloaded(b));
        one(b -> s.overloaded(b, 1));
        one(b -> s.nulls(null, b));
        ByteBuf[] five = new ByteBuf[5];
        for (int i = 0; i < 5; i++) {
            five[i] = make();
        }
        s.three(five[0], five[1], five[2]);
        five(five[0], five[1], five[2], five[3], five[4]);
        for (ByteBuf b : five) {
            b.release();
        }
        Oracle.say("lives", 25, "released", 25, "leaked", 0);
    }

    private static void one(Consumer<ByteBuf> use) {
        ByteBuf b = make();
        try {
            use.accept(b);
        } catch (IllegalArgumentException expected) {
            b.setByte(0, 9);
        }
        b.release();
    }

    private static ByteBuf make() {
        return ALLOC.heapBuffer(16).writeZero(16);
    }

    public void publicOne(ByteBuf b) {
        b.setByte(0, 1);
    }

    protected void protectedOne(ByteBuf b) {
        b.setByte(0, 1);
    }

    void packageOne(ByteBuf b) {
        b.setByte(0, 1);
    }

    private void privateOne(ByteBuf b) {
        b.setByte(0, 1);
    }

    static void staticOne(ByteBuf b) {
        b.setByte(0, 1);
    }

    static void referred(ByteBuf b) {
        b.setByte(0, 1);
    }

    static <T extends ByteBuf> void generic(T b) {
        b.setByte(0, 1);
    }

    void varied(long a, double c, int d, String e, ByteBuf atIndexFour, byte f) {
        atIndexFour.setByte(0, f + d + (int) a + (int) c + e.length());
    }

    void throwing(ByteBuf b) {
        throw new IllegalArgumentException("capacity " + b.capacity());
    }

    void same(ByteBuf b, ByteBuf again) {
        b.setByte(0, again.getByte(1));
    }

    void overloaded(ByteBuf b) {
        b.setByte(0, 1);
    }

    void overloaded(ByteBuf b, int value) {
        b.setByte(0, value);
    }

    void nulls(ByteBuf none, ByteBuf b) {
        b.setByte(0, none == null ? 1 : 2);
    }

    void three(ByteBuf a, ByteBuf b, ByteBuf c) {
        a.setByte(0, b.getByte(0) + c.getByte(0));
    }

    static void five(ByteBuf a, ByteBuf b, ByteBuf c, ByteBuf d, ByteBuf e) {
        a.setByte(0, b.getByte(0) + c.getByte(0) + d.getByte(0) + e.getByte(0));
    }

    /** Return values: new buffers leave a `_return`, parameters do not. */
    static void returns(String[] args) throws Exception {
        fresh();
        fluent();
        replaced();
        kept();
        recursion();
        cast();
        Oracle.say("lives", 7, "released", 1, "leaked", 6, "collected", LOST.settle());
    }

    private static void fresh() {
        ByteBuf b = newOne();
        LOST.watch(b);
        Steps.leaky(b);
    }

    private static ByteBuf newOne() {
        ByteBuf b = ALLOC.heapBuffer(16);
        b.setByte(0, 1);
        return b;
    }

    private static void fluent() {
        ByteBuf b = ALLOC.heapBuffer(16);
        LOST.watch(through(b));
    }

    private static ByteBuf through(ByteBuf b) {
        Steps.step(b);
        return b;
    }

    private static void replaced() {
        ByteBuf b = replace(ALLOC.heapBuffer(16));
        LOST.watch(b);
        Steps.leaky(b);
    }

    /** Stores to its parameter's slot: what it returns is another buffer. */
    private static ByteBuf replace(ByteBuf b) {
        b.release();
        b = ALLOC.heapBuffer(32);
        return b;
    }

    private static void kept() {
        ByteBuf b = ALLOC.heapBuffer(16);
        LOST.watch(orNew(b));
    }

    /** Stores to its parameter's slot, but not this time. */
    private static ByteBuf orNew(ByteBuf b) {
        if (b == null) {
            b = ALLOC.heapBuffer(8);
        }
        Steps.step2(b);
        return b;
    }

    private static void recursion() {
        ByteBuf b = ALLOC.heapBuffer(16);
        recurse(b, 200);
        LOST.watch(b);
    }

    /** Out of a queue: the buffer is known where it is cast. */
    private static void cast() {
        ArrayDeque<Object> queue = new ArrayDeque<>();
        ArrayDeque<ByteBuf> typed = new ArrayDeque<>();
        queue.add(ALLOC.heapBuffer(16));
        typed.add(polled(queue));
        LOST.watch(received(typed));
    }

    private static Object received(ArrayDeque<ByteBuf> typed) {
        ByteBuf b = typed.poll();
        b.setByte(0, 1);
        return b;
    }

    private static ByteBuf polled(ArrayDeque<Object> queue) {
        ByteBuf b = (ByteBuf) queue.poll();
        b.setByte(0, 1);
        return b;
    }

    private static void recurse(ByteBuf b, int depth) {
        if (depth > 0) {
            recurse(b, depth - 1);
        } else {
            Steps.leaky(b);
        }
    }
}
