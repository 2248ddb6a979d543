package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufHolder;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;

/** Buffers that travel as something else: Object, a holder, a field of an envelope. */
final class Objects {
    private static final Gc LOST = new Gc();

    private Objects() {
    }

    /** Releases what is good and drops what is not, as handlers do. */
    static final class In extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (msg instanceof ByteBufHolder || ((ByteBuf) msg).getByte(0) == 0) {
                ReferenceCountUtil.release(msg);
            } else {
                LOST.watch(msg);
            }
        }
    }

    static void run(String[] args) throws Exception {
        EmbeddedChannel channel = new EmbeddedChannel(new In());
        for (int i = 0; i < 10; i++) {
            channel.writeInbound(UnpooledByteBufAllocator.DEFAULT.heapBuffer(8).writeByte(i % 2));
        }
        channel.finishAndReleaseAll();
        Oracle.say("lives", 10, "released", 5, "leaked", 5, "collected", LOST.settle());
    }

    static void holders(String[] args) throws Exception {
        for (int i = 0; i < 6; i++) {
            ByteBuf b = UnpooledByteBufAllocator.DEFAULT.heapBuffer(24);
            if (i % 3 == 0) {
                LOST.watch(b);
            }
            takeHolder(new DefaultByteBufHolder(b), i % 3 != 0);
        }
        Oracle.say("lives", 6, "released", 4, "leaked", 2, "collected", LOST.settle());
    }

    private static void takeHolder(ByteBufHolder holder, boolean release) {
        if (release) {
            holder.release();
        }
    }

    static final class Envelope {
        private final ByteBuf content;

        Envelope(ByteBuf content) {
            this.content = content;
        }

        ByteBuf open() {
            return content;
        }
    }

    static void constructors(String[] args) {
        Envelope envelope = new Envelope(UnpooledByteBufAllocator.DEFAULT.heapBuffer(8));
        Steps.done(envelope.open());
        Oracle.say("lives", 1, "released", 1, "leaked", 0);
    }

    /** One of each kind of memory is lost. */
    static void memory(String[] args) throws Exception {
        lose(UnpooledByteBufAllocator.DEFAULT.heapBuffer(100));
        lose(UnpooledByteBufAllocator.DEFAULT.directBuffer(200));
        lose(PooledByteBufAllocator.DEFAULT.heapBuffer(300));
        lose(PooledByteBufAllocator.DEFAULT.directBuffer(400));
        lose(Unpooled.wrappedBuffer(new byte[500])); // the user's array: release would free nothing
        Oracle.say("heap", 400, "direct", 600, "harmless", 1, "collected", LOST.settle());
    }

    private static void lose(ByteBuf b) {
        LOST.watch(b);
    }
}
