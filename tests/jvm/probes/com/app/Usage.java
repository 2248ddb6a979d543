package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Buffers of known sizes that are open for known times, of which a known part is written; each form
 * ends in a method of its name. One of each is opened every 50 ms for a second and released 3 s later,
 * every second one by another thread. What byte-seconds they took is measured here, with a clock.
 */
public final class Usage {
    private static final int ROUNDS = 20;
    private static final int EVERY_MS = 50;
    private static final int OPEN_ROUNDS = 60;
    private static final int CAPACITY = 4096;
    private static final int WRITTEN = 1024;
    private static final int GROWN = 10_000;
    private static final String[] FORMS = {"plain", "grown", "cleared", "part", "owner"};

    /** Of the buffers in the rows that bbflow reports. */
    private static final class Sum {
        long lives;
        long bytes;
        double byteSeconds;
    }

    private static final class Held {
        final ByteBuf buffer;
        final String form;
        final long since = System.nanoTime();
        final int round;

        Held(ByteBuf buffer, String form, int round) {
            this.buffer = buffer;
            this.form = form;
            this.round = round;
        }
    }

    private static final List<Held> OPEN = new ArrayList<>();
    private static final List<ByteBuf> KEPT = new ArrayList<>();
    private static final Sum[] SUMS = new Sum[FORMS.length];
    private static ByteBufAllocator alloc;
    private static boolean direct;

    private Usage() {
    }

    /** pooled|unpooled|adaptive, direct|heap. */
    public static void main(String[] args) throws Exception {
        alloc = "pooled".equals(args[0]) ? PooledByteBufAllocator.DEFAULT
                : "unpooled".equals(args[0]) ? UnpooledByteBufAllocator.DEFAULT
                : (ByteBufAllocator) Class.forName("io.netty.buffer.AdaptiveByteBufAllocator").newInstance();
        direct = "direct".equals(args[1]);
        for (int i = 0; i < SUMS.length; i++) {
            SUMS[i] = new Sum();
        }
        for (int i = 0; i < 500; i++) { // a pool's objects have had lives
            plain(make());
        }
        ExecutorService other = Executors.newSingleThreadExecutor();
        for (int round = 0; round < ROUNDS + OPEN_ROUNDS; round++) {
            if (round < ROUNDS) {
                open(round);
            }
            for (int i = 0; i < OPEN.size(); ) {
                if (OPEN.get(i).round + OPEN_ROUNDS > round) {
                    i++;
                    continue;
                }
                Held held = OPEN.remove(i);
                if (round % 2 == 0) {
                    end(held);
                } else {
                    other.submit(() -> end(held)).get();
                }
            }
            Thread.sleep(EVERY_MS);
        }
        other.shutdown();
        lose(make());
        KEPT.add(keep(make()));
        Thread.sleep(2100);
        System.gc();
        Object[] says = new Object[2 + FORMS.length * 6];
        says[0] = "rounds";
        says[1] = ROUNDS;
        for (int i = 0; i < FORMS.length; i++) {
            Object[] row = {FORMS[i] + "_lives", SUMS[i].lives, FORMS[i] + "_bytes", SUMS[i].bytes,
                FORMS[i] + "_byte_seconds", Math.round(SUMS[i].byteSeconds)};
            System.arraycopy(row, 0, says, 2 + i * 6, 6);
        }
        Oracle.say(says);
        System.out.println("READY");
        System.in.read();
    }

    private static ByteBuf make() {
        return direct ? alloc.directBuffer(CAPACITY) : alloc.heapBuffer(CAPACITY);
    }

    private static ByteBuf write(ByteBuf buffer, int bytes) {
        return buffer.writeBytes(new byte[bytes]);
    }

    private static void open(int round) {
        OPEN.add(new Held(write(make(), WRITTEN), "plain", round));
        ByteBuf small = direct ? alloc.directBuffer(256) : alloc.heapBuffer(256);
        OPEN.add(new Held(write(small, GROWN), "grown", round));
        OPEN.add(new Held(write(make(), CAPACITY), "cleared", round));
        CompositeByteBuf composite = direct ? alloc.compositeDirectBuffer() : alloc.compositeHeapBuffer();
        composite.addComponent(true, part(write(make(), WRITTEN)));
        composite.addComponent(true, part(write(make(), WRITTEN)));
        OPEN.add(new Held(composite, "part", round));
        ByteBuf owner = owner(write(make(), WRITTEN));
        OPEN.add(new Held(owner.retainedSlice(), "owner", round));
        owner.release();
    }

    private static void end(Held held) {
        int form = java.util.Arrays.asList(FORMS).indexOf(held.form);
        Sum sum = SUMS[form];
        int buffers = form == 3 ? 2 : 1;
        long bytes = form == 1 ? held.buffer.capacity() : CAPACITY * buffers;
        sum.lives += buffers;
        sum.bytes += bytes;
        sum.byteSeconds += bytes * ((System.nanoTime() - held.since) / 1e9);
        switch (form) {
        case 0:
            plain(held.buffer);
            break;
        case 1:
            grown(held.buffer);
            break;
        case 2:
            cleared(held.buffer);
            break;
        default:
            held.buffer.release();
        }
    }

    private static void plain(ByteBuf buffer) {
        buffer.release();
    }

    private static void grown(ByteBuf buffer) {
        buffer.release();
    }

    private static void cleared(ByteBuf buffer) {
        buffer.clear().release();
    }

    private static ByteBuf part(ByteBuf buffer) {
        return buffer;
    }

    private static ByteBuf owner(ByteBuf buffer) {
        return buffer;
    }

    private static void lose(ByteBuf buffer) {
        buffer.writeByte(1);
    }

    private static ByteBuf keep(ByteBuf buffer) {
        return buffer;
    }
}
