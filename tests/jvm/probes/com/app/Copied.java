package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;

/**
 * copied: buffers that come of clone(), of a class and of its sub-class, and of serialisation, ten of
 * each; half of the time the original is lost and the copy released, else the other way round.
 */
final class Copied {
    private static final Gc LOST = new Gc();

    private Copied() {
    }

    private static class Own extends UnpooledHeapByteBuf implements Cloneable {
        Own() {
            super(UnpooledByteBufAllocator.DEFAULT, 16, 16);
        }

        @Override
        public Own clone() {
            try {
                return (Own) super.clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static final class Lower extends Own {
        @Override
        public Lower clone() {
            return (Lower) super.clone();
        }
    }

    /** Hands out what super.clone() gives as it is; Netty's own buffers are not Cloneable. */
    private static class Raw extends UnpooledHeapByteBuf implements Cloneable {
        Raw() {
            super(UnpooledByteBufAllocator.DEFAULT, 16, 16);
        }

        @Override
        public Object clone() throws CloneNotSupportedException {
            return super.clone();
        }
    }

    /** A step inside a super class's clone() opens the copy's life: it stays that one. */
    private static class Stepped extends Raw {
        @Override
        public Object clone() throws CloneNotSupportedException {
            Object copy = super.clone();
            Steps.step((ByteBuf) copy);
            return copy;
        }
    }

    private static final class Above extends Stepped {
        @Override
        public Object clone() throws CloneNotSupportedException {
            return super.clone();
        }
    }

    private static class Plain extends UnpooledHeapByteBuf {
        Plain() {
            super(UnpooledByteBufAllocator.DEFAULT, 16, 16);
        }
    }

    private static final class Stored extends Plain implements Serializable {
        private static final long serialVersionUID = 1;
    }

    static void run(String[] args) throws Throwable {
        for (int i = 0; i < 10; i++) {
            pair(new Own(), null, i % 2 == 0);
            pair(new Lower(), null, i % 2 == 0);
            Raw raw = new Raw();
            Steps.step(raw);
            pair(raw, (ByteBuf) raw.clone(), i % 2 == 0);
            Raw above = new Above();
            Steps.step(above);
            pair(above, (ByteBuf) above.clone(), i % 2 == 0);
            Stored stored = new Stored();
            Steps.step(stored);
            pair(stored, stored(stored), i % 2 == 0);
        }
        Oracle.say("lives", 100, "released", 50, "leaked", 50, "live", 0, "collected", LOST.settle());
    }

    private static void pair(ByteBuf original, ByteBuf made, boolean loseOriginal) {
        Steps.step(original);
        ByteBuf copy = made != null ? made : ((Own) original).clone();
        Steps.step2(copy);
        LOST.watch(loseOriginal ? original : copy);
        Steps.leaky(loseOriginal ? original : copy);
        Steps.done(loseOriginal ? copy : original);
    }

    private static ByteBuf stored(Object o) throws IOException, ClassNotFoundException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ObjectOutputStream objects = new ObjectOutputStream(out);
        objects.writeObject(o);
        objects.flush();
        return (ByteBuf) new ObjectInputStream(new ByteArrayInputStream(out.toByteArray()))
                .readObject();
    }
}
