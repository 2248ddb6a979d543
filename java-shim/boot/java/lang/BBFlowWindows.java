/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowWindows - lives followed by windows of time (ADR 54): what the hooks ask of the gate,
 * and what they do with lives that outlive their window. trie/windows.h has the invariants; the same
 * in C: tests/stress/records_twin.h.
 */
package java.lang;

import static java.lang.BBFlowGuard.*;
import static java.lang.BBFlowHandle.*;
import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowRecords.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowWindows {
    private static final Unsafe U = Unsafe.getUnsafe();

    private BBFlowWindows() {
    }

    /**
     * May no root open a life? While the gate's thread measures, the call is counted before that, so that
     * what is counted does not depend on the gate.
     */
    @ForceInline
    @Hidden
    static boolean refuseRoots() {
        int bits = U.getInt(null, GATES);
        if ((bits & SLOW_COUNT) != 0)
            countRoot();
        return (bits & (SLOW_IDLE | SLOW_GATE)) != 0;
    }

    /** A counter of the thread's own: a line that two threads write costs 16 to 37 ns. */
    @DontInline
    @Hidden
    private static void countRoot() {
        long stripe = stripe();
        if (stripe != 0)
            U.putLong(stripe + STRIPE_ROOTS, U.getLong(stripe + STRIPE_ROOTS) + 1);
        else
            U.getAndAddLong(null, SHARED + SHARED_ROOTS, 1);
    }

    /** May no life begin, derived or not? */
    @ForceInline
    @Hidden
    static boolean refuseLives() {
        return (U.getInt(null, GATES) & (SLOW_IDLE | SLOW_FREEZING)) != 0;
    }

    /**
     * Behind the open of a life, if one was opened: the gate may have begun to shut, and the walk over
     * the open lives may have been before this one.
     */
    @ForceInline
    @Hidden
    static void opened(long f) {
        U.fullFence(); // life = OPEN, then the gate: or the walk sees the life (bbf_windows_shut)
        if (refuseLives())
            openedLate(f);
        U.loadFence(); // who saw the gate open here does not see it shut as it was before
    }

    @DontInline
    @Hidden
    private static void openedLate(long f) {
        try {
            if (!isFresh(f) && f != IGN && f != NEVER)
                BBFlowNative.freeze((int) (f & RECORD_MASK));
        } catch (Throwable t) {
            BBFlowGuard.failed(t);
        }
    }

    /**
     * At the end of an object, gate shut: the life that a window left open. True: that was all; false:
     * o is followed otherwise, or the gate is open. A handle whose life is over is marked, by CAS because
     * another thread may have opened the next one.
     */
    @ForceInline
    @Hidden
    static boolean release(Object o) {
        if (!idle())
            return BBFlowMap.release(o);
        U.loadFence(); // who missed a step sees the gap
        if ((U.getInt(null, GATES) & SLOW_FIELDLESS) != 0 && BBFlowMap.release(o))
            return true;
        long f = U.getLong(o, OFF);
        if (isOpen(f))
            BBFlowClose.close(o, f);
        else if ((int) f >= FIRST_RECORD && isOver(f))
            U.compareAndSetLong(o, OFF, f, f | OVER);
        return true;
    }

    /** A life that is over stays so. Not only "not open": who reads a new handle may not see its life's open yet. */
    @Hidden
    private static boolean isOver(long f) {
        long life = U.getLong(recordAt(f) + REC_LIFE);
        int since = (int) (life >>> 32) - (int) (f >>> 32);
        return since > 0 || since == 0 && (life & STATE) != OPEN;
    }

    /** Where a life is; ?raced if a step was stored over its gap. */
    @ForceInline
    @Hidden
    static long position(long at, long f) {
        if (!WINDOWS)
            return U.getLong(at + REC_PATH);
        // `life` before the path: a life that has LATER is at its gap, or was stored over it.
        long life = U.getLongVolatile(null, at + REC_LIFE), path = U.getLong(at + REC_PATH);
        if ((life & LATER) == 0 || ((life ^ f | path ^ f) >>> 32) != 0 || !mayBeLeft(path))
            return path;
        count(TALLY_RACED_STEPS);
        return f & HIGH | NODE_RACED;
    }

    @Hidden
    private static boolean mayBeLeft(long path) {
        return (int) path != NODE_NONE && (U.getInt(nodeAt(path) + NODE_FLAGS) & FLAG_NO_STEPS) == 0;
    }

    /**
     * A terminal that may return an older buffer: did this one's life begin before? A view, or a handle
     * that was there, may be of a life that began while the gate was shut.
     */
    @Hidden
    static boolean isOlder(Object o) {
        long kind = kindOf(o);
        if ((kind & KIND_VIEW) != 0)
            return true;
        long f = (kind & KIND_FIELD) != 0 ? U.getLong(o, OFF) : 0;
        return f != 0 && !(f != IGN && f != NEVER && isOpen(f));
    }

    // ---- what hooks call where windows are seldom: inlined, it slows what is compiled (ADR 73) ----

    @DontInline
    @Hidden
    static void root(Object o, int size, int meta) {
        reserveStack();
        if (o != null && !refuseRoots())
            BBFlowFast.root(o, size, meta);
    }

    @DontInline
    @Hidden
    static void derive(Object o, Object parent, int site) {
        reserveStack();
        BBFlowFast.derive(o, parent, site);
    }

    @DontInline
    @Hidden
    static void adopt(Object composite, Object buffer) {
        reserveStack();
        BBFlowFast.adopt(composite, buffer);
    }

    @DontInline
    @Hidden
    static void refs(Object o, int delta) {
        reserveStack();
        BBFlowFast.refs(o, delta);
    }

    @DontInline
    @Hidden
    static void resized(Object o, int size) {
        reserveStack();
        BBFlowFast.resized(o, size);
    }

    @DontInline
    @Hidden
    static void step(Object o, int site) {
        reserveStack();
        BBFlowFast.step(o, site);
    }

    @DontInline
    @Hidden
    static void step2(Object a, Object b, int site) {
        reserveStack();
        BBFlowFast.step(a, site);
        BBFlowFast.step(b, site);
    }

    /** A count of o goes: the last one, or another. */
    @DontInline
    @Hidden
    static void drop(Object o, boolean last) {
        reserveStack();
        if (!last)
            BBFlowFast.refs(o, -1);
        else if (!(slowHooks() && release(o)))
            BBFlowFast.close(o);
    }
}
