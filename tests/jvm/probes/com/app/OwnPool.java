package com.app;

import io.netty.buffer.AbstractReferenceCountedByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;

import java.lang.reflect.Field;
import java.util.ArrayDeque;

/**
 * ownpool WHEN: a pool of the application, of buffers that deallocate() keeps. WHEN the count comes
 * back: "reset" and "set" as one is taken, by resetRefCnt() or setRefCnt(1), "early" in deallocate(),
 * so that the idle ones have a count of 1, "hidden" by reflection. 200 uses of 10 objects; then 7 are
 * taken and lost, and the pool, which has room for 8, drops what does not fit.
 */
final class OwnPool {
    private static final int OBJECTS = 10;
    private static final int ROOM = 8;
    private static final Gc LOST = new Gc();
    private static final Gc IDLE = new Gc();
    private static final ArrayDeque<Mine> POOL = new ArrayDeque<>();
    private static String when;

    private OwnPool() {
    }

    /** A class between it and Netty's, as pools of libraries have. */
    private abstract static class Base extends UnpooledHeapByteBuf {
        Base() {
            super(UnpooledByteBufAllocator.DEFAULT, 32, 32);
        }
    }

    private static final class Mine extends Base {
        @Override
        protected void deallocate() {
            if (when.equals("early")) {
                setRefCnt(1);
            }
            keep(this);
        }

        void comeBack() throws ReflectiveOperationException {
            switch (when) {
            case "reset":
                resetRefCnt();
                break;
            case "set":
                setRefCnt(1);
                break;
            case "hidden":
                Field field = AbstractReferenceCountedByteBuf.class.getDeclaredField("refCnt");
                field.setAccessible(true);
                if (field.getType() == int.class) {
                    field.setInt(this, 2); // an even number is twice the count
                } else {
                    Object counter = field.get(this);
                    Field value = counter.getClass().getDeclaredField("value");
                    value.setAccessible(true);
                    value.setInt(counter, 2);
                }
                break;
            default:
            }
        }
    }

    /** Followed: it takes a ByteBuf. */
    private static void keep(ByteBuf b) {
        if (POOL.size() < ROOM) {
            POOL.push((Mine) b);
        } else {
            IDLE.watch(b);
        }
    }

    private static ByteBuf take() throws ReflectiveOperationException {
        Mine b = POOL.poll();
        if (b == null) {
            return new Mine();
        }
        b.comeBack();
        return b;
    }

    static void run(String[] args) throws Throwable {
        when = args[0];
        ByteBuf[] some = new ByteBuf[OBJECTS];
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < OBJECTS; i++) {
                some[i] = take();
                Steps.step(some[i]);
            }
            for (int i = 0; i < OBJECTS; i++) {
                Steps.done(some[i]);
                some[i] = null;
            }
        }
        for (int i = 0; i < 7; i++) {
            lose();
        }
        int idle = IDLE.size();
        int unknown = when.equals("early") ? 7 : 0; // it may be idle, for all that can be seen
        Oracle.say("lives", 207, "released", 200, "leaked", 7 - unknown, "live", 0, "unknown", unknown,
                unknown == 0 ? "collected" : "lost", LOST.settle(), "dropped", idle, "gone", IDLE.collected());
    }

    private static void lose() throws ReflectiveOperationException {
        ByteBuf b = take();
        LOST.watch(b);
        Steps.leaky(b);
    }
}
