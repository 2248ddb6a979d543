package com.example.leaky;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.util.ReferenceCountUtil;

import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * A small order server as one meets them: frames in, an acknowledgement out, an audit line for each
 * order. It loses buffers in two places, both off the beaten track:
 * OrderHandler.reject forgets the frame of an order that does not parse (direct memory), and
 * AuditLog.append drops a line without releasing it when its queue is full (heap).
 *
 * Usage: OrderServer SECONDS [ORDERS_A_SECOND]; its own client sends one bad order in ten.
 */
public final class OrderServer {
    private OrderServer() {
    }

    public static void main(String[] args) throws Exception {
        int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
        int rate = args.length > 1 ? Integer.parseInt(args[1]) : 500;
        NioEventLoopGroup group = new NioEventLoopGroup(2);
        AuditLog audit = new AuditLog(8);
        try {
            Channel server = new ServerBootstrap().group(group)
                    .channel(NioServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline().addLast(
                                    new LengthFieldBasedFrameDecoder(65536, 0, 4, 0, 4),
                                    new OrderHandler(audit));
                        }
                    }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
            int port = ((InetSocketAddress) server.localAddress()).getPort();
            System.out.println("order server on port " + port);
            Channel client = connect(group, port);
            new OrderClient(client).sendFor(seconds, rate);
            client.close().sync();
            server.close().sync();
        } finally {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        }
        System.out.println("order server done");
    }

    private static Channel connect(NioEventLoopGroup group, int port) throws InterruptedException {
        return new Bootstrap().group(group).channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new Replies());
                    }
                }).connect("127.0.0.1", port).sync().channel();
    }

    /** The client's end reads the acknowledgements and throws them away, properly. */
    private static final class Replies extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ReferenceCountUtil.release(msg);
        }
    }
}
