/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowMisuse - a use after the life's end (design.md: lives, ADR 21): what was about to be
 * used, until Netty's exception says that it was wrong, and where the last lives of a thread ended.
 */
package java.lang;

import static java.lang.BBFlowHandle.*;
import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowNative.*;
import static java.lang.BBFlowRecords.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowMisuse {
    private static final Unsafe U = Unsafe.getUnsafe();

    private BBFlowMisuse() {
    }

    /** An access that Netty refuses. */
    @Hidden
    static void access(Object o) {
        Object owner = ownerOf(o);
        long f = current(o);
        report(BBFlowRoots.isSkipped(f) ? IGN : f, USE_ACCESS, owner != null ? kindOf(owner) : 0);
    }

    /** The exception for a retain or release is made: it is what was remembered last. */
    @Hidden
    static void confirm() {
        long stripe = stripe();
        long f = stripe != 0 ? U.getLong(stripe + STRIPE_SUSPECT) : 0;
        if (f == 0)
            return;
        int use = U.getInt(stripe + STRIPE_USE);
        U.putLong(stripe + STRIPE_SUSPECT, 0);
        report(f, use >>> CLASS_SHIFT, use);
    }

    /** Remembered until the exception is made, which follows at once, or until the next one. */
    @Hidden
    static void suspect(long f, int use, long kind) {
        long stripe = stripe();
        if (stripe == 0)
            return;
        U.putLong(stripe + STRIPE_SUSPECT, f);
        U.putInt(stripe + STRIPE_USE, (int) kind & KIND_CLASS | use << CLASS_SHIFT);
    }

    /** f: the life that is over, IGN if it is not known. */
    @Hidden
    static void report(long f, int use, long kind) {
        if (f != IGN)
            f &= ~(long) HANDLE_GIVEN;
        if (reportMisuse(f, use, (int) kind & KIND_CLASS, tid()))
            count(TALLY_MISUSE);
    }

    /**
     * Where the life ended and who released it, for a use after that: its record may be another
     * life's by then. A reader finds the handle before and after what belongs to it.
     */
    @Hidden
    static void remember(long stripe, long f, int node) {
        int next = U.getInt(stripe + STRIPE_NEXT_ENDED);
        long at = stripe + STRIPE_ENDED + ((next & ENDED_SLOTS - 1) << 4);
        U.putInt(stripe + STRIPE_NEXT_ENDED, next + 1);
        U.putLong(at, 0);
        U.putLongRelease(null, at + 8, (long) node << 32 | tid() & LOW);
        U.putLongRelease(null, at, f);
    }
}
