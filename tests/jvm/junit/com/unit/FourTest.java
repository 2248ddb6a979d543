package com.unit;

import io.bbflow.junit.BBFlowRule;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.junit.After;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.FixMethodOrder;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** The same by JUnit 4; the class's rule says what was found later. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class FourTest {
    @ClassRule
    public static final BBFlowRule BUFFERS = new BBFlowRule();
    private static final List<ByteBuf> HELD = new ArrayList<>();

    @Rule
    public final BBFlowRule buffers = BUFFERS;
    private ByteBuf ofTest;

    @BeforeClass
    public static void before() {
        Lose.lose();
    }

    @After
    public void after() {
        if (ofTest != null)
            ofTest.release();
    }

    @Test
    public void a_keeps() {
        ofTest = Lose.make();
    }

    @Test
    public void b_LOSES() {
        Lose.lose();
    }

    @Test(timeout = 60_000)
    public void c_LOSESInAnotherThread() {
        Lose.lose();
    }

    @Test
    public void d_LOSESLater() {
        HELD.add(Lose.make());
    }

    @Test
    public void e_drops() {
        HELD.clear();
    }
}
