package com.app;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

/** Allocators by name; the adaptive one by reflection, since old Nettys have none. */
final class Allocators {
    private Allocators() {
    }

    static ByteBufAllocator byName(String name) throws ReflectiveOperationException {
        switch (name) {
        case "pooled":
            return PooledByteBufAllocator.DEFAULT;
        case "unpooled":
            return UnpooledByteBufAllocator.DEFAULT;
        case "adaptive":
            return (ByteBufAllocator) Class.forName("io.netty.buffer.AdaptiveByteBufAllocator")
                    .getConstructor().newInstance();
        default:
            return ByteBufAllocator.DEFAULT;
        }
    }
}
