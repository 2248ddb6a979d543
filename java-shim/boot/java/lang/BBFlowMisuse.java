/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowMisuse - a use after the life's end (design.md: lives, ADR 21): what was about to be
 * used, until Netty's exception says that it was wrong, and where the last lives of a thread ended.
 * Also steps after the release, which Netty does not see (ADR 48).
 */
package java.lang;

import static java.lang.BBFlowHandle.*;
import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowNative.*;
import static java.lang.BBFlowRecords.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
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

    /** The exception for a retain or release is made: it belongs to the use that was remembered
     * last. */
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

    /**
     * A step of a buffer whose life is over (ADR 48). It is counted where Netty's own count says in this
     * moment that the buffer is released, and the object has had no life since: nothing else is proof.
     */
    @DontInline
    @Hidden
    static void step(Object o, int site) {
        BBFlowGuard.reserveStackSlow();
        if (BBFlowHandle.WINDOWS)
            return; // the object may have had lives since that were not seen
        try {
            Object owner = ownerOf(o);
            long kind = owner != null ? kindOf(owner) : KIND_OWN;
            if ((kind & KIND_OWN) != 0) // what its deallocate() does with it is its own business
                return;
            long f = U.getLongVolatile(owner, OFF);
            if (!isFresh(f) && !inForce(f) && !BBFlowRoots.isSkipped(f) && isReleased(owner, kind)
                    && U.getLongVolatile(owner, OFF) == f)
                stepAfterRelease(f, site, (int) kind & KIND_CLASS, tid());
        } catch (Throwable t) {
            BBFlowGuard.failed(t);
        }
    }

    /** By Netty's count: it is even as long as the buffer is alive, and odd from the last release on. */
    @Hidden
    private static boolean isReleased(Object owner, long kind) {
        long at = kind >>> 48;
        if (at == 0)
            return false; // not known where it is
        if ((kind & KIND_COUNT_REF) == 0)
            return (U.getIntVolatile(owner, at) & 1) != 0;
        Object counter = U.getReference(owner, at);
        long its = counter != null ? kindOf(counter) : 0;
        return (its & KIND_COUNTER) != 0 && (U.getIntVolatile(counter, its >>> 32) & 1) != 0;
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
