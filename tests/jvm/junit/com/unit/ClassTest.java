package com.unit;

import io.bbflow.junit.BBFlowExtension;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * @BeforeAll loses one, the server of the class another, and the first test one that is found only
 * after another test.
 */
@ExtendWith(BBFlowExtension.class)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ClassTest {
    private static final List<ByteBuf> HELD = new ArrayList<>();

    private static final EventLoopGroup LOOPS = new NioEventLoopGroup(1);
    private static Channel server;

    @BeforeAll
    static void before() throws Exception {
        Lose.lose();
        server = new ServerBootstrap().group(LOOPS).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        Lose.lose();
                        ctx.writeAndFlush(ctx.alloc().buffer(1).writeByte(1));
                    }
                }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
    }

    @Test
    @Order(3)
    void asksTheServer() throws Exception {
        try (Socket socket = new Socket()) {
            socket.connect(server.localAddress());
            socket.getInputStream().read();
        }
    }

    @Test
    @Order(1)
    void LOSESLater() {
        HELD.add(Lose.make());
    }

    @Test
    @Order(2)
    void dropsThem() {
        HELD.clear();
    }

    @AfterAll
    static void after() {
        Lose.make().release();
    }
}
