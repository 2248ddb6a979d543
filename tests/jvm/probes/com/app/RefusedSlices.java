package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;

/** RefusedSlices: slices of released buffers, which Netty refuses after it has begun to make them. */
public final class RefusedSlices {
    private static final int ROUNDS = 20;

    private RefusedSlices() {
    }

    public static void main(String[] args) throws Throwable {
        if (args.length > 0) // so that its classes are there before us, and the map is needed
            PooledByteBufAllocator.DEFAULT.directBuffer(64).release();
        System.out.println("READY");
        Late.untilLine();
        int refused = 0;
        for (int i = 0; i < ROUNDS; i++) {
            ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer(64);
            ByteBuf slice = buffer.retainedSlice(0, 8);
            buffer.release();
            slice.release();
            for (ByteBuf released : new ByteBuf[] {buffer, slice}) {
                try {
                    released.retainedDuplicate();
                } catch (IllegalReferenceCountException e) {
                    refused++;
                }
            }
        }
        System.out.println("REFUSED " + refused);
        Late.untilLine();
    }
}
