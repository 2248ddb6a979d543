package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.concurrent.FastThreadLocalThread;

import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;

/**
 * watched MILLIS THREADS LOSE: for lives that are followed by windows (duty=). Each thread makes buffers
 * of all kinds as fast as it can; of the plain ones one in LOSE (0: none) is lost at Watched.lose, and
 * one in 64 is kept for some milliseconds. MILLIS 0: until stdin closes. A plain buffer's steps are
 * begin, middle, [keep, goOn,] end; Windows.py knows.
 */
final class Watched {
    private static final class Worker extends FastThreadLocalThread {
        long plain, lost, others;
        final ArrayDeque<ByteBuf> kept = new ArrayDeque<>();
        final ArrayDeque<Long> due = new ArrayDeque<>();
        private final int lose;

        Worker(int lose) {
            this.lose = lose;
        }

        @Override
        public void run() {
            while (!over) {
                for (int i = 0; i < 16; i++) {
                    plain(this, lose);
                }
                others();
                others += 8;
                resumeDue(false);
                rest();
            }
            resumeDue(true);
        }

        /** Until stdin closes: only now and then, because other cases run beside this one. */
        private void rest() {
            try {
                if (gentle) {
                    Thread.sleep(1);
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private void resumeDue(boolean all) {
            while (!due.isEmpty() && (all || due.peek() <= System.nanoTime())) {
                due.poll();
                goOn(kept.poll());
            }
        }
    }

    private static final class Session {
        void close() {
        }
    }

    private static final ByteBufAllocator POOL = PooledByteBufAllocator.DEFAULT;
    private static final ConcurrentLinkedQueue<ByteBuf> HANDED = new ConcurrentLinkedQueue<>();
    private static volatile boolean over, gentle;

    private Watched() {
    }

    static void run(String[] args) throws Exception {
        int millis = Integer.parseInt(args[0]), threads = Integer.parseInt(args[1]);
        gentle = millis == 0;
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            workers.add(new Worker(Integer.parseInt(args[2])));
        }
        for (Worker worker : workers) {
            worker.start();
        }
        Thread.sleep(300);
        System.out.println("READY");
        System.out.flush();
        if (millis != 0) {
            Thread.sleep(millis);
        } else {
            while (System.in.read() >= 0) {
                continue;
            }
        }
        over = true;
        long plain = 0, lost = 0, others = 0;
        for (Worker worker : workers) {
            worker.join();
            plain += worker.plain;
            lost += worker.lost;
            others += worker.others;
        }
        for (ByteBuf b; (b = HANDED.poll()) != null; ) {
            b.release();
        }
        workers.clear();
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(100);
        }
        Oracle.say("plain", plain, "lost", lost, "others", others);
    }

    // ---- plain buffers: each path is known ----

    static void plain(Worker w, int lose) {
        ByteBuf b = (w.plain & 1) == 0 ? POOL.directBuffer(64) : POOL.heapBuffer(64);
        w.plain++;
        begin(b);
        look(b, (int) w.plain >> 1 & 3);
        int random = ThreadLocalRandom.current().nextInt();
        if (lose != 0 && Integer.remainderUnsigned(random, lose) == 0) {
            w.lost++;
            lose(b);
        } else if ((random & 63 << 20) == 0) {
            keep(w, b);
        } else {
            end(b);
        }
    }

    static void begin(ByteBuf b) {
        b.writeInt(1);
    }

    /** A view's steps are its buffer's. */
    static void look(ByteBuf b, int which) {
        middle(which == 0 ? b : which == 1 ? b.duplicate() : which == 2 ? b.order(ByteOrder.LITTLE_ENDIAN)
                : b.slice(0, 8).order(ByteOrder.LITTLE_ENDIAN));
    }

    static void middle(ByteBuf b) {
        b.setInt(0, 2);
    }

    static void end(ByteBuf b) {
        b.release();
    }

    static void lose(ByteBuf b) {
        b.writeInt(3);
    }

    static void keep(Worker w, ByteBuf b) {
        w.kept.add(b);
        w.due.add(System.nanoTime() + 3_000_000L);
    }

    static void goOn(ByteBuf b) {
        b.writeInt(4);
        end(b);
    }

    // ---- all others: each is released ----

    static void others() {
        ByteBuf slice = sliceOf(POOL.directBuffer(128));
        use(slice);
        slice.release();
        composite(POOL.compositeBuffer(4));
        composite(new CompositeByteBuf(POOL, true, 4));
        ByteBuf wrapped = Unpooled.wrappedBuffer(new byte[16]);
        ByteBuf both = Unpooled.wrappedBuffer(POOL.heapBuffer(8).writeByte(1), wrapped);
        use(both);
        both.release();
        use(Unpooled.wrappedBuffer(copied()).retain());
        ByteBuf unpooled = UnpooledByteBufAllocator.DEFAULT.directBuffer(32);
        use(unpooled.duplicate());
        unpooled.capacity(64);
        unpooled.release();
        ByteBuf handed = HANDED.poll();
        if (handed != null) {
            use(handed);
            handed.release();
        }
        HANDED.add(POOL.directBuffer(16));
        session(new Session());
    }

    /** The slice has the only count of its parent. */
    static ByteBuf sliceOf(ByteBuf b) {
        b.writeLong(1).writeLong(2);
        ByteBuf slice = b.retainedSlice(0, 8);
        ByteBuf second = slice.retainedDuplicate();
        b.release();
        slice.release();
        return second;
    }

    static void composite(CompositeByteBuf c) {
        c.addComponent(true, POOL.directBuffer(8).writeInt(1));
        c.addComponent(true, POOL.directBuffer(8).writeInt(2));
        c.addFlattenedComponents(true, POOL.heapBuffer(8).writeInt(3));
        use(c);
        c.removeComponent(1);
        c.consolidate();
        c.release();
    }

    static ByteBuf copied() {
        ByteBuf copy = Unpooled.copiedBuffer(new byte[8]);
        Unpooled.unreleasableBuffer(copy).release();
        return copy;
    }

    static void use(ByteBuf b) {
        if (b.refCnt() > 0 && b.isReadable()) {
            b.getByte(b.readerIndex());
        }
        if (b.refCnt() == 2) {
            b.release(2);
        }
    }

    static void session(Session s) {
        s.close();
    }
}
