package com.shop;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.charset.StandardCharsets;

/** Renders into pooled memory, as Vert.x's own buffers are plain arrays. */
public final class ReceiptService {
    public Buffer render(Buffer order) {
        ByteBuf out = PooledByteBufAllocator.DEFAULT.directBuffer(order.length() + 9);
        out.writeCharSequence("receipt: ", StandardCharsets.US_ASCII);
        out.writeBytes(order.getBytes());
        return BufferInternal.buffer(out);
    }
}
