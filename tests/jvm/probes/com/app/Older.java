package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.ArrayList;
import java.util.List;

/**
 * older: buffers that were opened before anybody looked (20, half of them lost after a line came
 * in), some that were released before, and constants; a step meets them all afterwards.
 */
final class Older {
    private static final Gc LOST = new Gc();
    private static int sink;

    private Older() {
    }

    static void run(String[] args) throws Exception {
        List<ByteBuf> open = new ArrayList<>();
        List<ByteBuf> released = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            open.add(i < 10 ? PooledByteBufAllocator.DEFAULT.directBuffer(64)
                    : UnpooledByteBufAllocator.DEFAULT.heapBuffer(64));
        }
        for (int i = 0; i < 5; i++) {
            ByteBuf b = UnpooledByteBufAllocator.DEFAULT.heapBuffer(32);
            b.release();
            released.add(b);
        }
        System.out.println("READY");
        System.out.flush();
        Late.untilLine();
        for (ByteBuf b : released) {
            look(b);
        }
        look(Unpooled.EMPTY_BUFFER);
        look(Unpooled.unreleasableBuffer(released.get(0)));
        for (int i = 0; i < 20; i++) {
            Steps.step(open.get(i));
            if (i % 2 == 0) {
                Steps.done(open.get(i).slice()); // of a view: its owner's life
            } else {
                LOST.watch(open.get(i));
                Steps.leaky(open.get(i));
            }
        }
        open.clear();
        Oracle.say("lives", 20, "released", 10, "leaked", 10, "collected", LOST.settle());
    }

    private static void look(ByteBuf b) {
        sink += b.readerIndex();
    }
}
