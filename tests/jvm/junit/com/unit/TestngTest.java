package com.unit;

import io.bbflow.junit.BufferLimit;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.testng.annotations.AfterMethod;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.BeforeMethod;
import org.testng.annotations.DataProvider;
import org.testng.annotations.Test;

/** The same by TestNG; the listener is found by itself. */
public class TestngTest {
    private static final List<ByteBuf> HELD = new ArrayList<>();
    private ByteBuf ofEach;

    @BeforeClass
    public void beforeAll() {
        Lose.lose();
    }

    @BeforeMethod
    public void before() {
        ofEach = Lose.make();
    }

    @AfterMethod
    public void after() {
        ofEach.release();
    }

    @DataProvider
    public static Object[][] kinds() {
        return new Object[][] {{"clean"}, {"LOSES"}};
    }

    @Test(priority = 1)
    public void keeps() {
    }

    @Test(priority = 2)
    public void LOSES() {
        Lose.lose();
    }

    @Test(priority = 3, dataProvider = "kinds")
    public void data(String kind) {
        if (kind.equals("LOSES"))
            Lose.lose();
    }

    @Test(priority = 4)
    public void LOSESLater() {
        HELD.add(Lose.make());
    }

    @Test(priority = 5)
    @BufferLimit(maxLeaked = 1)
    public void drops() {
        HELD.clear();
        Lose.lose();
    }
}
