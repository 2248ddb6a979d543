// SPDX-License-Identifier: Apache-2.0
package com.shop;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Hands bytes on to a backend. Its client makes 100 connections; on each the backend goes away. Proxy [ROUNDS]: that often. */
public final class Proxy {
    private static final NioEventLoopGroup GROUP = new NioEventLoopGroup(1);
    private static final byte[] ORDER = "order".getBytes(StandardCharsets.US_ASCII);

    private Proxy() {
    }

    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        Backend backend = new Backend();
        Channel server = new ServerBootstrap().group(GROUP)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.AUTO_READ, false) // until the backend is connected
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel client) {
                        client.pipeline().addLast(new ClientHandler(connect(client, backend.port())));
                    }
                }).bind("127.0.0.1", 0).sync().channel();
        for (int n = 1; n <= 100 * rounds; n++) {
            talk(((InetSocketAddress) server.localAddress()).getPort());
        }
        System.out.println("1000 orders sent; the proxy runs on");
        server.closeFuture().sync();
    }

    private static Channel connect(Channel client, int port) {
        return new Bootstrap().group(client.eventLoop()).channel(NioSocketChannel.class)
                .handler(new BackendHandler(client)).connect("127.0.0.1", port).channel();
    }

    /** Nine orders are answered; then the backend is gone, and one more order comes. */
    private static void talk(int port) throws Exception {
        byte[] answer = new byte[Backend.SIZE];
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setTcpNoDelay(true);
            for (int n = 1; n <= Backend.ORDERS; n++) {
                socket.getOutputStream().write(ORDER);
                socket.getInputStream().readNBytes(answer, 0, answer.length);
            }
            socket.getInputStream().readNBytes(answer, 0, answer.length); // "gone!" by BackendHandler
            socket.getOutputStream().write(ORDER);
            socket.shutdownOutput();
            socket.getInputStream().read(); // until the proxy has read the order, and closes
        }
    }
}
