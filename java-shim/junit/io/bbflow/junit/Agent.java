/* SPDX-License-Identifier: Apache-2.0 */
package io.bbflow.junit;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;

/**
 * The agent of this JVM: java.lang.BBFlowScope, which it defines. By reflection, because without the
 * agent there is no such class. Any thread.
 */
final class Agent {
    private final Method start, create, enter, leave, testBegins, testEnds, testGoesOn, classBegins, classEnds,
            open, lost, during, report, note;

    private Agent(Class<?> face) throws NoSuchMethodException {
        start = face.getMethod("start");
        create = face.getMethod("create");
        enter = face.getMethod("enter", int.class);
        leave = face.getMethod("leave", Object.class);
        testBegins = face.getMethod("testBegins", int.class);
        testEnds = face.getMethod("testEnds");
        testGoesOn = face.getMethod("testGoesOn", int.class, int.class);
        classBegins = face.getMethod("classBegins", int.class);
        classEnds = face.getMethod("classEnds");
        open = face.getMethod("open", int.class);
        lost = face.getMethod("lost", int.class);
        during = face.getMethod("during", int.class);
        report = face.getMethod("report", int.class, int.class, boolean.class);
        note = face.getMethod("note");
    }

    /** Null: there is no agent in this JVM. */
    static Agent find() {
        try {
            return new Agent(Class.forName("java.lang.BBFlowScope", true, null));
        } catch (ClassNotFoundException none) {
            return null;
        } catch (NoSuchMethodException other) {
            throw new IllegalStateException(
                    "this bbflow-junit.jar and the libbbflow.so of this JVM are of different versions", other);
        }
    }

    private static Object call(Method method, Object... arguments) {
        try {
            return method.invoke(null, arguments);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("bbflow: " + method.getName() + " failed", e);
        }
    }

    private static String text(Object bytes) {
        return bytes == null ? null : new String((byte[]) bytes, StandardCharsets.UTF_8);
    }

    /** Null: scopes are noted from now on; else why not. */
    String start() {
        return text(call(start));
    }

    int create() {
        return (Integer) call(create);
    }

    Object enter(int number) {
        return call(enter, number);
    }

    void leave(Object before) {
        call(leave, before);
    }

    void testBegins(int number) {
        call(testBegins, number);
    }

    void testEnds() {
        call(testEnds);
    }

    void testGoesOn(int from, int to) {
        call(testGoesOn, from, to);
    }

    void classBegins(int number) {
        call(classBegins, number);
    }

    void classEnds() {
        call(classEnds);
    }

    long open(int number) {
        return (Long) call(open, number);
    }

    long lost(int number) {
        return (Long) call(lost, number);
    }

    /** Pairs: a test that ran alone, and how many buffers were lost that were opened meanwhile. */
    long[] during(int number) {
        return (long[]) call(during, number);
    }

    /** The number of lost buffers, a line end, and where. Null: it cannot be said now. */
    String report(int number, boolean gc) {
        return text(call(report, number, -1, gc));
    }

    /** The buffers that were not noted; null: all were. */
    String note() {
        return text(call(note));
    }
}
