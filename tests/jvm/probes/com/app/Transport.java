package com.app;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.ReferenceCountUtil;

import java.util.concurrent.CountDownLatch;

/**
 * Buffers that a handler retains once too often before the transport, which sends and releases them
 * once: outbound and inbound, by a socket and in an EmbeddedChannel. The handler is to blame, not
 * what of Netty saw the buffer after it.
 */
final class Transport {
    private static final Gc LOST = new Gc();
    private static final PooledByteBufAllocator POOL = PooledByteBufAllocator.DEFAULT;
    private static final CountDownLatch READ = new CountDownLatch(1);

    private Transport() {
    }

    static void run(String[] args) throws Exception {
        embedded();
        if (args.length == 0) {
            socket();
        }
        Oracle.say("leaked", args.length == 0 ? 5 : 2, "collected", LOST.settle());
    }

    static void embedded() {
        EmbeddedChannel channel = new EmbeddedChannel(new RetainsOut(), new RetainsIn(false));
        channel.writeOutbound(POOL.directBuffer(64).writeZero(64));
        ReferenceCountUtil.release(channel.readOutbound());
        channel.writeInbound(POOL.directBuffer(64).writeZero(64));
        ReferenceCountUtil.release(channel.readInbound());
        channel.finish();
    }

    static void socket() throws Exception {
        NioEventLoopGroup loop = new NioEventLoopGroup(1);
        try {
            ServerBootstrap server = new ServerBootstrap();
            server.group(loop).channel(NioServerSocketChannel.class).childHandler(with(true));
            Channel listening = server.bind("127.0.0.1", 0).sync().channel();
            Bootstrap client = new Bootstrap();
            client.group(loop).channel(NioSocketChannel.class).handler(with(false));
            Channel channel = client.connect(listening.localAddress()).sync().channel();
            channel.write(POOL.directBuffer(64).writeZero(64));
            channel.writeAndFlush(POOL.heapBuffer(64).writeZero(64)).sync();
            READ.await();
            channel.close().sync();
            listening.close().sync();
        } finally {
            loop.shutdownGracefully(0, 1, java.util.concurrent.TimeUnit.SECONDS).sync();
        }
    }

    private static ChannelInitializer<Channel> with(boolean server) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(server ? new RetainsIn(true) : new RetainsOut());
            }
        };
    }

    /** The tail of the pipeline, or an EmbeddedChannel's, takes what it hands on. */
    static final class RetainsIn extends ChannelInboundHandlerAdapter {
        private final boolean once;
        private boolean done;

        RetainsIn(boolean once) {
            this.once = once;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (!done) {
                LOST.watch(message);
                ReferenceCountUtil.retain(message);
                done = once;
            }
            context.fireChannelRead(message);
            if (once) {
                READ.countDown();
            }
        }
    }

    static final class RetainsOut extends ChannelOutboundHandlerAdapter {
        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            LOST.watch(message);
            context.write(ReferenceCountUtil.retain(message), promise);
        }
    }
}
