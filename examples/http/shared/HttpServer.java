// SPDX-License-Identifier: Apache-2.0
package com.shop;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.charset.StandardCharsets;

/** Takes orders by POST. Its client, the JDK's, sends 1,000 requests; every tenth is a PUT. HttpServer [ROUNDS]: that often. */
public final class HttpServer {
    private HttpServer() {
    }

    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        NioEventLoopGroup group = new NioEventLoopGroup(1);
        Channel server = new ServerBootstrap().group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new HttpServerCodec(),
                                new HttpObjectAggregator(65536), new OrderHandler());
                    }
                }).bind("127.0.0.1", 0).sync().channel();
        for (int round = 0; round < rounds; round++) {
            sendOrders(((InetSocketAddress) server.localAddress()).getPort());
        }
        System.out.println("1000 requests sent; the server runs on");
        server.closeFuture().sync();
    }

    private static void sendOrders(int port) throws Exception {
        URL orders = new URL("http://127.0.0.1:" + port + "/orders");
        for (int n = 1; n <= 1000; n++) {
            HttpURLConnection request = (HttpURLConnection) orders.openConnection();
            request.setDoOutput(true);
            request.setRequestMethod(n % 10 == 0 ? "PUT" : "POST");
            request.getOutputStream().write(("order=" + n).getBytes(StandardCharsets.US_ASCII));
            boolean isAnswer = request.getResponseCode() < 400;
            try (InputStream answer = isAnswer ? request.getInputStream() : request.getErrorStream()) {
                answer.readAllBytes();
            }
        }
    }
}
