package com.app;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerAdapter;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContentCompressor;
import io.netty.handler.codec.http.HttpContentDecompressor;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;

import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * http REQUESTS [LOST]: a server and a client over loopback, with aggregation and compression, as
 * good as can be: nothing may be called a leak. With LOST, the server forgets that many requests.
 */
final class Http {
    private static Gc lost;
    private static final Semaphore ANSWERED = new Semaphore(0);
    private static int toLose;

    private Http() {
    }

    /** The first of its pipeline, which is taken out last. */
    private static final class Gone extends ChannelHandlerAdapter {
        private final CountDownLatch gone;

        Gone(CountDownLatch gone) {
            this.gone = gone;
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext ctx) {
            gone.countDown();
        }
    }

    static void run(String[] args) throws Exception {
        int requests = Integer.parseInt(args[0]);
        toLose = args.length > 1 ? Integer.parseInt(args[1]) : 0;
        int losing = toLose;
        lost = new Gc();
        NioEventLoopGroup group = new NioEventLoopGroup(2);
        CountDownLatch gone = new CountDownLatch(2);
        Channel server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new Gone(gone), new HttpServerCodec(),
                                new HttpContentCompressor(), new HttpObjectAggregator(1 << 20),
                                new Echo());
                    }
                }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        Channel client = new Bootstrap().group(group).channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new Gone(gone), new HttpClientCodec(),
                                new HttpContentDecompressor(), new HttpObjectAggregator(1 << 20),
                                new Answers());
                    }
                }).connect(server.localAddress()).sync().channel();
        for (int i = 0; i < requests; i++) {
            client.writeAndFlush(request(client, 100 + i * 37 % 20_000));
            ANSWERED.acquire();
        }
        client.close().sync();
        server.close().sync();
        gone.await(); // a loop that ends first would keep a decoder, and lose its scratch buffer
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        Oracle.say("leaked", losing, "requests", requests, "collected", lost.settle());
    }

    private static FullHttpRequest request(Channel channel, int size) {
        ByteBuf body = channel.alloc().buffer(size).writeZero(size);
        FullHttpRequest request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST,
                "/", body);
        request.headers().set(HttpHeaderNames.CONTENT_LENGTH, size);
        request.headers().set(HttpHeaderNames.ACCEPT_ENCODING, "gzip");
        return request;
    }

    private static final class Echo extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
            ByteBuf content = request.content();
            if (toLose > 0) {
                toLose--;
                forget(request.retain());
            }
            FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1,
                    HttpResponseStatus.OK, Unpooled.copiedBuffer(content));
            response.headers().set(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
            ctx.writeAndFlush(response);
        }

        private void forget(FullHttpRequest request) {
            lost.watch(request);
        }
    }

    private static final class Answers extends SimpleChannelInboundHandler<FullHttpResponse> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse response) {
            ANSWERED.release();
        }
    }
}
