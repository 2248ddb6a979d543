package com.app;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * contexts [KINDS [late]]: a server loses a buffer of each kind, one for each letter that a client
 * sends: T touched, X swallowed, P thrown, H with a hostile hint, S a slice, O with an object as hint,
 * L alone; G is released. Then an embedded channel loses one, and a method without any channel. The
 * program says which channel each was on. late: before that all of Netty is used once, and a line is
 * waited for.
 */
final class Contexts {
    static final String HOSTILE = "\u001b[31m\n\"|\u202e\u0100" + new String(new char[200]).replace('\0', 'x');
    private static final String KINDS = "TXPHSOLG";
    private static final Gc LOST = new Gc();
    private static final StringBuilder SAID = new StringBuilder();
    private static volatile CountDownLatch got = new CountDownLatch(1);

    private Contexts() {
    }

    /** An object that touch() gets: bbflow must not ask it for its text. */
    static final class Hint {
        @Override
        public String toString() {
            throw new AssertionError("toString() of a hint was called");
        }
    }

    private static final class Requests extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf in = (ByteBuf) msg;
            char kind = (char) in.getByte(in.readerIndex());
            if (SAID.indexOf(" " + kind + "=") < 0)
                SAID.append(' ').append(kind).append('=').append("0x").append(ctx.channel().id().asShortText())
                        .append('/').append(((InetSocketAddress) ctx.channel().remoteAddress()).getPort());
            if (kind != 'G' && kind != 'S')
                LOST.watch(in);
            handle(ctx, in, kind);
        }

        private void handle(ChannelHandlerContext ctx, ByteBuf in, char kind) {
            switch (kind) {
            case 'T':
                in.touch("cart parsed");
                touched(in);
                break;
            case 'X':
                swallow(in);
                break;
            case 'P':
                thrown(ctx, in);
                break;
            case 'H':
                in.touch(HOSTILE);
                hostile(in);
                break;
            case 'S':
                slice(ctx, in);
                break;
            case 'O':
                in.touch(new Hint());
                object(in);
                break;
            case 'L':
                alone(in);
                break;
            default:
                in.release();
            }
        }

        private void touched(ByteBuf in) {
        }

        private void swallow(ByteBuf in) {
            try {
                parse(in);
                in.release();
            } catch (IllegalStateException lost) {
                got.getCount();
            }
        }

        private void parse(ByteBuf in) {
            throw new IllegalStateException("no request");
        }

        private void thrown(ChannelHandlerContext ctx, ByteBuf in) {
            throw new UnsupportedOperationException("no such request");
        }

        private void hostile(ByteBuf in) {
        }

        private void slice(ChannelHandlerContext ctx, ByteBuf in) {
            ByteBuf part = in.readRetainedSlice(1);
            LOST.watch(in); // the slice keeps it
            keep(part);
            in.release();
        }

        private void keep(ByteBuf part) {
        }

        private void object(ByteBuf in) {
        }

        private void alone(ByteBuf in) {
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            got.countDown();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            got.getCount();
        }
    }

    private static final class Embedded extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            LOST.watch(msg);
            lose((ByteBuf) msg);
        }

        private void lose(ByteBuf in) {
        }
    }

    private static void nowhere() {
        ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(16);
        LOST.watch(b);
        unseen(b);
    }

    private static void unseen(ByteBuf b) {
    }

    private static void send(Channel server, NioEventLoopGroup clients, String kinds) throws Exception {
        Channel client = new Bootstrap().group(clients).channel(NioSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
        for (char kind : kinds.toCharArray()) {
            got = new CountDownLatch(1);
            client.writeAndFlush(client.alloc().directBuffer(1).writeByte(kind)).sync();
            if (!got.await(10, TimeUnit.SECONDS))
                throw new AssertionError("no answer to " + kind);
        }
        client.close().sync();
    }

    static void run(String[] args) throws Exception {
        String kinds = args.length > 0 ? args[0] : KINDS;
        NioEventLoopGroup group = new NioEventLoopGroup(1), clients = new NioEventLoopGroup(1);
        Channel server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Requests());
                    }
                }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        if (args.length > 1) {
            send(server, clients, "G");
            SAID.setLength(0);
            System.out.println("READY");
            System.in.read();
        }
        send(server, clients, kinds);
        server.close().sync();
        EmbeddedChannel embedded = new EmbeddedChannel(new Embedded());
        embedded.writeInbound(PooledByteBufAllocator.DEFAULT.directBuffer(8).writeByte(1));
        embedded.finish();
        nowhere();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        clients.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        embedded = null;
        System.out.println("ORACLE leaked=" + LOST.settle() + SAID);
    }
}
