package com.example.bench;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;

import java.io.FileInputStream;
import java.io.InputStream;
import java.security.KeyStore;

import javax.net.ssl.KeyManagerFactory;

/** 256 bytes through TLS of the JDK to an echo and back; the key is in -Dbench.keys. */
final class SslEcho extends Pairs {
    private static final int SIZE = 256;
    private static final char[] PASSWORD = "bench-only".toCharArray();

    private final SslContext serverTls;
    private final SslContext clientTls;

    SslEcho() throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = new FileInputStream(System.getProperty("bench.keys"))) {
            keys.load(in, PASSWORD);
        }
        KeyManagerFactory factory = KeyManagerFactory
                .getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(keys, PASSWORD);
        serverTls = SslContextBuilder.forServer(factory).sslProvider(SslProvider.JDK).build();
        clientTls = SslContextBuilder.forClient().sslProvider(SslProvider.JDK)
                .trustManager(InsecureTrustManagerFactory.INSTANCE).build();
    }

    @Override
    void server(Channel channel) {
        channel.pipeline().addLast(serverTls.newHandler(channel.alloc()), new Echo());
    }

    @Override
    void client(Channel channel, int number) {
        channel.pipeline().addLast(clientTls.newHandler(channel.alloc(), "localhost", 1),
                new Answers(number));
    }

    @Override
    void begin(Channel client) {
        client.writeAndFlush(client.alloc().directBuffer(SIZE).writeZero(SIZE));
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }
    }

    private final class Answers extends ChannelInboundHandlerAdapter {
        private final int number;
        private int got;

        Answers(int number) {
            this.number = number;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            got += bytes.readableBytes();
            bytes.release();
            for (; got >= SIZE; got -= SIZE) {
                ended(ctx.channel(), number);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failed(cause);
        }
    }
}
