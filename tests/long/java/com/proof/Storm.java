package com.proof;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.concurrent.FastThreadLocalThread;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Storm MODE SECONDS [virtual]: eight threads, and new ones every second, do to buffers what the
 * memory-safety protocol (design.md: memory safety) must survive; tests/long/exact-under-stress resets and sets meanwhile.
 *   shared  everything: unsafe publication, steps by many at once, use after release, views of
 *           recycled owners, two holders of one buffer
 *   owned   one user at a time, who may come back to what it released: no step may race
 *   plain   as shared, but only what counts as one dropped life at a limit
 *   exit, halt, end   as shared; after SECONDS the JVM goes down while all threads run
 * The first three print READY, and REST with what became of every life once nothing moves; they end
 * with stdin. Each life is counted by the thread that did it: paths may mix, outcomes may not.
 */
public final class Storm {
    private static final int THREADS = 8, KEPT = 2_048, MINE = 1_000, BURST = 200, GHOSTS = 32;
    private static final AtomicReferenceArray<ByteBuf> EXCHANGE = new AtomicReferenceArray<>(128);
    /** Written and read by all threads, on purpose without any order. */
    private static final ByteBuf[] PUBLISHED = new ByteBuf[64];
    private static final ByteBuf[] VIEWS = new ByteBuf[64];
    private static final ByteBuf[] KEEP = new ByteBuf[KEPT];
    private static final AtomicInteger KEEP_NEXT = new AtomicInteger();
    /** Released and dropped buffers: nothing may keep them. */
    private static final List<WeakReference<ByteBuf>> DROPPED = new ArrayList<>();
    private static final AdaptiveByteBufAllocator ADAPTIVE = new AdaptiveByteBufAllocator();
    private static final Counts ALL = new Counts();
    private static boolean sharing, plain;
    private static volatile boolean stop, collectNoMore;
    private static volatile int sink;

    private final SplittableRandom random;
    private final long until;
    private final Counts n = new Counts();
    private final List<ByteBuf> mine = new ArrayList<>();
    /** Released ones of this thread that are never reused, though their records are. */
    private final ByteBuf[] ghosts = new ByteBuf[GHOSTS];

    /** What the application knows of its lives. */
    private static final class Counts {
        long lives, released, leaked, held, harmless, unknown, direct;

        synchronized void add(Counts o) {
            lives += o.lives;
            released += o.released;
            leaked += o.leaked;
            held += o.held;
            harmless += o.harmless;
            unknown += o.unknown;
            direct += o.direct;
        }
    }

    /** A buffer may be wrapped for leak detection while its life is open: it stays the same life. */
    private abstract static class Again extends AbstractByteBufAllocator {
        static ByteBuf again(ByteBuf b) {
            return toLeakAwareBuffer(b);
        }
    }

    private Storm(long seed, long until) {
        random = new SplittableRandom(seed);
        this.until = until;
    }

