package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.buffer.UnpooledHeapByteBuf;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * sizes HOW: buffers of known capacities that no root hook opened, one or more of each kind, met by a
 * step and lost. HOW "older": they are there before bbflow comes (after a line came in they are met);
 * "made": by constructors, which have no root. Says for each kind memory:count:bytes.
 */
final class Sizes {
    private static final Gc LOST = new Gc();
    private static final Map<String, ByteBuf[]> OPEN = new LinkedHashMap<>();

    private Sizes() {
    }

    /** A buffer of the application's own; its memory is a field that only it knows. */
    private static final class Heapy extends UnpooledHeapByteBuf {
        Heapy(int size) {
            super(UnpooledByteBufAllocator.DEFAULT, size, size);
        }
    }

    /** Its own name says another kind of memory than its super class. */
    private static final class DirectoryBuf extends UnpooledHeapByteBuf {
        DirectoryBuf() {
            super(UnpooledByteBufAllocator.DEFAULT, 7, 7);
        }
    }

    static void run(String[] args) throws Throwable {
        if (args[0].equals("older")) {
            allocated();
            System.out.println("READY");
            System.out.flush();
            Late.untilLine();
        } else {
            constructed();
        }
        Oracle.say("lost", meetAll(), "live", 0, "collected", LOST.settle());
    }

    private static int meetAll() {
        int count = 0;
        for (Map.Entry<String, ByteBuf[]> e : OPEN.entrySet()) {
            count += e.getValue().length;
            for (ByteBuf b : e.getValue()) {
                LOST.watch(b);
                lose(e.getKey(), b);
            }
        }
        OPEN.clear();
        return count;
    }

    private static void open(String name, ByteBuf... all) {
        OPEN.put(name, all);
    }

    private static void allocated() throws ReflectiveOperationException {
        PooledByteBufAllocator pool = PooledByteBufAllocator.DEFAULT;
        open("pooledDirect", pool.directBuffer(1000), pool.directBuffer(24));
        open("pooledHeap", pool.heapBuffer(3000));
        open("huge", pool.directBuffer(32 << 20));
        open("direct", UnpooledByteBufAllocator.DEFAULT.directBuffer(700));
        open("heap", UnpooledByteBufAllocator.DEFAULT.heapBuffer(900));
        open("resized", pool.directBuffer(100).capacity(5000));
        open("view", pool.directBuffer(640).writeZero(640).slice(10, 20));
        open("wrapped", UnpooledByteBufAllocator.DEFAULT.heapBuffer(77).writeZero(77)
                .asReadOnly());
        open("composite", UnpooledByteBufAllocator.DEFAULT.compositeBuffer()
                .addComponent(true, Unpooled.buffer(100).writeZero(100))
                .addComponent(true, Unpooled.buffer(50).writeZero(50)));
        ByteBuf shared = pool.directBuffer(8192).writeZero(8192);
        open("shared", shared.retainedDuplicate(), shared);
        ByteBuf whole = pool.directBuffer(4096).writeZero(4096);
        open("retained", whole.retainedSlice(0, 16));
        whole.release();
        try {
            ByteBufAllocator adaptive = Allocators.byName("adaptive");
            open("adaptive", adaptive.directBuffer(1500));
            open("adaptiveHeap", adaptive.heapBuffer(250));
        } catch (ClassNotFoundException old) {
            return;
        }
    }

    private static void constructed() {
        UnpooledByteBufAllocator alloc = UnpooledByteBufAllocator.DEFAULT;
        open("direct", new UnpooledDirectByteBuf(alloc, 700, 700),
                new UnpooledDirectByteBuf(alloc, 1, 700));
        open("heap", new UnpooledHeapByteBuf(alloc, 900, 9000));
        open("heapy", new Heapy(123));
        open("directory", new DirectoryBuf());
        open("composite", new CompositeByteBuf(alloc, false, 16)
                .addComponent(true, new UnpooledHeapByteBuf(alloc, 10, 10).writeZero(10)));
        open("unknown", new Opaque(64));
    }

    private static void lose(String kind, ByteBuf b) {
        switch (kind) {
        case "pooledDirect":
            pooledDirect(b);
            break;
        case "pooledHeap":
            pooledHeap(b);
            break;
        case "huge":
            huge(b);
            break;
        case "direct":
            direct(b);
            break;
        case "heap":
            heap(b);
            break;
        case "resized":
            resized(b);
            break;
        case "view":
            view(b);
            break;
        case "wrapped":
            wrapped(b);
            break;
        case "composite":
            composite(b);
            break;
        case "shared":
            shared(b);
            break;
        case "retained":
            retained(b);
            break;
        case "adaptive":
            adaptive(b);
            break;
        case "adaptiveHeap":
            adaptiveHeap(b);
            break;
        case "directory":
            directory(b);
            break;
        case "heapy":
            heapy(b);
            break;
        default:
            unknown(b);
        }
    }

    static void pooledDirect(ByteBuf b) {
        b.readerIndex();
    }

    static void pooledHeap(ByteBuf b) {
        b.readerIndex();
    }

    static void huge(ByteBuf b) {
        b.readerIndex();
    }

    static void direct(ByteBuf b) {
        b.readerIndex();
    }

    static void heap(ByteBuf b) {
        b.readerIndex();
    }

    static void resized(ByteBuf b) {
        b.readerIndex();
    }

    static void view(ByteBuf b) {
        b.readerIndex();
    }

    static void wrapped(ByteBuf b) {
        b.readerIndex();
    }

    static void composite(ByteBuf b) {
        b.readerIndex();
    }

    static void shared(ByteBuf b) {
        b.readerIndex();
    }

    static void retained(ByteBuf b) {
        b.readerIndex();
    }

    static void adaptive(ByteBuf b) {
        b.readerIndex();
    }

    static void adaptiveHeap(ByteBuf b) {
        b.readerIndex();
    }

    static void directory(ByteBuf b) {
        b.readerIndex();
    }

    static void heapy(ByteBuf b) {
        b.readerIndex();
    }

    static void unknown(ByteBuf b) {
        b.readerIndex();
    }
}
