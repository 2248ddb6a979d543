package com.example.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;

import java.nio.charset.StandardCharsets;
import java.util.function.IntFunction;

/**
 * alloc: allocate and release a pooled direct buffer, nothing else (the worst case for a tracker).
 * slice: a retained slice beside it. heap: an unpooled heap buffer, a new Java object each time.
 * calls: a pooled direct buffer through N (0, 5, 10, 20) methods of the application's, each
 * writes and reads a byte. codec: an HTTP request through server codec, aggregator and an echo
 * handler.
 */
final class Micro {
    private static final ByteBufAllocator POOLED = PooledByteBufAllocator.DEFAULT;
    private static final ByteBufAllocator UNPOOLED = new UnpooledByteBufAllocator(false);

    private int sink;

    private Micro() {
    }

    static IntFunction<Runnable> operation(String name, int n) {
        switch (name) {
        case "alloc":
            return i -> Micro::alloc;
        case "slice":
            return i -> new Micro()::slice;
        case "heap":
            return i -> () -> UNPOOLED.heapBuffer(64).release();
        case "calls":
            return i -> {
                Micro own = new Micro();
                return () -> own.calls(n);
            };
        case "codec":
            return i -> codec();
        default:
            throw new IllegalArgumentException(name);
        }
    }

    private static void alloc() {
        ByteBuf b = POOLED.directBuffer(256);
        b.writeLong(1);
        b.release();
    }

    private void slice() {
        ByteBuf b = POOLED.directBuffer(256);
        b.writeLong(1).writeLong(2);
        ByteBuf s = b.readRetainedSlice(8);
        sink += s.readInt();
        b.release();
        s.release();
    }

    private void calls(int n) {
        ByteBuf b = POOLED.directBuffer(256);
        if (n >= 5) {
            sink += a1(b) + a2(b) + a3(b) + a4(b) + a5(b);
        }
        if (n >= 10) {
            sink += b1(b) + b2(b) + b3(b) + b4(b) + b5(b);
        }
        if (n >= 20) {
            sink += c1(b) + c2(b) + c3(b) + c4(b) + c5(b);
            sink += d1(b) + d2(b) + d3(b) + d4(b) + d5(b);
        }
        b.release();
    }

    // One method for each call: a repeated one would be one step of a loop.
    private static int a1(ByteBuf b) {
        return b.writeByte(1).getByte(0);
    }

    private static int a2(ByteBuf b) {
        return b.writeByte(2).getByte(1);
    }

    private static int a3(ByteBuf b) {
        return b.writeByte(3).getByte(2);
    }

    private static int a4(ByteBuf b) {
        return b.writeByte(4).getByte(3);
    }

    private static int a5(ByteBuf b) {
        return b.writeByte(5).getByte(4);
    }

    private static int b1(ByteBuf b) {
        return b.writeByte(6).getByte(5);
    }

    private static int b2(ByteBuf b) {
        return b.writeByte(7).getByte(6);
    }

    private static int b3(ByteBuf b) {
        return b.writeByte(8).getByte(7);
    }

    private static int b4(ByteBuf b) {
        return b.writeByte(9).getByte(8);
    }

    private static int b5(ByteBuf b) {
        return b.writeByte(10).getByte(9);
    }

    private static int c1(ByteBuf b) {
        return b.writeByte(11).getByte(10);
    }

    private static int c2(ByteBuf b) {
        return b.writeByte(12).getByte(11);
    }

    private static int c3(ByteBuf b) {
        return b.writeByte(13).getByte(12);
    }

    private static int c4(ByteBuf b) {
        return b.writeByte(14).getByte(13);
    }

    private static int c5(ByteBuf b) {
        return b.writeByte(15).getByte(14);
    }

    private static int d1(ByteBuf b) {
        return b.writeByte(16).getByte(15);
    }

    private static int d2(ByteBuf b) {
        return b.writeByte(17).getByte(16);
    }

    private static int d3(ByteBuf b) {
        return b.writeByte(18).getByte(17);
    }

    private static int d4(ByteBuf b) {
        return b.writeByte(19).getByte(18);
    }

    private static int d5(ByteBuf b) {
        return b.writeByte(20).getByte(19);
    }

    private static final class Echo extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
            DefaultFullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1,
                    HttpResponseStatus.OK, request.content().retain());
            response.headers().set(HttpHeaderNames.CONTENT_LENGTH,
                    request.content().readableBytes());
            ctx.writeAndFlush(response);
        }
    }

    private static Runnable codec() {
        byte[] request = ("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                + "User-Agent: x/1\r\nAccept: */*\r\nContent-Length: 11\r\n\r\nhello world")
                .getBytes(StandardCharsets.US_ASCII);
        EmbeddedChannel channel = new EmbeddedChannel(new HttpServerCodec(),
                new HttpObjectAggregator(65536), new Echo());
        return () -> {
            channel.writeInbound(POOLED.directBuffer(512).writeBytes(request));
            for (Object o; (o = channel.readOutbound()) != null;) {
                ReferenceCountUtil.release(o);
            }
        };
    }
}
