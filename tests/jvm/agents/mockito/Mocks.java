package com.app;

import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.CALLS_REAL_METHODS;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.mockConstruction;
import static org.mockito.Mockito.mockStatic;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.mockito.MockedConstruction;
import org.mockito.MockedStatic;
import org.mockito.Mockito;

/**
 * Mockito's inline mocks between real buffers: a mock does what its rules say; a mock is no
 * buffer, so it is never a leak; a spy is a copy of a real buffer, whose memory it frees.
 */
public final class Mocks {
    private static final Gc LOST = new Gc();

    private Mocks() {
    }

    public static void main(String[] args) throws Exception {
        int lives = 0;
        int leaked = 0;
        real(false);
        real(true); // before any mock
        mocks();
        constructedMock();
        spies();
        lives += 3; // the spies' buffers
        lives += statics();
        Mockito.framework().clearInlineMocks();
        real(false);
        real(true); // Netty's classes stay as Mockito made them
        lives += 4;
        leaked += 2;
        Oracle.say("lives", lives, "released", lives - leaked, "leaked", leaked, "collected",
                LOST.settle());
    }

    private static void real(boolean lose) {
        ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(64);
        Steps.step(b);
        if (lose) {
            LOST.watch(b);
            Steps.leaky(b);
        } else {
            Steps.done(b);
        }
    }

    private static void say(Object what, Object value) {
        System.out.println("THEIRS " + what + " " + value);
    }

    /** Mocks of the abstract class; one is forgotten after it passed through our methods. */
    private static void mocks() {
        ByteBuf b = mock(ByteBuf.class);
        when(b.readableBytes()).thenReturn(42);
        when(b.release()).thenReturn(true);
        when(b.refCnt()).thenReturn(7);
        when(b.retain()).thenReturn(b);
        Steps.step(b);
        Steps.step2(b.retain());
        Steps.done(b);
        verify(b, times(1)).release();
        verify(b, times(2)).setByte(anyInt(), anyInt());
        say("mock", b.readableBytes() + " " + b.refCnt() + " " + b.release() + " "
                + b.getClass().getSimpleName().replaceAll("Mock\\$.*", "Mock"));
        ByteBuf forgotten = mock(ByteBuf.class);
        Steps.leaky(forgotten);
        LOST.watch(forgotten);
    }

    /** A mock of a concrete class is of that very class, with every method mocked. */
    private static void constructedMock() throws Exception {
        Class<?> pooled = Class.forName("io.netty.buffer.PooledUnsafeDirectByteBuf");
        Class<?> heap = Class.forName("io.netty.buffer.UnpooledHeapByteBuf");
        for (Class<?> type : new Class<?>[] {pooled, heap}) {
            ByteBuf b = (ByteBuf) mock(type);
            when(b.refCnt()).thenReturn(3);
            Steps.step(b);
            Steps.done(b);
            verify(b).release();
            say("mock", b.refCnt() + " " + b.getClass().getSimpleName());
            ByteBuf forgotten = (ByteBuf) mock(type);
            Steps.leaky(forgotten);
            LOST.watch(forgotten);
        }
    }

    private static void spies() {
        ByteBuf pooled = spy(PooledByteBufAllocator.DEFAULT.directBuffer(64));
        Steps.step(pooled);
        pooled.writeInt(0x01020304);
        verify(pooled).writeInt(0x01020304);
        doReturn(99).when(pooled).getInt(0);
        say("spy", pooled.getInt(0) + " " + pooled.readableBytes() + " " + pooled.refCnt());
        Steps.done(pooled);
        say("spy after release", pooled.refCnt());
        ByteBuf heap = spy(UnpooledByteBufAllocator.DEFAULT.heapBuffer(16));
        Steps.step(heap.retain());
        say("spy", heap.refCnt() + " " + heap.release() + " " + heap.release());
        ByteBuf slice = spy(UnpooledByteBufAllocator.DEFAULT.heapBuffer(16).slice(0, 16));
        Steps.step(slice);
        say("spy of a slice", slice.release() + " " + slice.refCnt());
    }

    /** Static and construction mocks; returns the lives that the real methods began. */
    private static int statics() {
        ByteBuf answer = mock(ByteBuf.class);
        when(answer.capacity()).thenReturn(5);
        try (MockedStatic<Unpooled> unpooled = mockStatic(Unpooled.class)) {
            unpooled.when(() -> Unpooled.buffer(5)).thenReturn(answer);
            say("static", Unpooled.buffer(5).capacity() + " " + Unpooled.buffer(6));
            unpooled.verify(() -> Unpooled.buffer(5));
        }
        try (MockedStatic<Unpooled> unpooled = mockStatic(Unpooled.class, CALLS_REAL_METHODS)) {
            ByteBuf b = Unpooled.buffer(6);
            Steps.step(b);
            Steps.done(b);
            say("static, real", b.capacity() + " " + b.refCnt());
        }
        try (MockedConstruction<DefaultByteBufHolder> made = mockConstruction(
                DefaultByteBufHolder.class, (m, context) -> when(m.content()).thenReturn(answer))) {
            DefaultByteBufHolder holder = new DefaultByteBufHolder(answer);
            say("construction", holder.content().capacity() + " " + holder.release() + " "
                    + made.constructed().size());
        }
        return 1;
    }
}
