package com.unit;

import io.bbflow.junit.BBFlowExtension;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** @BeforeAll loses one, and the first test one that is found only after another test. */
@ExtendWith(BBFlowExtension.class)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ClassTest {
    private static final List<ByteBuf> HELD = new ArrayList<>();

    @BeforeAll
    static void before() {
        Lose.lose();
    }

    @Test
    @Order(1)
    void LOSESLater() {
        HELD.add(Lose.make());
    }

    @Test
    @Order(2)
    void dropsThem() {
        HELD.clear();
    }

    @AfterAll
    static void after() {
        Lose.make().release();
    }
}
