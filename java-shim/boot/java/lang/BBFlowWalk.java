/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowWalk - how a step finds its node when the hit path of BBFlowShim.step does not
 * (design.md: step), and how a count moves a life to another bucket. Both end in the record's path.
 */
package java.lang;

import static java.lang.BBFlowGuard.*;
import static java.lang.BBFlowHandle.*;
import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowNative.*;
import static java.lang.BBFlowRecords.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowWalk {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** refCnt bucket by count 0..6, two bits each: 0, 1-2, 3-5, 6+. */
    private static final int BUCKETS = 1 << 2 | 1 << 4 | 2 << 6 | 2 << 8 | 2 << 10 | 3 << 12;
    static final int BUCKET_ONE = 1;

    private BBFlowWalk() {
    }

    // ---- steps ----

    /** Off the hit path, with nothing in it that makes the caller spill more than it must. */
    @DontInline
    @Hidden
    static void stepSlow(Object o, long f, int site) {
        long at = recordAt(f), path = U.getLong(at + REC_PATH), node = nodeAt(path);
        if (((path ^ f) >>> 32) == 0) {
            if ((int) path == NODE_NONE) {
                BBFlowMisuse.step(o, site);
                return;
            }
            for (int i = 8; i < 8 * INLINE_CHILDREN; i += 8) {
                long word = U.getLong(node + i);
                if ((int) (word >>> 32) == site && word != 0) {
                    U.putLong(at + REC_PATH, f & HIGH | word & LOW);
                    return;
                }
            }
        } else if (f == IGN || f == NEVER) {
            return;
        }
        try {
            stepMiss(o, f, site);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** A step of a life whose handle was looked up (map mode). */
    @Hidden
    static void stepTo(long f, int site) {
        long at = recordAt(f), path = U.getLong(at + REC_PATH);
        if (((path ^ f) >>> 32) != 0) {
            repairLateStore(f);
        } else if ((int) path != NODE_NONE) {
            int next = childOf((int) path, site);
            if (next != (int) path)
                U.putLong(at + REC_PATH, f & HIGH | next & LOW);
        }
    }

    /** A late store of the life before (design.md: late step): true if the handle's life is in force. */
    @Hidden
    private static boolean repairLateStore(long f) {
        long at = recordAt(f), life = U.getLongVolatile(null, at + REC_LIFE);
        if (((life ^ f) >>> 32) != 0)
            return false;
        if ((life & STATE) == OPEN) {
            U.putLong(at + REC_PATH, f & HIGH | NODE_RACED);
            count(TALLY_RACED_STEPS);
        }
        return true;
    }

    @Hidden
    private static void stepMiss(Object o, long f, int site) {
        if (isFresh(f)) {
            BBFlowRoots.firstSight(o, site);
            return;
        }
        long at = recordAt(f), path = U.getLong(at + REC_PATH);
        long life = U.getLongVolatile(null, at + REC_LIFE);
        if (((path ^ f) >>> 32) != 0) {
            if (repairLateStore(f))
                return;
            long h = current(o); // a view whose owner was recycled
            if (h != f && h != 0 && isOpen(h))
                BBFlowShim.step(o, site);
            else
                BBFlowMisuse.step(o, site);
            return;
        }
        if ((life & STATE) == OPEN) {
            int next = childOf((int) path, site);
            if (next != (int) path)
                U.putLong(at + REC_PATH, f & HIGH | next & LOW);
        }
    }

    // ---- nodes ----

    /** Where the site leads, looking for what exists before asking C to make it (design.md: trie). */
    @Hidden
    static int childOf(int node, int site) {
        long n = nodeAt(node);
        for (int i = 0; i < 8 * INLINE_CHILDREN; i += 8) {
            long word = U.getLongVolatile(null, n + i);
            if (word == 0)
                break;
            if ((int) (word >>> 32) == site)
                return (int) word;
        }
        int flags = U.getInt(n + NODE_FLAGS);
        if ((flags & (FLAG_NO_STEPS | FLAG_FULL)) == 0
                && (U.getInt(SHARED + SHARED_FLAGS) & SHARED_NODES_FULL) == 0)
            return child(node, site);
        int known = (flags & FLAG_NO_STEPS) == 0 ? overflowChild(node, site) : 0;
        if (known == 0 && (node & LOW) > NODE_BEFORE_RESET
                && U.getInt(n + NODE_SITE) != SITE_GAP) { // that says so itself
            count(TALLY_DROPPED_STEPS);
            if ((flags & FLAG_NO_STEPS) != 0)
                count(TALLY_DEEP_STEPS);
        }
        return known != 0 ? known : node;
    }

    /** The overflow table, read only; the same as find_overflow() in trie/node.c. */
    @Hidden
    private static int overflowChild(int node, int site) {
        long x = (long) node << 32 | site;
        x ^= x >>> 33;
        x *= 0xff51afd7ed558ccdL;
        x ^= x >>> 33;
        long table = OVERFLOW + ((long) (node >>> ARENA_SHIFT) << OVERFLOW_BITS + 2);
        for (int probes = 0; probes < 1 << OVERFLOW_BITS; probes++, x++) {
            int id = U.getIntVolatile(null, table + ((x & (1 << OVERFLOW_BITS) - 1) << 2));
            if (id == 0)
                return 0;
            long n = nodeAt(id);
            int flags = U.getInt(n + NODE_FLAGS);
            if (U.getInt(n + NODE_PARENT) == node && U.getInt(n + NODE_SITE) == site
                    && ((flags & FLAG_ALIAS) != 0 || sameBucket(flags, node)))
                return (flags & FLAG_ALIAS) != 0 ? (int) U.getLong(n) : id;
        }
        return 0;
    }

    @Hidden
    private static boolean sameBucket(int flags, int parent) {
        int other = U.getInt(nodeAt(parent) + NODE_FLAGS);
        return ((flags ^ other) >>> FLAG_BUCKET_SHIFT & 3) == 0;
    }

    // ---- counts ----

    @ForceInline
    @Hidden
    static void refsOn(long f, int delta) {
        long at = recordAt(f), refs;
        int count, next;
        // By CAS: another thread's last release may end this life meanwhile, and a late store would
        // take the next life's memory kind and class away (a harmless life as a proven leak: seen).
        do {
            refs = U.getLong(at + REC_REFS);
            if (((refs ^ f) >>> 32) != 0)
                return;
            count = (int) refs & REFS_COUNT;
            next = Math.max(1, Math.min(count + delta, REFS_COUNT));
        } while (!U.compareAndSetLong(null, at + REC_REFS, refs, refs + (next - count)));
        if ((BUCKETS >>> 2 * Math.min(count, 6) & 3) != (BUCKETS >>> 2 * Math.min(next, 6) & 3))
            changeBucket(f, BUCKETS >>> 2 * Math.min(next, 6) & 3);
    }

    @DontInline
    @Hidden
    private static void changeBucket(long f, int bucket) {
        try {
            long at = recordAt(f), path = U.getLong(at + REC_PATH);
            if (((path ^ f) >>> 32) == 0 && (path & LOW) > NODE_BEFORE_RESET)
                U.compareAndSetLong(null, at + REC_PATH, path,
                        f & HIGH | bucketOf((int) path, bucket) & LOW);
        } catch (Throwable t) {
            failed(t);
        }
    }
}
