package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultAddressedEnvelope;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.DatagramPacket;
import io.netty.handler.codec.dns.DefaultDnsRawRecord;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.multipart.MemoryAttribute;
import io.netty.handler.codec.http.multipart.MixedAttribute;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.spdy.DefaultSpdyDataFrame;
import io.netty.handler.codec.stomp.DefaultStompContentSubframe;
import io.netty.handler.codec.stomp.DefaultStompFrame;
import io.netty.handler.codec.stomp.StompCommand;
import io.netty.util.ReferenceCountUtil;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Every kind of message that holds a buffer, three times over an event loop: to a handler that
 * releases by itself, to one that hands it to another executor, which releases it, and to one that
 * forgets it.
 */
final class Travel {
    private static final Gc LOST = new Gc();
    private static final InetSocketAddress HERE = new InetSocketAddress("127.0.0.1", 1);

    private Travel() {
    }

    private static List<Function<ByteBuf, Object>> messages() {
        List<Function<ByteBuf, Object>> all = new ArrayList<>();
        all.add(b -> b);
        all.add(DefaultByteBufHolder::new);
        all.add(DefaultHttpContent::new);
        all.add(DefaultLastHttpContent::new);
        all.add(b -> new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/", b));
        all.add(b -> new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, b));
        all.add(Travel::attribute);
        all.add(Travel::mixed);
        all.add(BinaryWebSocketFrame::new);
        all.add(TextWebSocketFrame::new);
        all.add(b -> new CloseWebSocketFrame(true, 0, b));
        all.add(DefaultHttp2DataFrame::new);
        all.add(b -> new DefaultHttp2GoAwayFrame(0L, b));
        all.add(b -> new DefaultSpdyDataFrame(1, b));
        all.add(b -> new DefaultDnsRawRecord("x.", DnsRecordType.A, 1, b));
        all.add(b -> new DefaultStompFrame(StompCommand.SEND, b));
        all.add(DefaultStompContentSubframe::new);
        all.add(b -> new DatagramPacket(b, HERE, HERE));
        all.add(b -> new DefaultAddressedEnvelope<>(b, HERE, HERE));
        all.add(b -> new DefaultAddressedEnvelope<>(new DefaultHttpContent(b), HERE, HERE));
        return all;
    }

    private static Object attribute(ByteBuf b) {
        try {
            MemoryAttribute attribute = new MemoryAttribute("a");
            attribute.setContent(b);
            return attribute;
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object mixed(ByteBuf b) {
        try {
            MixedAttribute attribute = new MixedAttribute("a", 1 << 20);
            attribute.setContent(b);
            return attribute;
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Releases when channelRead0 is done. */
    static final class Sink extends SimpleChannelInboundHandler<Object> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, Object msg) {
        }
    }

    /** The same, for a type that says nothing of a buffer. */
    static final class HttpSink extends SimpleChannelInboundHandler<HttpObject> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, HttpObject msg) {
        }
    }

    static final class Hand extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Object> future;

        Hand(CompletableFuture<Object> future) {
            this.future = future;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            future.complete(msg);
        }
    }

    static final class Forget extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            LOST.watch(msg);
        }
    }

    static void run(String[] args) throws Exception {
        DefaultEventLoop loop = new DefaultEventLoop();
        DefaultEventLoop other = new DefaultEventLoop();
        int kinds = 0;
        for (Function<ByteBuf, Object> message : messages()) {
            kinds++;
            loop.submit(() -> new EmbeddedChannel(new HttpSink(), new Sink())
                    .writeInbound(message.apply(buffer()))).get();
            CompletableFuture<Object> future = new CompletableFuture<>();
            CompletableFuture<?> done = future.thenAcceptAsync(ReferenceCountUtil::release, other);
            loop.submit(() -> new EmbeddedChannel(new Hand(future))
                    .writeInbound(message.apply(buffer()))).get();
            done.get(10, TimeUnit.SECONDS);
            loop.submit(() -> new EmbeddedChannel(new Forget())
                    .writeInbound(message.apply(buffer()))).get();
        }
        // Known to hold nothing: not counted as something that could not be looked into.
        loop.submit(() -> new EmbeddedChannel(new Sink())
                .writeInbound(LastHttpContent.EMPTY_LAST_CONTENT)).get();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        other.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        Oracle.say("released", 2 * kinds, "leaked", kinds, "collected",
                LOST.settle());
    }

    private static ByteBuf buffer() {
        return UnpooledByteBufAllocator.DEFAULT.directBuffer(16).writeLong(1);
    }
}
