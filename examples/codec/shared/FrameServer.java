// SPDX-License-Identifier: Apache-2.0
package com.shop;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/** A protocol of frames with a checksum. Its client sends 1,000; in every tenth a bit is wrong. FrameServer [ROUNDS]: that often. */
public final class FrameServer {
    private FrameServer() {
    }

    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        Channel server = new ServerBootstrap().group(new NioEventLoopGroup(1))
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new FrameDecoder(), new FrameHandler());
                    }
                }).bind("127.0.0.1", 0).sync().channel();
        try (Socket socket = new Socket("127.0.0.1",
                ((InetSocketAddress) server.localAddress()).getPort())) {
            DataOutputStream out = new DataOutputStream(
                    new BufferedOutputStream(socket.getOutputStream()));
            for (int n = 1; n <= 1000 * rounds; n++) {
                send(out, "order=" + n, n % 10 == 0);
                socket.getInputStream().read(); // the answer, a byte
            }
        }
        System.out.println("1000 frames sent; the server runs on");
        server.closeFuture().sync();
    }

    private static void send(DataOutputStream out, String text, boolean isWrong) throws Exception {
        byte[] payload = text.getBytes(StandardCharsets.US_ASCII);
        CRC32 sum = new CRC32();
        sum.update(payload);
        out.writeInt(payload.length);
        out.write(payload);
        out.writeInt((int) sum.getValue() ^ (isWrong ? 1 : 0));
        out.flush();
    }
}
