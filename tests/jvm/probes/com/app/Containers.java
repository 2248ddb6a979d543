package com.app;

import com.other.Packs;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufHolder;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.MessageToMessageDecoder;
import io.netty.handler.codec.MessageToMessageEncoder;
import io.netty.util.ReferenceCountUtil;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Buffers that travel in arrays, lists and the lists that decoders fill. */
final class Containers {
    private static final Gc LOST = new Gc();

    private Containers() {
    }

    /** Each container once, with a buffer that is dropped by the method that took it. */
    static void lists(String[] args) throws Exception {
        array(new ByteBuf[] {make()});
        varied("x", make(), make());
        list(new ArrayList<>(Collections.singletonList(make())));
        list(Arrays.asList(make(), make(), null));
        list(Collections.unmodifiableList(new ArrayList<>(Arrays.asList(make()))));
        arrayList(new ArrayList<>(Arrays.asList(make())));
        wildcard(new ArrayList<>(Arrays.asList(make())));
        optional(Optional.of(make()));
        optional(Optional.empty());
        holders(Arrays.asList(new DefaultByteBufHolder(make())));
        nested(Arrays.asList(Arrays.asList(make()), new ArrayList<>(Arrays.asList(make()))));
        array(null);
        many(twenty());
        new EmbeddedChannel(new Take()).writeInbound(new Object[] {make(), "text", make()},
                new ArrayList<>(Arrays.asList(make())), (Object) Optional.of(make()));
        list(own()); // a carrier: its field is a buffer
        // Not looked into: no type says that there are buffers.
        raw(Arrays.asList(make()));
        anything(make());
        Oracle.say("lives", 40, "leaked", 40, "released", 0, "collected", LOST.settle());
    }

    static ByteBuf make() {
        ByteBuf b = UnpooledByteBufAllocator.DEFAULT.heapBuffer(8);
        LOST.watch(b);
        return b;
    }

    static void array(ByteBuf[] all) {
    }

    static void varied(String text, ByteBuf... all) {
    }

    static void list(List<ByteBuf> all) {
    }

    static void arrayList(ArrayList<ByteBuf> all) {
    }

    static void wildcard(Collection<? extends ByteBuf> all) {
    }

    static void optional(Optional<ByteBuf> one) {
    }

    static void holders(List<ByteBufHolder> all) {
    }

    static void nested(List<List<ByteBuf>> all) {
    }

    static void many(List<ByteBuf> all) {
    }

    static void raw(Object all) {
    }

    static void anything(Object one) {
    }

    private static List<ByteBuf> twenty() {
        List<ByteBuf> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            all.add(make());
        }
        return all;
    }

    /** Its iterator, get and size are the application's: none of them may be called. */
    private static List<ByteBuf> own() {
        ByteBuf b = make();
        return new java.util.AbstractList<ByteBuf>() {
            @Override
            public ByteBuf get(int i) {
                throw new IllegalStateException("called");
            }

            @Override
            public int size() {
                throw new IllegalStateException("called");
            }

            @Override
            public String toString() {
                return b.toString();
            }
        };
    }

    static final class Take extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
        }
    }

    // ---- decode(ctx, in, out), and what comes before it ----

    private static final class Frames extends ByteToMessageDecoder {
        Frames(Cumulator cumulator) {
            setCumulator(cumulator);
        }

        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
            if (in.readableBytes() >= 4) {
                out.add(Packs.frame(in));
            }
        }
    }

    private static final class Unpack extends MessageToMessageDecoder<ByteBufHolder> {
        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBufHolder msg, List<Object> out) {
            out.add(Packs.frame(msg.content().retain()));
            msg.content().release();
        }
    }

    private static final class Pack extends MessageToMessageEncoder<String> {
        @Override
        protected void encode(ChannelHandlerContext ctx, String msg, List<Object> out) {
            ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(8).writeInt(1);
            out.add(Packs.frame(b));
            b.release();
        }
    }

    /** Takes it from the pipeline and loses it, or not. */
    private static void drop(EmbeddedChannel channel, boolean outbound, boolean lose) {
        for (Object o; (o = outbound ? channel.readOutbound() : channel.readInbound()) != null;) {
            if (lose) {
                LOST.watch(((ByteBufHolder) o).content());
            } else {
                ReferenceCountUtil.release(o);
            }
        }
    }

    /** Ten messages by each of four ways; three of each are lost. */
    static void decode(String[] args) throws Exception {
        for (ByteToMessageDecoder.Cumulator cumulator : Arrays.asList(
                ByteToMessageDecoder.MERGE_CUMULATOR, ByteToMessageDecoder.COMPOSITE_CUMULATOR)) {
            EmbeddedChannel channel = new EmbeddedChannel(new Frames(cumulator));
            for (int i = 0; i < 10; i++) { // four bytes in two buffers
                for (int half = 0; half < 2; half++) {
                    channel.writeInbound(PooledByteBufAllocator.DEFAULT.directBuffer(64).writeZero(2));
                }
                drop(channel, false, i >= 7 && cumulator == ByteToMessageDecoder.MERGE_CUMULATOR);
            }
            channel.finishAndReleaseAll();
        }
        for (int i = 0; i < 10; i++) {
            EmbeddedChannel in = new EmbeddedChannel(new Unpack());
            in.writeInbound(new DefaultByteBufHolder(
                    PooledByteBufAllocator.DEFAULT.directBuffer(8).writeInt(1)));
            drop(in, false, i >= 7);
            in.finishAndReleaseAll();
            EmbeddedChannel out = new EmbeddedChannel(new Pack());
            out.writeOutbound("x");
            drop(out, true, i >= 7);
            out.finishAndReleaseAll();
        }
        Oracle.say("leaked", 9, "collected", LOST.settle());
    }
}
