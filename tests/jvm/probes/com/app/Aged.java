package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.ArrayList;
import java.util.List;

/**
 * aged SECONDS QUICK: of three roots (pooled direct, pooled heap, unpooled direct) QUICK, QUICK and
 * QUICK - 2 buffers are released at once; of pooled heap two more after 2 s; one of each is open
 * for SECONDS, to the end, and one that cannot be released.
 */
final class Aged {
    private static final List<ByteBuf> HELD = new ArrayList<>();

    private Aged() {
    }

    static void run(String[] args) throws Throwable {
        int quick = Integer.parseInt(args[1]);
        ByteBufAllocator pooled = PooledByteBufAllocator.DEFAULT;
        ByteBuf[] later = {pooled.heapBuffer(64), pooled.heapBuffer(64)};
        hold(pooled.directBuffer(100));
        hold(pooled.heapBuffer(100));
        hold(UnpooledByteBufAllocator.DEFAULT.directBuffer(100));
        HELD.add(Unpooled.unreleasableBuffer(pooled.directBuffer(100)));
        for (int i = 0; i < quick; i++) {
            Steps.done(pooled.directBuffer(64));
            Steps.done(pooled.heapBuffer(64));
            if (i > 1) {
                Steps.done(UnpooledByteBufAllocator.DEFAULT.directBuffer(64));
            }
        }
        Thread.sleep(2_100);
        for (ByteBuf b : later) {
            Steps.done(b);
        }
        Thread.sleep(Integer.parseInt(args[0]) * 1000L - 2_100);
        Oracle.say("lives", 3 * quick + 4, "released", 3 * quick, "leaked", 0, "live", HELD.size());
    }

    private static void hold(ByteBuf b) {
        HELD.add(b);
        Steps.step(b);
    }
}
