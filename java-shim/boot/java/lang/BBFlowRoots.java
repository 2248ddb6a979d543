/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowRoots - where a life begins when the short way (BBFlowShim.root) does not do: new
 * objects, wrappers, derived buffers, names that come after the first sight, what trackDirectOnly
 * and sample= leave out, and what no root hook opened.
 */
package java.lang;

import static java.lang.BBFlowGuard.*;
import static java.lang.BBFlowHandle.*;
import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowNative.*;
import static java.lang.BBFlowRecords.*;
import static java.lang.BBFlowWalk.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowRoots {
    private static final Unsafe U = Unsafe.getUnsafe();

    private BBFlowRoots() {
    }

    @DontInline
    @Hidden
    static void root(Object o, int size, int meta, boolean keep) {
        if (isSampled() && !keep && redraw(o, size, meta))
            return;
        reserveStackSlow();
        try {
            // The root of a life that was seen in the constructor: the handle suffices.
            int known = U.getInt(ROOTS + ((long) (meta & META_SITE) << 2));
            if (known > NODE_BEFORE_RESET && (meta >>> META_MEM_SHIFT & MEM_KIND) != MEM_KIND
                    && rename(U.getLong(o, OFF), known, meta >>> META_MEM_SHIFT, size))
                return;
            long kind = kindOf(o);
            Object owner = o;
            if ((kind & KIND_VIEW) != 0) {
                owner = ownerOf(o);
                if (owner == null)
                    return;
                kind = kindOf(owner);
            }
            if ((kind & (KIND_OWNER | KIND_FOREIGN)) != 0)
                openRoot(owner, kind, size, meta, keep);
            if (owner != o)
                U.putLong(o, OFF, U.getLong(owner, OFF));
            U.storeStoreFence();
            if (WINDOWS)
                BBFlowWindows.opened(U.getLong(owner, OFF));
            if (isAsked())
                opened(U.getLong(owner, OFF), meta & META_SITE);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Does the agent ask for the callers of some root (ADR 49)? That root comes this way only. */
    @Hidden
    static boolean isAsked() {
        return (U.getInt(SHARED + SHARED_FLAGS) & SHARED_ASKED) != 0;
    }

    /**
     * A class whose release() does nothing: the collector frees it, and it is no leak (design.md:
     * verdicts).
     */
    @Hidden
    private static int unreleasable(long kind) {
        return (kind & (KIND_OWNER | KIND_NEVER)) == (KIND_OWNER | KIND_NEVER) ? MEM_HARMLESS : 0;
    }

    @Hidden
    static void openRoot(Object o, long kind, int size, int meta, boolean keep) {
        long f = U.getLong(o, OFF);
        if (paused())
            return;
        if (f == NEVER || keep && f != 0 && f != IGN && isOpen(f) && !isNew(f, meta))
            return;
        if (keep && f == IGN && isSampled())
            return; // the terminal within has drawn already
        int mem = meta >>> META_MEM_SHIFT;
        if ((mem & MEM_KIND) == MEM_KIND) // Unpooled.wrappedBuffer & co.: the class knows
            mem = mem & ~MEM_KIND | (int) (kind >>> KIND_MEM_SHIFT) & MEM_KIND;
        mem |= unreleasable(kind);
        if ((kind & KIND_FOREIGN) != 0)
            mem |= MEM_FOREIGN;
        int sample = U.getInt(SHARED + SHARED_SAMPLE);
        // Its first sight in the constructor has drawn for a composite that is kept.
        int node = keep && sample != 0 && f != 0 && f != IGN && isOpen(f)
                ? rateRoot(meta & META_SITE, sample) : rootNode(meta & META_SITE, mem);
        boolean sticky = !isFresh(f);
        if (f != 0 && f != IGN && isOpen(f)) {
            if (node > NODE_BEFORE_RESET && rename(f, node, mem, size))
                return;
            if (node <= NODE_BEFORE_RESET && isFirstSeen(f))
                undo(f);
            else
                endBy(f, true);
        }
        if (node <= NODE_BEFORE_RESET) {
            if (node != NODE_IGNORE)
                count(TALLY_DROPPED_LIVES);
            skip(o, f);
            return;
        }
        int refs = refsOf(kind, mem);
        if (sticky && f != IGN && reopen(o, f, node, refs, size, 0))
            return;
        long h = open(o, node, refs, size, 0, sticky ? STICKY : 0);
        if (h == IGN)
            count(TALLY_DROPPED_LIVES);
        if (sticky)
            U.putLong(o, OFF, h);
        else if (!U.compareAndSetLong(o, OFF, f, h)) { // another thread saw it first (design.md: open protocol)
            undo(h);
            rename(U.getLongVolatile(o, OFF), node, mem, size);
        }
    }

    /** It is never followed; what its constructor or allocator showed of it was no life. */
    @Hidden
    static void never(Object o) {
        long f = U.getLong(o, OFF);
        if (f != 0 && f != IGN && f != NEVER && isOpen(f)) {
            if (!isFirstSeen(f))
                return;
            undo(f);
        }
        U.putLong(o, OFF, NEVER);
    }

    /**
     * Root node of a site, or why there is none: NODE_IGNORE (off, trackDirectOnly, not drawn),
     * NODE_NONE. With sample= each call draws: once a life.
     */
    @Hidden
    static int rootNode(int site, int mem) {
        int flags = U.getInt(SHARED + SHARED_FLAGS);
        if ((flags & SHARED_OFF) != 0
                || (flags & SHARED_DIRECT_ONLY) != 0 && (mem & (MEM_KIND | MEM_FIRST_SEEN)) == MEM_HEAP)
            return NODE_IGNORE;
        int sample = U.getInt(SHARED + SHARED_SAMPLE);
        if (sample != 0)
            return isDrawn(sample, random()) ? rateRoot(site, sample) : NODE_IGNORE;
        int node = U.getInt(ROOTS + ((long) site << 2));
        return node != NODE_NONE ? node : rootOf(site);
    }

    // ---- sample= ----

    @Hidden
    static boolean isSampled() {
        return U.getInt(SHARED + SHARED_SAMPLE) != 0;
    }

    /** The root of a site below which each life counts for N. */
    @Hidden
    static int rateRoot(int site, int sample) {
        int at = sample >>> SAMPLE_RATE_SHIFT << META_MEM_SHIFT | site;
        int node = U.getInt(RATE_ROOTS + ((long) at << 2));
        return node != NODE_NONE ? node : rootOf(at);
    }

    /**
     * While sample= is on, what BBFlowShim.root() does of a recycled object, which is drawn again;
     * true if that was all. Before anything is changed nothing is called that could fail.
     */
    @ForceInline
    @Hidden
    private static boolean redraw(Object o, int size, int meta) {
        long f = U.getLong(o, OFF), at = recordAt(f);
        int sample = U.getInt(SHARED + SHARED_SAMPLE);
        int flags = U.getInt(SHARED + SHARED_FLAGS)
                & (SHARED_OFF | SHARED_PAUSED | SHARED_DIRECT_ONLY | SHARED_ASKED);
        int of = sample >>> SAMPLE_RATE_SHIFT << META_MEM_SHIFT | meta & META_SITE;
        int node = U.getInt(RATE_ROOTS + ((long) of << 2));
        if (flags != 0 || sample == 0 || node <= NODE_BEFORE_RESET
                || (U.getLong(at + REC_LIFE) & ~(long) SKIPPED) != (f & HIGH | CLOSED | STICKY)
                || (kindOf(o) & KIND_VIEW) != 0) // a wrapper has but a copy of its owner's handle
            return false;
        if (!isDrawn(sample, random()))
            return passOver(f);
        int refs = (int) U.getLong(at + REC_REFS) & CLASS_MASK << CLASS_SHIFT;
        refs |= meta >>> META_MEM_SHIFT << MEM_SHIFT | 1;
        if (!reopen(o, f, node, refs, size, 0))
            return false;
        U.storeStoreFence();
        return true;
    }

    /** One in N, of 32 random bits: Lemire, Fast Random Integer Generation in an Interval, 2019. */
    @Hidden
    static boolean isDrawn(int sample, long random) {
        return (random >>> 32) * (sample & SAMPLE_N) >>> 32 == 0;
    }

    /** The finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014. */
    @Hidden
    static long mix(long z) {
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }

    /** SplitMix64, a state for each carrier thread. */
    @Hidden
    static long random() {
        long step = 0x9e3779b97f4a7c15L, stripe = stripe();
        if (stripe == 0)
            return mix(U.getAndAddLong(null, SHARED + SHARED_RANDOM, step) + step);
        long state = U.getLong(stripe + STRIPE_RANDOM);
        if (state == 0)
            state = mix(U.getAndAddLong(null, SHARED + SHARED_RANDOM, step));
        state += step;
        U.putLong(stripe + STRIPE_RANDOM, state);
        return mix(state);
    }

    // ---- lives that are not followed ----

    /**
     * This life of the object, whose handle was f, is not followed. A recycled object keeps its
     * record for a later one (marked, so that its end is no second release of the last life).
     */
    @Hidden
    static void skip(Object o, long f) {
        if (isFresh(f) && !U.compareAndSetLong(o, OFF, f, IGN)) { // another thread saw it first
            f = U.getLongVolatile(o, OFF);
            if (isOpen(f) && isFirstSeen(f))
                undo(f);
        }
        if (!isFresh(f) && f != IGN && f != NEVER && isOpen(f))
            giveWay(f);
        if (!passOver(f))
            U.putLong(o, OFF, IGN);
    }

    /** True for the handle of a recycled object: no other thread uses its record, as at a reopen. */
    @Hidden
    static boolean passOver(long f) {
        long at = recordAt(f), closed = f & HIGH | CLOSED | STICKY;
        if (f == 0 || f == IGN || f == NEVER
                || (U.getLong(at + REC_LIFE) & ~(long) SKIPPED) != closed)
            return false;
        U.putLongRelease(null, at + REC_LIFE, closed | SKIPPED);
        return true;
    }

    @Hidden
    static boolean isSkipped(long f) {
        return U.getLong(recordAt(f) + REC_LIFE) == (f & HIGH | CLOSED | STICKY | SKIPPED);
    }

    // ---- pools of the application (ADR 34) ----

    /*
     * What the field of such an object says while it has no life. ENDING, or the handle of the life
     * that was closed: it is in deallocate(). IDLE, or that handle with HANDLE_GIVEN: behind it.
     * RETURNED: its count came back in deallocate(). COUNTED: that is over. AGAIN: the count came back
     * after it was over. Invariant: one of these goes to the next by CAS, so a first sight or a root
     * that comes between is kept.
     */

    /** The count comes back. In deallocate() that does not say that the object is taken. */
    @Hidden
    static void again(Object o) {
        if ((kindOf(o) & (KIND_OWN | KIND_FIELD)) != (KIND_OWN | KIND_FIELD))
            return; // in map mode its entry went with its life
        long f = U.getLong(o, OFF);
        if (f == IDLE || f == COUNTED || isGiven(f))
            U.compareAndSetLong(o, OFF, f, AGAIN);
        else if (f == ENDING || isClosed(f))
            U.compareAndSetLong(o, OFF, f, RETURNED);
    }

    /** deallocate() is done. Who takes an object whose count is back by then cannot be seen. */
    @Hidden
    static void givenBack(Object o) {
        long kind = kindOf(o);
        if ((kind & KIND_OWN) == 0)
            return;
        if ((kind & KIND_FIELD) == 0) {
            BBFlowMap.givenBack(o, kind);
            return;
        }
        long f = U.getLong(o, OFF);
        if (f == ENDING)
            U.compareAndSetLong(o, OFF, f, IDLE);
        else if (f == RETURNED && U.compareAndSetLong(o, OFF, f, COUNTED))
            early(kind);
        else if (isClosed(f) && !isGiven(f) && !isReopened(f))
            U.compareAndSetLong(o, OFF, f, f | HANDLE_GIVEN);
    }

    /** A count came back before deallocate() was over. */
    @Hidden
    static void early(long kind) {
        U.putInt(SHARED + SHARED_EARLY_OF, (int) kind & KIND_CLASS);
        U.getAndAddLong(null, SHARED + SHARED_EARLY, 1);
    }

    /** The last count is gone, and no life was open: its class may set a count of its own. */
    @Hidden
    static void ended(Object o, long f) {
        if (WINDOWS || f == NEVER || f != 0 && U.getInt(SHARED + SHARED_OWN) == 0)
            return;
        long kind = kindOf(o);
        if ((kind & KIND_OWN) == 0)
            return;
        if ((f == IDLE || isClosed(f) && !isSkipped(f))
                && (U.getInt(SHARED + SHARED_FLAGS) & SHARED_UNSEEN) == 0) { // it began unseen, too
            U.putInt(SHARED + SHARED_HIDER, (int) kind & KIND_CLASS);
            U.getAndAddLong(null, SHARED + SHARED_HIDDEN, 1);
        }
        if ((kind & KIND_FIELD) != 0 && f != RETURNED && f != ENDING
                && (!isClosed(f) || isGiven(f)))
            U.compareAndSetLong(o, OFF, f, ENDING);
    }

    /** Does its root reuse the closed record? */
    @Hidden
    private static boolean isReopened(long f) {
        return (U.getLong(recordAt(f) + REC_LIFE) & ~(long) SKIPPED) == (f & HIGH | CLOSED | STICKY);
    }

    @Hidden
    private static boolean isGiven(long f) {
        return !isFresh(f) && f != IGN && f != NEVER && (f & HANDLE_GIVEN) != 0;
    }

    @Hidden
    private static boolean isClosed(long f) {
        return !isFresh(f) && f != IGN && f != NEVER && !isOpen(f);
    }

    // ---- derived buffers (design.md: lives) ----

    /** Where the derived buffer's own life begins. */
    @Hidden
    static void derive(Object o, Object parent, int site) {
        if (paused())
            return;
        long pf = current(parent);
        long f = U.getLong(o, OFF);
        if (WINDOWS && (isFresh(pf) || pf == IGN || pf == NEVER || !isOpen(pf)))
            return; // its parent is not followed
        if (pf == IGN || pf == NEVER || isSkipped(pf)) { // it follows its owner
            skip(o, f);
            return;
        }
        long kind = kindOf(o);
        int node = 0, mem = (int) (kind >>> KIND_MEM_SHIFT) & MEM_KIND;
        if (pf != 0 && isOpen(pf)) {
            node = derivedNode(pf, site);
            mem = memOf(pf);
        } else if (pf != 0) {
            return; // released: what follows throws, and the buffer never comes to be
        } else {
            node = rootNode(site, mem);
            if (node <= NODE_BEFORE_RESET) {
                skip(o, f);
                return;
            }
        }
        int refs = refsOf(kind, mem);
        if (f != 0 && f != IGN && isOpen(f))
            giveWay(f);
        if (f == 0 || f == IGN || !reopen(o, f, node, refs, 0, pf)) {
            long h = open(o, node, refs, 0, pf, f != 0 ? STICKY : 0);
            if (h == IGN)
                count(TALLY_DROPPED_LIVES);
            U.putLong(o, OFF, h);
        }
        U.storeStoreFence();
        if (WINDOWS)
            BBFlowWindows.opened(U.getLong(o, OFF));
    }

    /** Where a life that is derived from an open one begins. */
    @Hidden
    static int derivedNode(long pf, int site) {
        int node = chargedAt(BBFlowWindows.position(recordAt(pf), pf), pf);
        return node > NODE_BEFORE_RESET ? childOf(node, derivedKey(node, site)) : node;
    }

    /** A derived life begins with a count of 1, whatever its parent's is. */
    @Hidden
    private static int derivedKey(int parent, int site) {
        int bucket = U.getInt(nodeAt(parent) + NODE_FLAGS) >>> FLAG_BUCKET_SHIFT & 3;
        return bucket == BUCKET_ONE ? site : (BUCKET_ONE + 1) << KEY_BUCKET_SHIFT | site;
    }

    // ---- what is known of a life ----

    /** Hooks come or go: nothing is opened. */
    @Hidden
    static boolean paused() {
        return (U.getInt(SHARED + SHARED_FLAGS) & SHARED_PAUSED) != 0;
    }

    @Hidden
    static int memOf(long f) {
        return (int) (U.getLong(recordAt(f) + REC_REFS) >>> MEM_SHIFT) & MEM_KIND;
    }

    @Hidden
    static boolean isFirstSeen(long f) {
        long refs = U.getLong(recordAt(f) + REC_REFS);
        return ((refs ^ f) >>> 32) == 0 && (refs >>> MEM_SHIFT & MEM_FIRST_SEEN) != 0;
    }

    /**
     * Did a terminal that may return an older buffer make this one? If it wraps the user's memory,
     * it is a new one.
     */
    @Hidden
    static boolean isNew(long f, int meta) {
        return (meta >>> META_MEM_SHIFT & MEM_HARMLESS) != 0 ? isFirstSeen(f) : isUnnamed(f);
    }

    /** A composite that took components over in its constructor, and did nothing else yet. */
    @Hidden
    private static boolean isUnnamed(long f) {
        long path = U.getLong(recordAt(f) + REC_PATH);
        return isFirstSeen(f) && memOf(f) == MEM_COMPOSITE && ((path ^ f) >>> 32) == 0
                && U.getInt(nodeAt(path) + NODE_PARENT) == NODE_NONE;
    }

    /** The life was only first seen inside the constructor or allocator: its root is known now. */
    @Hidden
    static boolean rename(long f, int node, int mem, int size) {
        if (f == 0 || f == IGN || f == NEVER || !isOpen(f) || !isFirstSeen(f))
            return false;
        long at = recordAt(f), g = f & HIGH;
        if ((U.getLong(at + REC_LIFE) & STOPPED) != 0)
            return false; // seen before a stop: the allocator's buffer is another one
        U.putLong(at + REC_PATH, g | node);
        int kept = (int) U.getLong(at + REC_REFS) & (CLASS_MASK << CLASS_SHIFT | REFS_COUNT);
        U.putLong(at + REC_REFS, g | (kept | mem << MEM_SHIFT) & LOW);
        if (size != 0) // else what the first sight read
            U.putLong(at + REC_SIZE, g | size & LOW);
        return true;
    }

    /**
     * A derived life begins on the object: the open one ended unseen. One that was only seen
     * while Netty's recycler made the object was no life.
     */
    @Hidden
    static void giveWay(long f) {
        if (isFirstSeen(f) && (U.getLong(recordAt(f) + REC_LIFE) & STOPPED) == 0)
            undo(f);
        else
            endBy(f, true);
    }

    /** Continue a closed sticky record with its next generation. */
    @Hidden
    static boolean reopen(Object o, long f, int node, int refs, int size, long parent) {
        long at = recordAt(f);
        if ((U.getLong(at + REC_LIFE) & ~(long) SKIPPED) != (f & HIGH | CLOSED | STICKY))
            return false;
        long g = (f & HIGH) + GENERATION;
        begin(at, g, node, refs, size, parent, OPEN | STICKY);
        U.putLong(o, OFF, nextHandle(g, f));
        return true;
    }

    // ---- no root hook opened one ----

    /** No root hook opened a life for it: a constructor's buffer, or one older than the agent. */
    @Hidden
    static void firstSight(Object o, int site) {
        long kind = kindOf(o);
        Object owner = o;
        if ((kind & KIND_VIEW) != 0) {
            owner = ownerOf(o);
            if (owner == null) {
                U.compareAndSetLong(o, OFF, 0L, IGN);
                return;
            }
            kind = kindOf(owner);
        }
        long f = U.getLongVolatile(owner, OFF);
        if (isFresh(f))
            f = openFirst(owner, kind);
        if (owner != o && inForce(f)) // see wrap()
            U.putLong(o, OFF, f);
        if (f != IGN && f != NEVER && isOpen(f))
            BBFlowShim.step(o, site);
    }

    /**
     * A mock of a counted class: made without a constructor, its release() is not Netty's. (Inside
     * the constructor a buffer looks the same; its root says better.)
     */
    @Hidden
    static boolean neverBuilt(Object o, long kind) {
        long maxCapacity = kind >>> 32 & 0xffff;
        return maxCapacity != 0 && U.getInt(o, maxCapacity) == 0;
    }

    @Hidden
    static int firstSiteOf(long kind) {
        return firstSite((int) kind & KIND_CLASS);
    }

    @Hidden
    static long openFirst(Object o, long kind) {
        long from = U.getLongVolatile(o, OFF);
        if (from != 0 && from != AGAIN && from != COUNTED)
            return from; // in deallocate() or in a pool; or it has a life
        int mem = BBFlowSize.memoryOf(o, kind);
        int flags = U.getInt(SHARED + SHARED_FLAGS);
        int site = 0;
        if ((flags & SHARED_PAUSED) != 0)
            return 0;
        if (WINDOWS) { // it may have been made while the gate was shut
            U.compareAndSetLong(o, OFF, from, IGN);
            return U.getLongVolatile(o, OFF);
        }
        if ((kind & (KIND_OWNER | KIND_FOREIGN)) != 0 && (flags & SHARED_OFF) == 0
                && ((flags & SHARED_DIRECT_ONLY) == 0 || mem != MEM_HEAP))
            site = firstSiteOf(kind);
        int node = site != 0 ? rootNode(site, mem | MEM_FIRST_SEEN) : 0;
        if (node <= NODE_BEFORE_RESET) {
            if (site != 0 && node != NODE_IGNORE)
                count(TALLY_DROPPED_LIVES);
            U.compareAndSetLong(o, OFF, from, IGN);
            return U.getLongVolatile(o, OFF);
        }
        mem |= MEM_FIRST_SEEN | unreleasable(kind);
        // Of what the pool takes its end was seen, whenever the hooks were away.
        if ((kind & KIND_FOREIGN) != 0 || (flags & SHARED_UNSEEN) != 0 && from != AGAIN
                || from == COUNTED || neverBuilt(o, kind))
            mem |= MEM_FOREIGN; // a root says better
        long h = open(o, node, refsOf(kind, mem), BBFlowSize.of(o, kind), 0, 0);
        if (h == IGN)
            count(TALLY_DROPPED_LIVES);
        if (U.compareAndSetLong(o, OFF, from, h)) {
            if ((mem & MEM_KIND) == MEM_COMPOSITE)
                BBFlowSize.adoptParts(o);
            if (BBFlowScopes.on())
                BBFlowScopes.opened(h, 0);
            return h;
        }
        if (h != IGN)
            undo(h);
        return U.getLongVolatile(o, OFF);
    }
}
