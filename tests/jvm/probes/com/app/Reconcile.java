package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.PoolArenaMetric;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocatorMetric;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.internal.PlatformDependent;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Buffers kept, lost and released, of every allocator; then Netty's own numbers, by its methods. */
public final class Reconcile {
    private static final int[] SIZES = {1, 16, 100, 129, 300, 1000, 5000, 9000, 40_000, 100_000};
    private static final int HUGE = 20 << 20;
    private static final int LARGE = 3 << 20;
    private static final int LARGE_ONES = 12;
    private static final Gc LOST = new Gc();
    private static final List<Object> KEPT = new ArrayList<>();

    private Reconcile() {
    }

    public static void main(String[] args) throws Exception {
        PooledByteBufAllocator own = new PooledByteBufAllocator(true);
        PooledByteBufAllocator pooled = PooledByteBufAllocator.DEFAULT;
        use(pooled, 3);
        use(own, 0);
        use(UnpooledByteBufAllocator.DEFAULT, 3);
        if (args.length > 0 && "adaptive".equals(args[0])) {
            use(ByteBufAllocator.DEFAULT, 3);
        }
        grown(pooled);
        for (int i = 0; i < LARGE_ONES; i++) { // several chunks in one list
            KEPT.add(own.directBuffer(LARGE));
        }
        KEPT.add(pooled.directBuffer(HUGE));
        KEPT.add(((ByteBuf) KEPT.get(0)).retainedSlice());
        contended(UnpooledByteBufAllocator.DEFAULT);
        cached(pooled);
        int collected = LOST.settle();
        Oracle.say("leaked", LOST.size(), "collected", collected,
                "of_default", active(pooled, true),
                "direct", active(pooled, true) + active(own, true),
                "heap", active(pooled, false) + active(own, false),
                "direct_bytes", pinned(pooled, true) + pinned(own, true),
                "heap_bytes", pinned(pooled, false) + pinned(own, false),
                "direct_reserved", whole(pooled, true) + whole(own, true),
                "heap_reserved", whole(pooled, false) + whole(own, false),
                "unpooled_direct", UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory(),
                "unpooled_heap", UnpooledByteBufAllocator.DEFAULT.metric().usedHeapMemory(),
                "default_direct", whole(ByteBufAllocator.DEFAULT, true),
                "default_heap", whole(ByteBufAllocator.DEFAULT, false),
                "used_direct", PlatformDependent.usedDirectMemory(),
                "nio", nio("getMemoryUsed"), "nio_buffers", nio("getCount"));
        System.out.println("READY");
        System.in.read();
    }

    private static void use(ByteBufAllocator alloc, int lost) {
        for (int size : SIZES) {
            for (int i = 0; i < 10; i++) {
                for (ByteBuf b : new ByteBuf[] {alloc.directBuffer(size), alloc.heapBuffer(size)}) {
                    if (i < 4) {
                        KEPT.add(b);
                    } else if (i < 4 + lost) {
                        LOST.watch(b);
                    } else {
                        b.release();
                    }
                }
            }
        }
    }

    private static void grown(ByteBufAllocator alloc) {
        ByteBuf b = alloc.directBuffer(100);
        b.capacity(3000);
        KEPT.add(b);
    }

    /** So that the counters' cells differ from their base. */
    private static void contended(ByteBufAllocator alloc) throws InterruptedException {
        Thread[] threads = new Thread[8];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int n = 0; n < 30_000; n++) {
                    alloc.heapBuffer(16 + n % 7).release();
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** A thread that gives back and lives on: with thread caches Netty counts these as active. */
    private static void cached(ByteBufAllocator alloc) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            List<ByteBuf> all = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                all.add(alloc.directBuffer(200));
            }
            all.forEach(ByteBuf::release);
            done.countDown();
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.setDaemon(true);
        thread.start();
        done.await();
    }

    private static List<PoolArenaMetric> arenas(PooledByteBufAllocator alloc, boolean direct) {
        PooledByteBufAllocatorMetric metric = alloc.metric();
        return direct ? metric.directArenas() : metric.heapArenas();
    }

    private static long active(PooledByteBufAllocator alloc, boolean direct) {
        return arenas(alloc, direct).stream().mapToLong(PoolArenaMetric::numActiveAllocations).sum();
    }

    /** Not in old Nettys: -1. */
    private static long pinned(PooledByteBufAllocator alloc, boolean direct) {
        try {
            String name = direct ? "pinnedDirectMemory" : "pinnedHeapMemory";
            return (Long) PooledByteBufAllocator.class.getMethod(name).invoke(alloc);
        } catch (ReflectiveOperationException e) {
            return -1;
        }
    }

    /** Chunks and all. */
    private static long whole(ByteBufAllocator alloc, boolean direct) {
        ByteBufAllocatorMetric metric = ((ByteBufAllocatorMetricProvider) alloc).metric();
        return direct ? metric.usedDirectMemory() : metric.usedHeapMemory();
    }

    private static long nio(String getter) throws ReflectiveOperationException {
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            if ("direct".equals(pool.getName())) {
                return (Long) BufferPoolMXBean.class.getMethod(getter).invoke(pool);
            }
        }
        return -1;
    }
}
