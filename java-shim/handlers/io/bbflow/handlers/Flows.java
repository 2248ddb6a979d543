// SPDX-License-Identifier: Apache-2.0
package io.bbflow.handlers;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** Losses of some kinds since a base. */
final class Flows {
    final long[] base; // for the next
    final long timeMillis = System.currentTimeMillis();
    final long directLosses, heapLosses;
    final List<String> direct, heap;

    private Flows(Object[] answer) {
        long[] totals = (long[]) answer[1];
        base = (long[]) answer[0];
        directLosses = totals[0];
        heapLosses = totals[1];
        direct = lines((byte[]) answer[2]);
        heap = lines((byte[]) answer[3]);
    }

    /** Null: bbflow does not follow this JVM. */
    static Flows since(long[] base, int kinds) {
        Object[] answer = HandlersNative.losses(kinds, base);
        return answer == null ? null : new Flows(answer);
    }

    private static List<String> lines(byte[] text) {
        if (text.length == 0)
            return Collections.<String>emptyList();
        return Arrays.asList(new String(text, StandardCharsets.UTF_8).split("\n"));
    }
}
