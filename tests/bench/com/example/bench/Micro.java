package com.example.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
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

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;

/**
 * Micro alloc|slice|codec WARM_S SECONDS: one thread, operations a second. alloc: allocate and
 * release, nothing else (the worst case for a tracker). slice: a retained slice beside it. codec:
 * an HTTP request through server codec, aggregator and an echo handler (the realistic one).
 */
public final class Micro {
    private static final int BATCH = 512; // between two looks at the clock, which costs 200 ns
    private static volatile int sink;

    private Micro() {
    }

    public static void main(String[] args) {
        Runnable op = operation(args[0]);
        spin(op, Double.parseDouble(args[1]));
        double rate = spin(op, Double.parseDouble(args[2]));
        System.out.printf("ops_s=%.0f ns_op=%.1f%n", rate, 1e9 / rate);
        System.exit(0);
    }

    /** Operations a second of this thread's own processor time: on a machine that others use too,
     * wall time would measure them. */
    private static double spin(Runnable op, double seconds) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long start = threads.getCurrentThreadCpuTime();
        long end = start + (long) (seconds * 1e9);
        long now = start;
        long n = 0;
        while (now < end) {
            for (int i = 0; i < BATCH; i++) {
                op.run();
            }
            n += BATCH;
            now = threads.getCurrentThreadCpuTime();
        }
        return n / ((now - start) * 1e-9);
    }

    private static Runnable operation(String workload) {
        ByteBufAllocator alloc = PooledByteBufAllocator.DEFAULT;
        switch (workload) {
        case "alloc":
            return () -> alloc(alloc);
        case "slice":
            return () -> slice(alloc);
        case "codec":
            return codec(alloc);
        default:
            throw new IllegalArgumentException(workload);
        }
    }

    private static void alloc(ByteBufAllocator alloc) {
        ByteBuf b = alloc.directBuffer(256);
        b.writeLong(1);
        b.release();
    }

    private static void slice(ByteBufAllocator alloc) {
        ByteBuf b = alloc.directBuffer(256);
        b.writeLong(1).writeLong(2);
        ByteBuf s = b.readRetainedSlice(8);
        sink += s.readInt();
        b.release();
        s.release();
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

    private static Runnable codec(ByteBufAllocator alloc) {
        byte[] request = ("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                + "User-Agent: x/1\r\nAccept: */*\r\nContent-Length: 11\r\n\r\nhello world")
                .getBytes(StandardCharsets.US_ASCII);
        EmbeddedChannel channel = new EmbeddedChannel(new HttpServerCodec(),
                new HttpObjectAggregator(65536), new Echo());
        return () -> {
            channel.writeInbound(alloc.directBuffer(512).writeBytes(request));
            for (Object o; (o = channel.readOutbound()) != null;) {
                ReferenceCountUtil.release(o);
            }
        };
    }
}
