package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

import java.util.ArrayList;
import java.util.List;

/** Releases whatever it allocates. */
public final class Healthy {
    private Healthy() {
    }

    public static void main(String[] args) throws Exception {
        List<ByteBuf> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            all.add(PooledByteBufAllocator.DEFAULT.directBuffer(256));
        }
        all.forEach(ByteBuf::release);
        System.out.println("READY");
        if (args.length > 0) {
            System.in.read();
        }
    }
}