    public static void main(String[] args) throws Exception {
        String mode = args[0];
        long end = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);
        boolean virtual = args.length > 2;
        sharing = !mode.equals("owned");
        plain = mode.equals("plain");
        boolean last = mode.equals("exit") || mode.equals("halt") || mode.equals("end");
        Thread collector = new Thread(Storm::collect);
        collector.setDaemon(true);
        collector.start();
        List<Thread> employers = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            Thread t = new Thread(() -> employ(number, last ? Long.MAX_VALUE : end, virtual));
            t.setDaemon(last);
            t.start();
            employers.add(t);
        }
        System.out.println("READY");
        if (last) {
            leave(mode, end);
            return;
        }
        for (Thread t : employers) {
            t.join();
        }
        collectNoMore = true;
        collector.join();
        comeToRest();
        while (System.in.read() >= 0) {
            continue;
        }
    }

    private static void leave(String mode, long end) throws InterruptedException {
        Thread.sleep(Math.max(0, (end - System.nanoTime()) / 1_000_000));
        if (mode.equals("exit")) {
            System.exit(0);
        } else if (mode.equals("halt")) {
            Runtime.getRuntime().halt(0);
        }
    }

    /** Threads come and go: a stripe has many owners in turn. */
    private static void employ(int number, long end, boolean virtual) {
        try {
            for (int i = 0; System.nanoTime() < end; i++) {
                long until = Math.min(end, System.nanoTime() + 1_000_000_000L);
                Storm storm = new Storm(1_000L * i + number, until);
                Thread t = start(storm, number, virtual);
                t.join();
                if (storm.failure != null) {
                    System.out.println("FAILED " + storm.failure);
                    storm.failure.printStackTrace();
                }
            }
        } catch (Exception e) {
            System.out.println("FAILED " + e);
        }
    }

    private static Thread start(Storm work, int i, boolean virtual) throws Exception {
        if (virtual) { // Java 21's, by reflection: this is compiled for 11
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            ThreadFactory factory = (ThreadFactory) Class.forName("java.lang.Thread$Builder")
                    .getMethod("factory").invoke(builder);
            Thread t = factory.newThread(work::work);
            t.start();
            return t;
        }
        Thread t = i % 2 == 0 ? new Thread(work::work) : new FastThreadLocalThread(work::work);
        t.setDaemon(Thread.currentThread().isDaemon());
        t.start();
        return t;
    }

    private static void collect() {
        try {
            for (int i = 0; !collectNoMore; i++) {
                System.gc();
                Thread.sleep(i % 4 == 0 ? 100 : 10);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void comeToRest() throws Exception {
        Counts rest = new Counts();
        for (int i = 0; i < EXCHANGE.length(); i++) {
            ByteBuf b = EXCHANGE.getAndSet(i, null);
            if (b != null && b.release()) {
                rest.released++;
            }
        }
        lastBurst(rest);
        ALL.add(rest);
        Arrays.fill(PUBLISHED, null);
        Arrays.fill(VIEWS, null);
        long pinned = 1;
        for (int i = 0; i < 3 || i < 50 && pinned > 0; i++) {
            System.gc();
            Thread.sleep(50);
            pinned = DROPPED.stream().filter(r -> r.get() != null).count();
        }
        long live = Arrays.stream(KEEP).filter(b -> b != null).count(), gcs = 0;
        for (GarbageCollectorMXBean gc : ManagementFactory.getGarbageCollectorMXBeans()) {
            gcs += Math.max(0, gc.getCollectionCount());
        }
        System.out.println("REST lives=" + ALL.lives + " released=" + ALL.released + " leaked="
                + ALL.leaked + " held=" + ALL.held + " harmless=" + ALL.harmless + " unknown="
                + ALL.unknown + " live=" + live + " direct=" + ALL.direct + " pinned=" + pinned
                + " gcs=" + gcs);
    }

    /** The last users of many records. */
    private static void lastBurst(Counts n) {
        List<ByteBuf> all = new ArrayList<>();
        for (int i = 0; i < KEPT; i++) {
            all.add(UnpooledByteBufAllocator.DEFAULT.heapBuffer(8));
        }
        for (ByteBuf b : all) {
            a(b);
            b.release();
            watch(b);
        }
        n.lives += KEPT;
        n.released += KEPT;
    }

    // ---- one thread ----

    private volatile Throwable failure;

    private void work() {
        try {
            while (System.nanoTime() < until) {
                for (int i = 0; i < BURST; i++) {
                    life();
                }
            }
            while (!mine.isEmpty()) {
                ByteBuf b = mine.remove(mine.size() - 1);
                int at = random.nextInt(8) == 0 ? KEEP_NEXT.getAndIncrement() : KEPT;
                if (at < KEPT) {
                    KEEP[at] = b;
                } else {
                    release(b);
                }
            }
        } catch (Throwable t) {
            failure = t;
        }
        ALL.add(n);
    }

    private void life() {
        int what = random.nextInt(100);
        if (what < 80) {
            anyLife();
        } else if (what < 88) {
            composite();
        } else if (plain) {
            anyLife();
        } else if (what < 96) {
            derived(what < 95);
        } else {
            firstSeen();
        }
    }

    private void anyLife() {
        int kind = random.nextInt(100);
        ByteBuf b = allocate(kind);
        walk(b);
        publish(b);
        int fate = random.nextInt(1_000);
        if (fate < 600) {
            release(b);
            afterwards(b, kind);
        } else if (fate < 620) {
            count(b);
            release(b);
        } else if (fate < 820) {
            handOver(b, fate < 640);
        } else if (fate < 980) {
            keepForAWhile(b);
        } else if (fate < 990 && !plain) {
            release(Again.again(b));
        } else if (fate < 999 || kind >= 85) {
            release(b);
        } else {
            lose(b);
        }
    }

    private ByteBuf allocate(int kind) {
        ByteBuf b = kind < 30 ? UnpooledByteBufAllocator.DEFAULT.heapBuffer(32)
                : kind < 35 ? UnpooledByteBufAllocator.DEFAULT.directBuffer(32)
                : kind < 60 ? PooledByteBufAllocator.DEFAULT.heapBuffer(64)
                : kind < 85 ? PooledByteBufAllocator.DEFAULT.directBuffer(64)
                : kind < 92 ? ADAPTIVE.heapBuffer(64) : ADAPTIVE.directBuffer(64);
        n.lives++;
        countDirect(b);
        return b;
    }

    private void countDirect(ByteBuf b) {
        if (b.isDirect()) {
            n.direct++;
        }
    }

    /** Only the collector sees it again; seldom, because native memory stays lost. Unreleasable, it is
     * harmless where the collector gives its memory back, and a leak where a pool never gets it back. */
    private void lose(ByteBuf b) {
        boolean unreleasable = !plain && random.nextInt(4) == 0;
        if (unreleasable) {
            Unpooled.unreleasableBuffer(b);
        }
        boolean forGood = !(b.alloc() instanceof UnpooledByteBufAllocator)
                || b.getClass().getName().contains("NoCleaner");
        if (unreleasable && !forGood) {
            n.harmless++;
        } else {
            n.leaked++;
        }
    }

    private void publish(ByteBuf b) {
        if (!sharing) {
            return;
        }
        int r = random.nextInt();
        PUBLISHED[r & 63] = b;
        ByteBuf others = PUBLISHED[r >>> 6 & 63];
        if (others != null) {
            b(others); // of another thread perhaps, released perhaps
        }
        if ((r >>> 12 & 7) == 0) {
            ByteBuf view = VIEWS[r >>> 15 & 63];
            if (view != null) {
                c(view);
            }
            VIEWS[r >>> 21 & 63] = (r >>> 27 & 1) == 0 ? b.duplicate() : b.slice();
        }
    }

    private void handOver(ByteBuf b, boolean two) {
        if (two && sharing) {
            b.retain();
        }
        ByteBuf other = EXCHANGE.getAndSet(random.nextInt(EXCHANGE.length()), b);
        if (other != null) {
            c(other);
            if (other.release()) {
                n.released++;
            }
        }
        if (two && sharing) {
            a(b);
            if (b.release()) {
                n.released++;
            }
        }
    }

    private void keepForAWhile(ByteBuf b) {
        mine.add(b);
        if (mine.size() > MINE) {
            for (int i = 0; i < MINE / 2; i++) {
                ByteBuf kept = mine.remove(mine.size() - 1);
                a(kept);
                release(kept);
            }
        }
    }

    private void release(ByteBuf b) {
        if (!b.release()) {
            throw new IllegalStateException("not released: " + b.refCnt());
        }
        n.released++;
    }

    /** The bucket moves, the capacity changes. */
    private void count(ByteBuf b) {
        b.retain(6);
        a(b);
        b.release(5);
        b(b);
        b.release();
        b.capacity(b.capacity() * 2);
    }

    /** A released buffer may be reused already, unless it is of a kind that is never reused. */
    private void afterwards(ByteBuf b, int kind) {
        if (sharing) {
            a(b);
        }
        if (kind >= 35) {
            return;
        }
        int at = random.nextInt(GHOSTS);
        if (ghosts[at] != null) {
            stale(ghosts[at], random.nextInt(4));
        }
        ghosts[at] = b;
        if (random.nextInt(64) == 0) {
            try {
                b.getByte(0);
                throw new IllegalStateException("a released buffer was read");
            } catch (IllegalReferenceCountException expected) {
                sink++;
            }
        }
    }

    /** Where each buffer has one user, the steps after a release are this, afterwards() and watch(). */
    private static void stale(ByteBuf b, int depth) {
        if (depth > 0) {
            stale(b, depth - 1);
        }
    }

    private static void watch(ByteBuf b) {
        synchronized (DROPPED) {
            DROPPED.add(new WeakReference<>(b));
        }
    }

    private void composite() {
        CompositeByteBuf c = PooledByteBufAllocator.DEFAULT.compositeBuffer(4);
        n.lives++;
        countDirect(c);
        ByteBuf part = allocate(random.nextInt(85));
        part.writeLong(1);
        a(part);
        c.addComponent(true, part);
        walk(c);
        publish(part);
        release(c);
        n.released++; // the part
    }

    private void derived(boolean all) {
        ByteBuf b = allocate(35 + random.nextInt(50));
        b.writeLong(2);
        ByteBuf d = random.nextBoolean() ? b.retainedSlice(0, 4) : b.retainedDuplicate();
        n.lives++;
        countDirect(d);
        walk(d);
        a(b);
        publish(d);
        if (b.release()) {
            throw new IllegalStateException("its derived buffer holds it");
        }
        if (all || random.nextInt(64) != 0) {
            c(d);
            release(d);
            n.released++; // and with it the other
        } else {
            n.leaked++;
            n.held++;
        }
    }

    /** No root hook knows it: the first step does, of whichever thread. */
    private void firstSeen() {
        ByteBuf b = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 16, 64);
        n.lives++;
        if (sharing) {
            for (int i = 0; i < 8; i++) {
                PUBLISHED[random.nextInt(64)] = b;
            }
            if (random.nextInt(8) == 0) {
                Thread.yield(); // others may see it first
            }
        }
        sink += First.sight(b);
        if (random.nextInt(500) == 0) {
            n.leaked++;
        } else if (random.nextInt(100) == 0) {
            Unpooled.wrappedBuffer(new byte[8]); // lost, but harmless
            n.lives++;
            n.harmless++;
            release(b);
        } else {
            release(b);
        }
    }

    // ---- steps: they read nothing that a released buffer would refuse ----

    private void walk(ByteBuf b) {
        int r = random.nextInt();
        switch (r & 7) {
            case 0:
                a(b);
                b(b);
                break;
            case 1:
                c(b);
                break;
            case 2:
                deep(b, r >>> 3 & 15);
                break;
            case 3:
                a(b.duplicate());
                break;
            case 4:
                b(c(b));
                break;
            default:
                a(b);
        }
    }

    private static void a(ByteBuf b) {
        sink += b.readerIndex();
    }

    private static void b(ByteBuf b) {
        sink += b.writerIndex();
    }

    private static ByteBuf c(ByteBuf b) {
        return b;
    }

    private static void deep(ByteBuf b, int depth) {
        if (depth > 0) {
            a(b);
            deep(b, depth - 1);
        } else {
            b(b);
        }
    }
}
