/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowFast - the fast path of the hooks of BBFlowShim, behind their guards. The compilers
 * inline it where the instrumented method is; where windows are seldom, BBFlowWindows calls it (ADR 73).
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

final class BBFlowFast {
    private static final Unsafe U = Unsafe.getUnsafe();

    private BBFlowFast() {
    }

    @ForceInline
    @Hidden
    static void root(Object o, int size, int meta) {
        if (slowHooks() && (idle() || BBFlowMap.root(o, size, meta, false)))
            return;
        long f = U.getLong(o, OFF), at = recordAt(f);
        int node = U.getInt(ROOTS + ((long) (meta & META_SITE) << 2));
        // Recycled and closed: the object keeps its record; one compare decides (design.md: garbage
        // detection).
        if (U.getLong(at + REC_LIFE) == (f & HIGH | CLOSED | STICKY) && node > NODE_BEFORE_RESET) {
            long g = (f & HIGH) + GENERATION;
            int refs = (int) U.getLong(at + REC_REFS) & CLASS_MASK << CLASS_SHIFT;
            begin(at, g, node, refs | meta >>> META_MEM_SHIFT << MEM_SHIFT | 1, size, 0,
                    OPEN | STICKY);
            U.putLong(o, OFF, nextHandle(g, f));
            U.storeStoreFence();
            if (WINDOWS)
                BBFlowWindows.opened(f);
        } else {
            BBFlowRoots.root(o, size, meta, false);
        }
    }

    @ForceInline
    @Hidden
    static void alias(Object view, Object owner) {
        if (owner == null || slowHooks() && (idle() || lacksField(view) || lacksField(owner)))
            return;
        U.putLong(view, OFF, U.getLong(owner, OFF));
    }

    @ForceInline
    @Hidden
    static void wrap(Object view, Object owner) {
        if (owner == null || slowHooks() && (idle() || lacksField(view) || lacksField(owner)))
            return;
        long f = U.getLong(owner, OFF);
        U.putLong(view, OFF, inForce(f) ? f : 0);
    }

    @ForceInline
    @Hidden
    static void derive(Object o, Object parent, int site) {
        if (o == null || parent == null || WINDOWS && BBFlowWindows.refuseLives()
                || slowHooks() && (idle() || BBFlowMap.derive(o, parent, site)))
            return;
        long f = U.getLong(o, OFF), at = recordAt(f);
        long pf = U.getLong(parent, OFF), owner = recordAt(pf), path = U.getLong(owner + REC_PATH);
        long child = U.getLong(nodeAt(path)) ^ (long) site << 32;
        int bucket = U.getInt(nodeAt(path) + NODE_FLAGS) >>> FLAG_BUCKET_SHIFT & 3;
        // As in step() the parent's first child is this site's; and recycled and closed as in root().
        if (((path ^ pf | child) >>> 32) == 0 && bucket == BBFlowWalk.BUCKET_ONE && !BBFlowRoots.paused()
                && (!WINDOWS || BBFlowWindows.position(owner, pf) == path)
                && U.getLong(at + REC_LIFE) == (f & HIGH | CLOSED | STICKY)) {
            long g = (f & HIGH) + GENERATION;
            int refs = (int) U.getLong(at + REC_REFS) & CLASS_MASK << CLASS_SHIFT;
            begin(at, g, (int) child, refs | BBFlowRoots.memOf(pf) << MEM_SHIFT | 1, 0, pf,
                    OPEN | STICKY);
            U.putLong(o, OFF, nextHandle(g, f));
            U.storeStoreFence();
            if (WINDOWS)
                BBFlowWindows.opened(f);
        } else {
            deriveSlow(o, parent, site);
        }
    }

    @DontInline
    @Hidden
    static void deriveSlow(Object o, Object parent, int site) {
        reserveStackSlow();
        try {
            BBFlowRoots.derive(o, parent, site);
        } catch (Throwable t) {
            failed(t);
        }
    }

    @ForceInline
    @Hidden
    static void adopt(Object composite, Object buffer) {
        if (buffer == null || slowHooks() && idle())
            return;
        if (!slowHooks()) {
            long c = U.getLong(buffer, OFF), k = U.getLong(composite, OFF);
            if (c != k && isOpen(c) && isOpen(k)) {
                U.putLong(BBFlowComposites.ownerAt(c), BBFlowComposites.ownerWord(c, k));
                return;
            }
        }
        adoptSlow(composite, buffer);
    }

    @DontInline
    @Hidden
    static void adoptSlow(Object composite, Object component) {
        reserveStackSlow();
        try {
            BBFlowComposites.adopt(composite, component);
        } catch (Throwable t) {
            failed(t);
        }
    }

    @ForceInline
    @Hidden
    static void refs(Object o, int delta) {
        if (o == null || slowHooks() && (idle() || BBFlowMap.refs(o, delta)))
            return;
        long f = U.getLong(o, OFF);
        if (!WINDOWS || isOpen(f))
            BBFlowWalk.refsOn(f, delta);
    }

    @ForceInline
    @Hidden
    static void resized(Object o, int size) {
        if (o == null || slowHooks() && (idle() || BBFlowMap.resized(o, size)))
            return;
        long f = U.getLong(o, OFF);
        if (!WINDOWS || isOpen(f))
            sizeOf(f, size);
    }

    @ForceInline
    @Hidden
    static void step(Object o, int site) {
        if (o == null || slowHooks() && (WINDOWS && idle() || BBFlowMap.step(o, site)))
            return;
        long f = U.getLong(o, OFF), at = recordAt(f), path = U.getLong(at + REC_PATH);
        if ((int) path == NODE_NONE) { // not followed: this reads no node (ADR 72)
            if (path != (f & HIGH))
                BBFlowWalk.stepSlow(o, f, site);
            else if (!WINDOWS && path != HIGH && (U.getLong(at + REC_LIFE) & SKIPPED) == 0)
                BBFlowMisuse.step(o, site);
            return;
        }
        long child = U.getLong(nodeAt(path)) ^ (long) site << 32;
        // The handle's generation is the path's and the first child is this site's: move there.
        if (((path ^ f | child) >>> 32) == 0)
            U.putLong(at + REC_PATH, f & HIGH | child);
        else
            BBFlowWalk.stepSlow(o, f, site);
    }

    @ForceInline
    @Hidden
    static void close(Object o) {
        if (WINDOWS)
            U.loadFence(); // who missed a step sees the gap
        long f = U.getLong(o, OFF), at = recordAt(f);
        // Plain stores: Netty's own refCnt CAS has one winner here (design.md: close protocol;
        // docs/memory-model.md).
        if (U.getLong(at + REC_LIFE) == (f & HIGH | OPEN | STICKY)) {
            long path = U.getLong(at + REC_PATH), run = U.getLong(at + REC_RUN);
            long key = BBFlowClose.runKey(chargedAt(path, f), U.getLong(at + REC_REFS));
            boolean same = ((run ^ key) >>> 16) == 0 && (run & RUN_FULL) != RUN_FULL;
            if (!same | U.getInt(at + REC_NEXT) != U.getInt(SHARED + SHARED_NOW)) {
                BBFlowClose.closeSticky(o, f, key, same);
                return;
            }
            U.putLong(at + REC_PATH, f & HIGH);
            U.putInt(at + REC_BATCH, (int) tid());
            U.putLongRelease(null, at + REC_LIFE, f & HIGH | CLOSED | STICKY);
            U.putLong(at + REC_RUN, run + 1);
        } else if (!WINDOWS || isOpen(f)) {
            BBFlowClose.close(o, f);
        }
    }
}
