package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultEventLoop;
import io.netty.util.concurrent.FastThreadLocalThread;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * cycles ALLOCATOR THREAD [THREADS]: 1,001 times allocate, step, release; the last one is lost
 * (Steps.leaky). THREAD: main, ftl (FastThreadLocalThread), loop (an event loop), virtual, thread.
 * Recycled buffers are one Java object in many lives: the trap.
 */
final class Cycles {
    private static final int CYCLES = 1_001;
    private static Gc lost;
    private static final Set<Object> OBJECTS =
            Collections.newSetFromMap(new IdentityHashMap<>());

    private Cycles() {
    }

    static void run(String[] args) throws Throwable {
        ByteBufAllocator alloc = Allocators.byName(args[0]);
        int threads = args.length > 2 ? Integer.parseInt(args[2]) : 1;
        boolean countObjects = threads == 1;
        lost = new Gc();
        List<Thread> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Runnable work = () -> cycles(alloc, countObjects);
            switch (args[1]) {
            case "main":
                work.run();
                break;
            case "loop":
                DefaultEventLoop loop = new DefaultEventLoop();
                loop.submit(work).sync();
                loop.shutdownGracefully(0, 1, java.util.concurrent.TimeUnit.MILLISECONDS).sync();
                break;
            case "virtual": // Java 21's, by reflection: this is compiled for 11
                Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
                running.add((Thread) Class.forName("java.lang.Thread$Builder")
                        .getMethod("unstarted", Runnable.class).invoke(builder, work));
                break;
            case "ftl":
                running.add(new FastThreadLocalThread(work));
                break;
            default:
                running.add(new Thread(work));
            }
        }
        for (Thread t : running) {
            t.start();
        }
        for (Thread t : running) {
            t.join();
        }
        int objects = OBJECTS.size();
        OBJECTS.clear();
        Oracle.say("lives", CYCLES * threads, "released", (CYCLES - 1) * threads, "leaked",
                threads, "objects", objects, "collected", lost.settle());
    }

    private static void cycles(ByteBufAllocator alloc, boolean countObjects) {
        for (int i = 1; i < CYCLES; i++) {
            cycle(alloc, countObjects);
        }
        last(alloc);
    }

    private static void cycle(ByteBufAllocator alloc, boolean countObjects) {
        ByteBuf b = alloc.directBuffer(256);
        Steps.step(b);
        if (countObjects) {
            OBJECTS.add((Object) b);
        }
        Steps.done(b);
    }

    private static void last(ByteBufAllocator alloc) {
        ByteBuf b = alloc.directBuffer(256);
        Steps.step(b);
        lost.watch(b);
        Steps.leaky(b);
    }
}
