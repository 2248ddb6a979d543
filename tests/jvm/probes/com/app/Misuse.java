package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AbstractReferenceCounted;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** misuse: buffers that are used after their release, in each way, and what only looks so. */
final class Misuse {
    private static int refused;
    private static int sent;

    private Misuse() {
    }

    /** twice: all of it a second time after a line on stdin, when every class is loaded. */
    static void run(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("twice")) {
            all();
            System.out.println("READY");
            System.in.read();
            refused = 0;
        }
        all();
        if (args.length > 0 && args[0].equals("reused")) {
            reused();
        }
        Oracle.say("misuse", refused, "leaked", 0, "live", 0);
        if (args.length > 0) {
            Serve.untilStdinCloses();
        }
    }

    /** Of two objects that were released, one is taken again while the agent is away. */
    private static void reused() throws Exception {
        ByteBuf a = take(PooledByteBufAllocator.DEFAULT);
        ByteBuf b = take(PooledByteBufAllocator.DEFAULT);
        a.release();
        b.release();
        System.out.println("READY");
        System.in.read();
        ByteBuf again = take(PooledByteBufAllocator.DEFAULT);
        System.out.println("TAKEN");
        System.in.read();
        for (int i = 0; i < 10; i++) {
            frame(again);
        }
        frame(again == a ? b : a);
        again.release();
    }

    private static void all() throws Exception {
        ExecutorService releaser = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task, "releaser");
            thread.setDaemon(true);
            return thread;
        });
        for (int i = 0; i < 3; i++) { // the third life of one recycled object
            ByteBuf b = take(PooledByteBufAllocator.DEFAULT);
            releaser.submit(() -> Steps.done(b)).get();
            if (i == 2) {
                for (int k = 0; k < 5; k++) {
                    refused(() -> releaseAgain(b));
                }
            }
        }
        ByteBuf unpooled = take(UnpooledByteBufAllocator.DEFAULT);
        Steps.done(unpooled);
        for (int i = 0; i < 20; i++) { // its record is others' by now
            Steps.done(take(UnpooledByteBufAllocator.DEFAULT));
        }
        in("user", () -> refused(() -> retainLate(unpooled)));
        ByteBuf owner = take(UnpooledByteBufAllocator.DEFAULT);
        ByteBuf slice = owner.slice(0, 8);
        owner.release();
        refused(() -> readLate(slice));
        refused(() -> releaseTwo(take(UnpooledByteBufAllocator.DEFAULT)));
        innocent();
        premature();
        lookedAt();
    }

    private static ByteBuf take(ByteBufAllocator allocator) {
        return allocator.directBuffer(64);
    }

    static void releaseAgain(ByteBuf b) {
        b.release();
    }

    static void retainLate(ByteBuf b) {
        b.retain();
    }

    static void readLate(ByteBuf b) {
        b.readByte();
    }

    static void releaseTwo(ByteBuf b) {
        b.release();
        b.release(1);
    }

    /** Released while a queue still has it, as zuul's frames: no exception, and each round meets it. */
    private static void premature() throws Exception {
        for (int i = 0; i < 2; i++) { // a record of its own, then that of a recycled object
            Queue<ByteBuf> queue = new ArrayDeque<>();
            ByteBuf b = take(PooledByteBufAllocator.DEFAULT);
            queue.add(b);
            in("filter", () -> Steps.done(b));
            for (int round = 0; round < 100; round++) {
                frame(queue.peek());
            }
        }
    }

    private static void frame(ByteBuf b) {
        sent += b.readableBytes();
    }

    /** A right look at a released buffer makes no step: what hands it on to a followed method does. */
    private static void lookedAt() {
        for (int i = 0; i < 10; i++) {
            ByteBuf b = take(PooledByteBufAllocator.DEFAULT);
            EmbeddedChannel channel = new EmbeddedChannel(new SimpleChannelInboundHandler<ByteBuf>() {
                @Override
                protected void channelRead0(ChannelHandlerContext ctx, ByteBuf in) {
                    sent += in.capacity();
                }
            });
            channel.writeInbound(b);
            channel.finish();
            sent += (b.refCnt() + b.toString() + b.isReadable() + b.hashCode()).length();
            if (b.refCnt() > 0) {
                ReferenceCountUtil.safeRelease(b);
            }
            noted(b);
            ByteBuf next = take(PooledByteBufAllocator.DEFAULT); // the same object
            sent += next == b ? 1 : 0;
            Steps.step(next);
            next.release();
        }
    }

    /** A step, although nothing is wrong. */
    private static void noted(ByteBuf b) {
        sent += b.refCnt();
    }

    /** Another counted thing, and a pool of the application's own: neither is a use after release. */
    private static void innocent() {
        Own own = new Own();
        for (int i = 0; i < 3; i++) {
            Steps.step(own);
            own.retain();
            own.release();
            own.release();
            own.again();
        }
        own.release();
        ReferenceCounted other = new AbstractReferenceCounted() {
            @Override
            protected void deallocate() {
            }

            @Override
            public ReferenceCounted touch(Object hint) {
                return this;
            }
        };
        other.release();
        refused(other::release);
        refused--;
    }

    private static final class Own extends UnpooledHeapByteBuf {
        Own() {
            super(UnpooledByteBufAllocator.DEFAULT, 16, 16);
        }

        @Override
        protected void deallocate() {
        }

        void again() {
            setRefCnt(1);
        }
    }

    private static void refused(Runnable use) {
        try {
            use.run();
        } catch (IllegalReferenceCountException e) {
            refused++;
        }
    }

    private static void in(String name, Runnable what) throws InterruptedException {
        Thread thread = new Thread(what, name);
        thread.start();
        thread.join();
    }
}
