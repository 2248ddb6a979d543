/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowScope - the scope that a thread is in: a test, or a class of tests. What
 * bbflow-junit.jar calls, by reflection; never called by a hook. A number is a scope's name here.
 *
 * An instance is the thread-local itself. Its value is {number, OWN or INHERITED}: a thread that is
 * started inherits the number, and is known to have inherited it.
 */
package java.lang;

import static java.lang.BBFlowLayout.*;

import jdk.internal.misc.Unsafe;

public final class BBFlowScope extends InheritableThreadLocal<int[]> {
    private static final Unsafe U = Unsafe.getUnsafe();
    static final int OWN = 1, INHERITED = 0;

    static final BBFlowScope CURRENT = new BBFlowScope();

    /** How many tests, and classes of tests, run now. Under the class's lock. */
    private static int tests, classes;

    private BBFlowScope() {
    }

    @Override
    protected int[] childValue(int[] parent) {
        return parent == null || parent[0] == 0 ? null : new int[] {parent[0], INHERITED};
    }

    /** Turn scopes=on, if it is off. Null: it is on; else why not, in UTF-8. */
    public static byte[] start() {
        return BBFlowNative.scopeStart();
    }

    /** The number of a new scope; 0: it was not made. */
    public static int create() {
        return BBFlowNative.scopeNew();
    }

    /** This thread is in the scope until leave(), which takes what is returned here. */
    public static Object enter(int number) {
        int[] before = CURRENT.get();
        CURRENT.set(new int[] {number, OWN});
        BBFlowScopes.forget();
        return before;
    }

    public static void leave(Object before) {
        if (before == null)
            CURRENT.remove();
        else
            CURRENT.set((int[]) before);
        BBFlowScopes.forget();
    }

    /** A test begins or ends. While only one runs, and only it ran since it began, more can be said. */
    public static synchronized void testBegins(int number) {
        U.putInt(SHARED + SHARED_SCOPE_ONLY, tests++ == 0 ? number : 0);
    }

    public static synchronized void testEnds() {
        tests--;
        U.putInt(SHARED + SHARED_SCOPE_ONLY, 0);
    }

    /** Tests within a test, one after the other: what could be said of the one holds for the other. */
    public static synchronized void testGoesOn(int from, int to) {
        if (U.getInt(SHARED + SHARED_SCOPE_ONLY) == from)
            U.putInt(SHARED + SHARED_SCOPE_ONLY, to);
    }

    /** The same for a class of tests that is in no other one. */
    public static synchronized void classBegins(int number) {
        U.putInt(SHARED + SHARED_SCOPE_CLASS, classes++ == 0 ? number : 0);
    }

    public static synchronized void classEnds() {
        classes--;
        U.putInt(SHARED + SHARED_SCOPE_CLASS, 0);
    }

    /** Buffers of the scope that are open now. */
    public static long open(int number) {
        return BBFlowNative.scopeOpen(number);
    }

    /** Buffers of the scope that were found lost so far. */
    public static long lost(int number) {
        return BBFlowNative.scopeLosses(number);
    }

    /** Pairs of these: a test that ran alone (0: none did), and how many were opened meanwhile. */
    public static long[] during(int number) {
        return BBFlowNative.scopeDuring(number);
    }

    /** Where, in UTF-8; during: only while that test ran alone, -1: always. Null: it cannot be said. */
    public static byte[] report(int number, int during, boolean gc) {
        return BBFlowNative.scopeReport(number, during, gc);
    }

    /** What could not be noted, in UTF-8; null: nothing. */
    public static byte[] note() {
        return BBFlowNative.scopeNote();
    }
}
