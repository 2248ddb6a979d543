package com.app;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringBufferRingAllocator;
import io.netty.channel.uring.IoUringBufferRingConfig;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.channel.uring.IoUringFixedBufferRingAllocator;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringIoHandlerConfig;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LengthFieldPrepender;

import java.net.InetSocketAddress;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Uring REQUESTS LOST incremental|whole|none: a server and a client over io_uring, what is read comes
 * out of a ring of buffers that the kernel fills (but with none). The server forgets LOST frames.
 */
final class Uring {
    private static final short GROUP = 7;
    private static final short RING = 16;
    private static final int FRAME_MAX = 1 << 16;
    private static final Gc LOST = new Gc();
    private static final Semaphore ANSWERED = new Semaphore(0);
    private static final AtomicInteger FILLED = new AtomicInteger();
    private static int toLose;

    private Uring() {
    }

    public static void main(String[] args) throws Exception {
        int requests = Integer.parseInt(args[0]);
        int lost = Integer.parseInt(args[1]);
        toLose = lost;
        IoUring.ensureAvailability();
        boolean ring = !args[2].equals("none");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(2,
                IoUringIoHandler.newFactory(ring ? rings(args[2].equals("incremental"))
                                                 : new IoUringIoHandlerConfig()));
        ServerBootstrap servers = new ServerBootstrap().group(group)
                .channel(IoUringServerSocketChannel.class).childHandler(with(Echo::new));
        Bootstrap clients = new Bootstrap().group(group).channel(IoUringSocketChannel.class)
                .handler(with(Answers::new));
        if (ring) {
            servers.childOption(IoUringChannelOption.IO_URING_BUFFER_GROUP_ID, GROUP);
            clients.option(IoUringChannelOption.IO_URING_BUFFER_GROUP_ID, GROUP);
        }
        Channel server = servers.bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        Channel client = clients.connect(server.localAddress()).sync().channel();
        for (int i = 0; i < requests; i++) {
            int size = 100 + i * 37 % 20_000;
            client.writeAndFlush(client.alloc().buffer(size).writeZero(size));
            if (!ANSWERED.tryAcquire(60, TimeUnit.SECONDS))
                throw new AssertionError("no answer " + i);
        }
        int filled = FILLED.get();
        client.close().sync();
        server.close().sync();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        Oracle.say("leaked", lost, "collected", LOST.settle(), "ring", filled);
    }

    private static IoUringIoHandlerConfig rings(boolean incremental) {
        IoUringBufferRingAllocator sizes =
                new IoUringFixedBufferRingAllocator(PooledByteBufAllocator.DEFAULT, 4096);
        return new IoUringIoHandlerConfig().setBufferRingConfig(IoUringBufferRingConfig.builder()
                .bufferGroupId(GROUP).bufferRingSize(RING).batchSize(RING / 2)
                .incremental(incremental)
                .allocator(new IoUringBufferRingAllocator() {
                    @Override
                    public ByteBuf allocate() {
                        FILLED.incrementAndGet();
                        return sizes.allocate();
                    }

                    @Override
                    public void lastBytesRead(int attempted, int actual) {
                        sizes.lastBytesRead(attempted, actual);
                    }
                }).build());
    }

    private interface Last {
        ChannelInboundHandlerAdapter make();
    }

    private static ChannelInitializer<Channel> with(Last last) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new LengthFieldPrepender(4),
                        new LengthFieldBasedFrameDecoder(FRAME_MAX, 0, 4, 0, 4), last.make());
            }
        };
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf frame = (ByteBuf) msg;
            ByteBuf answer = ctx.alloc().buffer().writeBytes(frame, frame.readerIndex(),
                    frame.readableBytes());
            if (toLose > 0) {
                toLose--;
                forget(frame);
            } else {
                frame.release();
            }
            ctx.writeAndFlush(answer);
        }

        private static void forget(ByteBuf frame) {
            LOST.watch(frame);
        }
    }

    private static final class Answers extends SimpleChannelInboundHandler<ByteBuf> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf frame) {
            ANSWERED.release();
        }
    }
}
