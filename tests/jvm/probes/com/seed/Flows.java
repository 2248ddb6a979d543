package com.seed;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;

/** Plain flows: clean, leaky, direct and heap, static and instance methods. */
final class Flows {
    private Flows() {
    }

    static ByteBuf touch(ByteBuf b) {
        b.setByte(0, 1);
        return b;
    }

    // ---- basic: allocate, three steps, clean up ----

    static void basic() throws InterruptedException {
        ByteBuf b = allocate();
        processStep1(b);
        new Lost().say(1, 1);
    }

    static ByteBuf allocate() {
        return Unpooled.buffer(256);
    }

    static void processStep1(ByteBuf b) {
        b.writeInt(1);
        processStep2(b);
    }

    static void processStep2(ByteBuf b) {
        b.writeInt(2);
        processStep3(b);
    }

    static void processStep3(ByteBuf b) {
        b.writeInt(3);
        cleanup(b);
    }

    static void cleanup(ByteBuf b) {
        b.release();
    }

    // ---- leaky: the same root, a clean way and one that forgets ----

    static void leaky() throws InterruptedException {
        Lost lost = new Lost();
        processNormal(allocate());
        processLeaky(allocate(), lost);
        lost.say(2, 1);
    }

    static void processNormal(ByteBuf b) {
        cleanup(b);
    }

    static void processLeaky(ByteBuf b, Lost lost) {
        forgetToRelease(b, lost);
    }

    static void forgetToRelease(ByteBuf b, Lost lost) {
        lost.forget(b);
    }

    // ---- directleaks: a direct and a heap buffer lost, a direct one released ----

    static void directLeaks() throws InterruptedException {
        Lost lost = new Lost();
        processDirectBuffer(UnpooledByteBufAllocator.DEFAULT.directBuffer(256), lost);
        processHeapBuffer(UnpooledByteBufAllocator.DEFAULT.heapBuffer(128), lost);
        processAndRelease(UnpooledByteBufAllocator.DEFAULT.directBuffer(64));
        lost.say(3, 1);
    }

    static void processDirectBuffer(ByteBuf b, Lost lost) {
        forgetToReleaseDirect(b, lost);
    }

    static void forgetToReleaseDirect(ByteBuf b, Lost lost) {
        lost.forget(b);
    }

    static void processHeapBuffer(ByteBuf b, Lost lost) {
        forgetToReleaseHeap(b, lost);
    }

    static void forgetToReleaseHeap(ByteBuf b, Lost lost) {
        lost.forget(b);
    }

    static void processAndRelease(ByteBuf b) {
        cleanupProperly(b);
    }

    static void cleanupProperly(ByteBuf b) {
        b.release();
    }

    // ---- statics: three buffers, by instance methods, by static ones, by both in turn ----

    static void statics() throws InterruptedException {
        Worker worker = new Worker();
        worker.instanceStep(allocate());
        staticStep(allocate());
        worker.mixedStep(allocate());
        new Lost().say(3, 3);
    }

    static void staticStep(ByteBuf b) {
        staticEnd(b);
    }

    static void staticEnd(ByteBuf b) {
        b.release();
    }

    static void mixedStatic(ByteBuf b, Worker worker) {
        worker.mixedEnd(b);
    }

    static final class Worker {
        public void instanceStep(ByteBuf b) {
            instanceEnd(b);
        }

        public void instanceEnd(ByteBuf b) {
            b.release();
        }

        public void mixedStep(ByteBuf b) {
            mixedStatic(b, this);
        }

        public void mixedEnd(ByteBuf b) {
            b.release();
        }
    }

    // ---- thousand: as many lives as buffers ----

    static void thousand() throws InterruptedException {
        for (int i = 0; i < 1000; i++) {
            processStep1(allocate());
        }
        new Lost().say(1000, 1000);
    }
}
