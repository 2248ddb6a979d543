package com.unit;

import io.bbflow.junit.BBFlowExtension;
import io.bbflow.junit.BufferLimit;
import io.bbflow.junit.Buffers;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each way in which a test begins, runs and ends; LOSES in its name, or the one that fails. */
@ExtendWith(BBFlowExtension.class)
class PlainTest {
    private static final List<ByteBuf> POOL = new ArrayList<>();
    private final ByteBuf ofInstance = Lose.make();
    private ByteBuf ofEach;

    @BeforeEach
    void before() {
        ofEach = Lose.make();
    }

    @AfterEach
    void after() {
        ofInstance.release();
        ofEach.release();
    }

    @Test
    void keepsNothing() {
        Lose.make().release();
    }

    @Test
    void poolsOpen() {
        POOL.add(Lose.make());
    }

    @Test
    void LOSES() {
        Lose.lose();
        Lose.lose();
    }

    @Test
    void LOSESAndFails() {
        Lose.lose();
        Assertions.fail("of its own");
    }

    @Test
    void LOSESAndAborts() {
        Lose.lose();
        Assumptions.abort("of its own");
    }

    @Test
    @Timeout(value = 100, unit = java.util.concurrent.TimeUnit.MILLISECONDS,
            threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void LOSESAndHangs() throws InterruptedException {
        Lose.lose();
        Thread.sleep(600_000);
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void LOSESInAnotherThread() {
        Lose.lose();
    }

    @Test
    void LOSESPreemptively() {
        Assertions.assertTimeoutPreemptively(Duration.ofSeconds(60), () -> Lose.lose());
    }

    @Test
    void LOSESInAThreadOfItsOwn() throws InterruptedException {
        Thread thread = new Thread(() -> Lose.lose());
        thread.start();
        thread.join();
    }

    @RepeatedTest(3)
    void repeated(RepetitionInfo info) {
        if (info.getCurrentRepetition() == 2)
            Lose.lose();
    }

    @ParameterizedTest
    @ValueSource(strings = {"clean", "LOSES", "tidy"})
    void parameterized(String what) {
        if (what.equals("LOSES"))
            Lose.lose();
    }

    @TestFactory
    Stream<DynamicTest> dynamic() {
        return Stream.of("clean", "LOSES", "tidy").map(name -> DynamicTest.dynamicTest(name, () -> {
            if (name.equals("LOSES"))
                Lose.lose();
        }));
    }

    @Test
    @BufferLimit(maxLeaked = 2)
    void mayLoseTwo() {
        Lose.lose();
        Lose.lose();
    }

    @Test
    @BufferLimit(maxOpen = 0)
    void LEAVESOpen() {
        POOL.add(Lose.make());
    }

    @Test
    void counts() {
        try (Buffers.Count count = Buffers.count()) {
            ByteBuf one = Lose.make();
            ByteBuf slice = one.retainedSlice();
            Assertions.assertEquals(1, count.openBuffers());
            slice.release();
            one.release();
            Assertions.assertEquals(0, count.openBuffers());
        }
    }

    @Nested
    class Inner {
        private final ByteBuf inner = Lose.make();

        @AfterEach
        void afterInner() {
            inner.release();
        }

        @Test
        void keepsNothing() {
        }

        @Test
        void LOSES() {
            Lose.lose();
        }
    }
}
