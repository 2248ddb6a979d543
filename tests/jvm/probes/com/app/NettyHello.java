package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

import java.nio.charset.StandardCharsets;

/** The smallest Netty program. */
public final class NettyHello {
    private NettyHello() {
    }

    public static void main(String[] args) {
        ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(16);
        b.writeBytes("hello".getBytes(StandardCharsets.UTF_8));
        System.out.println(b.toString(StandardCharsets.UTF_8));
        b.release();
    }
}
