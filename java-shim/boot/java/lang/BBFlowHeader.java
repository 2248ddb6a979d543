/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowHeader - is the word where BBFlowKind expects an object's narrow klass the same for
 * all objects of a class, and another one for each class? How headers are laid out is HotSpot's own
 * matter and changes between versions, so it is tried, once, before the first hook is in: on objects
 * of classes that the JVM makes one after the other, as they are, hashed, locked, and locked so often
 * that HotSpot puts a monitor behind the header.
 */
package java.lang;

import jdk.internal.vm.annotation.Hidden;

final class BBFlowHeader {
    /** More than the JVM keeps of a thread's locks before it inflates one. */
    private static final int DEPTH = 12;
    private static final int SAMPLES = 10;

    private BBFlowHeader() {
    }

    /** Of the word at that offset, as BBFlowKind.word() reads it. */
    @Hidden
    static boolean isKlass(long at) {
        int[] words = new int[SAMPLES];
        for (int i = 0; i < SAMPLES; i++) {
            int word = BBFlowKind.word(sample(i), at);
            if (word == 0 || !keeps(sample(i), word, at))
                return false;
            for (int before = 0; before < i; before++)
                if (words[before] == word)
                    return false;
            words[i] = word;
        }
        return true;
    }

    /** Does this object keep `word` while the rest of its header changes? */
    @Hidden
    private static boolean keeps(Object o, int word, long at) {
        if (BBFlowKind.word(o, at) != word || !keepsLocked(o, word, at, 0))
            return false;
        System.identityHashCode(o);
        return BBFlowKind.word(o, at) == word && keepsLocked(o, word, at, DEPTH)
                && BBFlowKind.word(o, at) == word;
    }

    @Hidden
    private static boolean keepsLocked(Object o, int word, long at, int more) {
        synchronized (o) {
            return BBFlowKind.word(o, at) == word
                    && (more == 0 || keepsLocked(o, word, at, more - 1));
        }
    }

    /** A new object of the class with that number. The arrays' classes are neighbours in memory. */
    @Hidden
    private static Object sample(int number) {
        switch (number) {
        case 0: return new boolean[1];
        case 1: return new char[1];
        case 2: return new float[1];
        case 3: return new double[1];
        case 4: return new byte[1];
        case 5: return new short[1];
        case 6: return new int[1];
        case 7: return new long[1];
        case 8: return new Object[1];
        default: return new Object();
        }
    }
}
