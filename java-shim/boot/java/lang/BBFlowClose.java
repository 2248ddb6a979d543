/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowClose - how a life is closed as released when the short way (BBFlowShim.release)
 * does not do (design.md: close protocol), and where released lives are gathered until C counts them
 * (design.md: garbage detection, ADR 7): in the record's word while they end at one node, then in the
 * thread's words.
 */
package java.lang;

import static java.lang.BBFlowGuard.*;
import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowNative.*;
import static java.lang.BBFlowRecords.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowClose {
    private static final Unsafe U = Unsafe.getUnsafe();

    private BBFlowClose() {
    }

    /** An empty run: node, class, and room for the count. */
    @ForceInline
    @Hidden
    static long runKey(int node, long refs) {
        return (long) node << 32 | (refs >>> CLASS_SHIFT & CLASS_MASK) << 16;
    }

    /** As BBFlowShim.release(), where the run ends, or a second has passed since the open. */
    @DontInline
    @Hidden
    static void closeSticky(Object o, long f, long key, boolean same) {
        reserveStackSlow(); // for passRun and tellAge, which must not fail any more
        long at = recordAt(f);
        int seconds = U.getInt(SHARED + SHARED_NOW) - U.getInt(at + REC_NEXT);
        if (seconds > 0)
            tellAge(o, (int) (key >>> 32), seconds, U.getLong(at + REC_REFS), sizeAt(at, f),
                    U.getLong(at + REC_PARENT));
        U.putLong(at + REC_PATH, f & HIGH);
        U.putInt(at + REC_BATCH, (int) tid());
        U.putLongRelease(null, at + REC_LIFE, f & HIGH | CLOSED | STICKY);
        if (same)
            U.putLong(at + REC_RUN, U.getLong(at + REC_RUN) + 1);
        else
            passRun(at + REC_RUN, key);
    }

    /** Any other life's: by CAS. */
    @DontInline
    @Hidden
    static void close(Object o, long f) {
        reserveStackSlow();
        try {
            if (isFresh(f) || f == IGN || f == NEVER) {
                BBFlowRoots.ended(o, f);
                return;
            }
            long at = recordAt(f), path = BBFlowWindows.position(at, f);
            long refs = U.getLong(at + REC_REFS), life = U.getLongVolatile(null, at + REC_LIFE);
            if (((life ^ f) >>> 32) != 0 || (life & STATE) != OPEN) {
                BBFlowRoots.ended(o, f);
                return;
            }
            int place = U.getInt(at + REC_BATCH);
            int seconds = U.getInt(SHARED + SHARED_NOW) - U.getInt(at + REC_NEXT);
            int size = sizeAt(at, f);
            long parent = U.getLong(at + REC_PARENT);
            // Before the CAS: a CONV record may be freed by the agent right after it.
            U.putLong(at + REC_PATH, f & HIGH);
            while (!U.compareAndSetLong(null, at + REC_LIFE, life, closedLife(life))) {
                life = U.getLongVolatile(null, at + REC_LIFE);
                if (((life ^ f) >>> 32) != 0 || (life & STATE) != OPEN)
                    return;
            }
            if ((life & MAPPED) != 0)
                BBFlowMap.remove(place, f);
            long stripe = stripe();
            if ((life & STICKY) != 0)
                U.putInt(at + REC_BATCH, 0); // the run word is not this life's
            if (stripe != 0)
                BBFlowMisuse.remember(stripe, f, chargedAt(path, f));
            if ((life & (CONV | STICKY)) == 0)
                giveBack((int) f, stripe);
            long key = runKey(chargedAt(path, f), refs);
            if (seconds > 0)
                tellAge(o, (int) (key >>> 32), seconds, refs, (life & STOPPED) == 0 ? size : 0, parent);
            if ((life & STOPPED) != 0) // it may have been released and taken again unseen
                unknownAt((int) (key >>> 32));
            else
                gather(stripe, key | 1);
        } catch (Throwable t) {
            failed(t);
        } finally {
            java.lang.ref.Reference.reachabilityFence(o); // design.md: close protocol: until the close is done
        }
    }

    /** Bytes of the life; 0: not known. */
    @ForceInline
    @Hidden
    private static int sizeAt(long at, long f) {
        long size = U.getLong(at + REC_SIZE);
        return ((size ^ f) >>> 32) == 0 ? (int) size : 0;
    }

    /** Rare: the current second is not the one of the open. */
    @DontInline
    @Hidden
    private static void tellAge(Object o, int node, int seconds, long refs, int size, long parent) {
        try {
            boolean sums = size > 0 && (U.getInt(SHARED + SHARED_FLAGS) & SHARED_USAGE) != 0;
            int written = sums ? BBFlowUsage.written(o, (int) refs, parent) : USAGE_NOT_ASKED;
            recordLifetime(node, seconds, (int) refs, sums ? size : 0, written);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /**
     * Start the record's word again with one life. A pool gives an object to different paths in
     * turn, so its runs are short.
     */
    @DontInline
    @Hidden
    private static void passRun(long word, long key) {
        try {
            long run = U.getLong(word);
            U.putLong(word, key | 1);
            if (run != 0)
                gather(stripe(), run);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Count in the thread's word for the node; the run that it replaces goes to C, an expensive
     * call. */
    @Hidden
    private static void gather(long stripe, long run) {
        if (stripe == 0) {
            charge(run);
            return;
        }
        long word = stripe + STRIPE_RUN + ((run >>> 32 & RUN_SLOTS - 1) << 3), held = U.getLong(word);
        if (((held ^ run) >>> 16) == 0 && (held & RUN_FULL) + (run & RUN_FULL) <= RUN_FULL) {
            U.putLong(word, held + (run & RUN_FULL));
        } else {
            U.putLong(word, run);
            charge(held);
        }
    }

    @Hidden
    private static void charge(long run) {
        if (run != 0)
            countReleased((int) (run >>> 32), (int) (run >>> 16) & 0xffff, (int) run & RUN_FULL);
    }
}
