package com.app;

import org.flow.Box;
import org.flow.BufFrame;
import org.flow.Chain;
import org.flow.Flow;
import org.flow.Frame;
import org.flow.Hidden;
import org.flow.Layer;
import org.flow.Letter;
import org.flow.Parts;
import org.flow.TwoFrame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.List;

/** Buffers that are lost in objects of a framework that has them in a field. */
final class Carriers {
    private static final Gc LOST = new Gc();
    private static long opened, closed;

    private Carriers() {
    }

    /** args[0]: milliseconds for the agent, once the framework's classes are loaded. */
    static void run(String[] args) throws Exception {
        User user = new User();
        // The user's class was loaded before any class that has a buffer.
        user.take(new Layer(null));
        user.take((Frame) null);
        closeable(0).release();
        for (String name : new String[] {"Box", "Chain", "Hidden", "Letter", "Parts", "TwoFrame"}) {
            Class.forName("org.flow." + name);
        }
        Thread.sleep(Long.parseLong(args[0]));
        user.take(new BufFrame(make()));
        user.layered(new Layer(new BufFrame(make())));
        user.four(new Layer(new Layer(new Layer(new BufFrame(make())))));
        user.five(new Layer(new Layer(new Layer(new Layer(new BufFrame(make()))))));
        user.two(new TwoFrame(make(), make()));
        user.boxed(new Box<>(new BufFrame(make())));
        user.cast(new BufFrame(make()));
        user.list(Collections.singletonList(null), new java.util.ArrayList<>(List.of(new BufFrame(make()))));
        user.chained(new Chain(make(), new Chain(make(), null)));
        user.hidden(new Hidden(make()));
        ArrayDeque<ByteBuf> queue = turned();
        Collections.addAll(queue, make(), make(), make());
        user.queued(new Hidden(queue));
        queue = null;
        user.parts(new Parts(make(), null, make()));
        user.letter(new Letter(make(), make()));
        Flow.watch = LOST::watch;
        user.asks();
        user.asksHolder();
        Flow.watch = null;
        new Plain().put(make());
        replaced(user);
        released(user);
        for (int i = 0; i < 1000; i++) {
            BufFrame good = closeable(i);
            user.take(good);
            good.release();
        }
        Oracle.say("lives", opened, "leaked", opened - closed, "released", closed, "collected",
                LOST.settle());
    }

    /** All classes and some carriers are there before a line comes in, and bbflow with it. */
    static void old(String[] args) throws Exception {
        User user = new User();
        user.two(new TwoFrame(Flow.buffer(), null));
        user.asks();
        BufFrame released = new BufFrame(Flow.buffer());
        released.release();
        BufFrame[] open = {new BufFrame(make()), new BufFrame(Flow.buffer())};
        user.layered(new Layer(open[0]));
        System.out.println("READY");
        System.out.flush();
        Late.untilLine();
        user.take(released);
        user.take(open[0]);
        user.layered(new Layer(open[1]));
        open[1].release();
        open = null;
        Oracle.say("lives", 2, "leaked", 1, "released", 1, "collected", LOST.settle());
    }

    private static BufFrame closeable(int i) {
        opened++;
        closed++;
        return new BufFrame(Flow.buffer());
    }

    /** The field gets another buffer, and then none. */
    private static void replaced(User user) {
        ByteBuf first = Flow.buffer();
        opened++;
        closed++;
        BufFrame frame = new BufFrame(first);
        frame.replace(make());
        user.swapped(frame);
        frame.replace(null);
        user.swapped(frame);
        first.release();
    }

    /** A released buffer is still in the field; its object serves the next life by then. */
    private static void released(User user) {
        BufFrame frame = closeable(0);
        frame.release();
        user.stale(frame);
    }

    /** Its first element will be at the end of its array, and the next at the beginning. */
    private static ArrayDeque<ByteBuf> turned() {
        ArrayDeque<ByteBuf> queue = new ArrayDeque<>();
        for (int i = 0; i < 16; i++) {
            queue.add(io.netty.buffer.Unpooled.EMPTY_BUFFER);
            queue.remove();
        }
        return queue;
    }

    static ByteBuf make() {
        ByteBuf b = Flow.buffer();
        opened++;
        LOST.watch(b);
        return b;
    }

    /** It names nothing that could have a buffer: objects=on alone looks here. */
    static final class Plain {
        void put(Object o) {
        }
    }

    /** It names no class of Netty. */
    static final class User {
        void take(Frame frame) {
        }

        void layered(Layer layer) {
        }

        void four(Frame frame) {
        }

        void five(Frame frame) {
        }

        void two(Frame frame) {
        }

        void boxed(Box<BufFrame> box) {
        }

        void cast(Object o) {
            ((Frame) o).size();
        }

        void list(List<?> other, List<Frame> frames) {
        }

        void chained(Chain chain) {
        }

        void hidden(Hidden hidden) {
        }

        void queued(Hidden hidden) {
        }

        void parts(Parts parts) {
        }

        void letter(Letter letter) {
        }

        void swapped(Frame frame) {
        }

        void stale(Frame frame) {
        }

        void asks() {
            Frame frame = Flow.frame();
            opened++;
            frame.size();
        }

        void asksHolder() {
            DefaultByteBufHolder holder = Flow.holder();
            opened++;
            holder.content();
        }
    }
}
