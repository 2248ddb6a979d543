package com.shop;

import io.netty.buffer.PooledByteBufAllocator;

import java.nio.charset.StandardCharsets;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.core.io.buffer.PooledDataBuffer;

/** Orders that arrive as Spring's DataBuffer: no class of Netty is named in the user's code. */
public final class Shop {
    private static final NettyDataBufferFactory FACTORY =
            new NettyDataBufferFactory(PooledByteBufAllocator.DEFAULT);

    private Shop() {
    }

    static DataBuffer order(int i) {
        DataBuffer body = FACTORY.allocateBuffer(64);
        body.write(("order " + i).getBytes(StandardCharsets.UTF_8));
        return body;
    }

    public static void main(String[] args) throws Exception {
        boolean clean = args.length > 0;
        AuditService audit = new AuditService();
        for (int i = 0; i < 1000; i++) {
            DataBuffer body = order(i);
            if (i % 100 == 7 && !clean) {
                audit.record(body);
            } else {
                ((PooledDataBuffer) body).release();
            }
        }
        audit.record(null);
        for (int i = 0; i < 6; i++) {
            System.gc();
            Thread.sleep(60);
        }
        int leaked = clean ? 0 : 10;
        System.out.println("ORACLE lives=1000 leaked=" + leaked + " released=" + (1000 - leaked));
    }
}
