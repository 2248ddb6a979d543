// SPDX-License-Identifier: Apache-2.0
package io.bbflow.jmx;

import java.nio.charset.StandardCharsets;

/**
 * The natives of jmx= (agent/jmx_natives.c), and how their answers become Java's. Each waits for the agent
 * thread: they are called in threads of JMX clients only. A text is UTF-8. An answer begins with a byte:
 * 0, or 1 if the rest says why there is none.
 */
final class Native {
    private Native() {
    }

    /** A report: a format's name, "status", "formats" (their names), or "compat" (the Java tracker's summary). */
    static native byte[] report(byte[] format, boolean collectFirst);

    /** Write a report to a file of the JVM's machine. */
    static native byte[] export(byte[] path, byte[] format);

    static native byte[] reset(boolean nodes);

    /** In the order of agent/jmx_natives.c; null: bbflow does not follow this JVM. */
    static native long[] numbers();

    /** A listener was added: from now on notifications are wanted. */
    static native void listened();

    /** What came of the registration; null: it is done. */
    static native void registered(byte[] why);

    static byte[] bytes(String text) {
        return text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] answer) {
        if (answer == null || answer.length == 0)
            throw new IllegalStateException("bbflow: the JVM has no memory for the answer");
        String text = new String(answer, 1, answer.length - 1, StandardCharsets.UTF_8);
        if (answer[0] != 0)
            throw new IllegalStateException("bbflow: " + text);
        return text;
    }

    static long[] needNumbers() {
        long[] numbers = numbers();
        if (numbers == null)
            throw new IllegalStateException("bbflow: no numbers: it was stopped, or its thread is busy");
        return numbers;
    }

    /** A security manager does not see what a native writes, so it is asked here. */
    @SuppressWarnings("removal")
    static void checkWrite(String path) {
        try {
            SecurityManager manager = System.getSecurityManager();
            if (manager != null)
                manager.checkWrite(path);
        } catch (LinkageError e) {
            return; // a JDK that has none any more
        }
    }
}
