package com.example.leaky;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;

import java.nio.charset.StandardCharsets;

/** Sends orders at a steady rate; every tenth has no amount. */
final class OrderClient {
    private final Channel channel;

    OrderClient(Channel channel) {
        this.channel = channel;
    }

    void sendFor(int seconds, int rate) throws InterruptedException {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        for (long n = 1; System.nanoTime() < end && channel.isActive(); n++) {
            String order = n % 10 == 0 ? "order=" + n : "order=" + n + ";amount=" + n % 97;
            channel.writeAndFlush(encode(order));
            Thread.sleep(Math.max(1, 1000 / rate));
        }
    }

    private ByteBuf encode(String order) {
        byte[] text = order.getBytes(StandardCharsets.UTF_8);
        return channel.alloc().directBuffer(4 + text.length).writeInt(text.length).writeBytes(text);
    }
}
