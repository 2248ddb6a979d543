/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowMap - the hooks for buffers whose ByteBuf class has no hidden field, because it was
 * loaded before the agent (design.md: hidden field; docs/adr: map mode). In the place of the field: a
 * table in native memory, found by the identity hash, of the lives that are open. What the hash finds
 * is proved by the object itself: the record's slot holds it, or, once the agent thread has converted
 * the life, a WeakReference to it. Hashes may collide as they like.
 *
 * Only open lives are in the table. A buffer that is not there is new to us if Netty's own count,
 * read by field, says that it is alive: otherwise it was released, and what is done with it is
 * Netty's to report.
 *
 * Table: buckets of 64 B; word 0 = this bucket has overflowed into the next (never taken back),
 * words 1-7 = pending:1 | tag:7 | generation:32 | record:24, 0 = empty.
 * Invariant: at most one entry of an object is not pending. To enter: put a pending entry, look
 * for others of the object, then commit by CAS. Of two that enter at once each has put its entry
 * before it looks, so one sees the other at least: a first sight gives way, a root (its thread
 * alone has the buffer) takes a pending one away.
 */
package java.lang;

import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowRecords.HIGH;
import static java.lang.BBFlowRecords.IGN;
import static java.lang.BBFlowRecords.LOW;

import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowMap {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long PENDING = 1L << 63;
    private static final long KEY = (1L << MAP_TAG_SHIFT) - 1;
    private static final int BUCKETS = 1 << MAP_BUCKET_BITS;
    private static final int TRIES = 16;
    static final long NOT_IN = 0;
    private static final long FULL = -1;

    private BBFlowMap() {
    }

    // ---- entries ----

    @Hidden
    private static long entry(long handle, long tag) {
        return handle & (1L << MAP_GENERATION_SHIFT) - 1
                | handle >>> 32 << MAP_GENERATION_SHIFT | tag << MAP_TAG_SHIFT;
    }

    @Hidden
    private static long handle(long entry) {
        return (entry >>> MAP_GENERATION_SHIFT & LOW) << 32
                | entry & (1L << MAP_GENERATION_SHIFT) - 1;
    }

    @Hidden
    private static long tagOf(int hash) {
        return hash >>> MAP_BUCKET_BITS & MAP_TAG_MASK;
    }

    @Hidden
    private static long bucketAt(int bucket) {
        return MAP + ((long) (bucket & BUCKETS - 1) << MAP_BUCKET_SHIFT);
    }

    /** Is o what the life of this handle is about, and is it open? */
    @Hidden
    private static boolean isOf(Object o, long h) {
        Object s = BBFlowRecords.slot((int) h);
        return (s == o || s != null && s.getClass() == WeakReference.class
                && ((WeakReference<?>) s).get() == o) && BBFlowRecords.isOpen(h);
    }

    /** The handle of an object's open life, 0 if there is none. */
    @Hidden
    static long find(Object o) {
        int hash = System.identityHashCode(o);
        long tag = tagOf(hash);
        for (int i = 0; i < BUCKETS; i++, hash++) {
            long b = bucketAt(hash);
            for (int k = 8; k < 1 << MAP_BUCKET_SHIFT; k += 8) {
                long e = U.getLongVolatile(null, b + k);
                // Again after the proof: an entry goes before its record is another life's.
                if (e != 0 && e >>> MAP_TAG_SHIFT == tag && isOf(o, handle(e))
                        && U.getLongVolatile(null, b + k) == e)
                    return handle(e);
            }
            if (U.getIntVolatile(null, b) == 0)
                return 0;
        }
        return 0;
    }

    /** Into the first empty place of the chain: its address, 0 if there is none. */
    @Hidden
    private static long put(int hash, long pending) {
        for (int i = 0; i < BUCKETS; i++, hash++) {
            long b = bucketAt(hash);
            for (int k = 8; k < 1 << MAP_BUCKET_SHIFT; k += 8)
                if (U.getLongVolatile(null, b + k) == 0
                        && U.compareAndSetLong(null, b + k, 0L, pending))
                    return b + k;
            U.putIntVolatile(null, b, 1); // before the entry is beyond it
        }
        return 0;
    }

    /** Another entry of o than the one at own: its handle; -1 = one that is pending; 0 = none. */
    @Hidden
    private static long rival(Object o, int hash, long tag, long own, boolean root) {
        for (int i = 0; i < BUCKETS; i++, hash++) {
            long b = bucketAt(hash);
            for (int k = 8; k < 1 << MAP_BUCKET_SHIFT; k += 8) {
                long e = U.getLongVolatile(null, b + k), again;
                while (e != 0 && b + k != own && (e & ~PENDING) >>> MAP_TAG_SHIFT == tag
                        && isOf(o, handle(e))) {
                    again = U.getLongVolatile(null, b + k);
                    if (again == e) {
                        if (e > 0)
                            return handle(e);
                        if (!root || !U.compareAndSetLong(null, b + k, e, 0L))
                            return -1;
                        break;
                    }
                    e = again; // committed meanwhile: that one must not be passed over
                }
            }
            if (U.getIntVolatile(null, b) == 0)
                return 0;
        }
        return 0;
    }

    /** h itself: it is in; else NOT_IN (try again, or give way) or FULL, and it is not. */
    @Hidden
    private static long enter(Object o, long h, boolean root) {
        if ((U.getInt(SHARED + SHARED_FLAGS) & SHARED_MAP) == 0)
            return FULL;
        int hash = System.identityHashCode(o);
        long tag = tagOf(hash), e = entry(h, tag);
        long at = put(hash, e | PENDING);
        if (at == 0)
            return FULL;
        U.putInt(BBFlowRecords.recordAt(h) + REC_BATCH, (int) (at - MAP >>> 3));
        if (rival(o, hash, tag, at, root) == 0 && U.compareAndSetLong(null, at, e | PENDING, e))
            return h;
        U.compareAndSetLong(null, at, e | PENDING, 0L);
        return NOT_IN;
    }

    /** The life is over: its entry goes before its record can be another's. */
    @Hidden
    static void remove(int place, long h) {
        long at = MAP + ((long) (place & (BUCKETS << MAP_BUCKET_SHIFT - 3) - 1) << 3);
        long e = U.getLongVolatile(null, at);
        if ((e & KEY) == entry(h, 0) && place != 0)
            U.compareAndSetLong(null, at, e, 0L);
    }

    // ---- objects ----

    /** What a view wraps at last, by field; null if that is no buffer of map mode. */
    @Hidden
    static Object owner(Object o) {
        for (int i = 0; i < MAX_UNWRAP && o != null; i++) {
            long kind = BBFlowHandle.kindOf(o);
            if ((kind & KIND_VIEW) == 0)
                return (kind & KIND_MAPPED) != 0 ? o : null;
            o = U.getReference(o, kind >>> 32);
        }
        return null;
    }

    /** Netty's count, by field: even and not 0 is alive (4.1.36 and later). */
    @Hidden
    private static boolean isAlive(Object o, long kind) {
        int raw = 0;
        if ((kind & KIND_COUNT_INT) != 0) {
            raw = U.getIntVolatile(o, kind >>> 32);
        } else if ((kind & KIND_COUNT_REF) != 0) {
            Object counter = U.getReference(o, kind >>> 32);
            long its = counter != null ? BBFlowHandle.kindOf(counter) : 0;
            raw = (its & KIND_COUNTER) != 0 ? U.getIntVolatile(counter, its >>> 32) : 0;
        }
        return raw != 0 && (raw & 1) == 0;
    }

    /** Does the count of the buffer or its owner say that it was released? */
    @Hidden
    private static boolean isReleased(Object o) {
        Object owner = owner(o);
        long kind = owner != null ? BBFlowHandle.kindOf(owner) : 0;
        return (kind & (KIND_COUNT_INT | KIND_COUNT_REF)) != 0 && !isAlive(owner, kind);
    }

    /** May it have a count while it is idle? If one class of the application does, any class
     * may. */
    @Hidden
    private static boolean isEarly(long kind) {
        return (kind & KIND_OWN) != 0 && U.getLong(SHARED + SHARED_EARLY) != 0;
    }

    /** False: a class without the field that map mode does not follow either. */
    @Hidden
    private static boolean isMapped(Object o) {
        return (BBFlowHandle.kindOf(o) & KIND_MAPPED) != 0;
    }

    @Hidden
    private static boolean hasField(Object o) {
        return (BBFlowHandle.kindOf(o) & KIND_FIELD) != 0;
    }

    /** The handle of the life that o, a view or an owner, is part of; 0 = none. */
    @Hidden
    static long handleOf(Object o) {
        Object owner = owner(o);
        return owner != null ? find(owner) : 0;
    }

    /** The same, opened if it is new to us and alive. */
    @Hidden
    private static long seen(Object o) {
        Object owner = owner(o);
        if (owner == null)
            return 0;
        long h = find(owner);
        return h != 0 ? h : firstSight(owner);
    }

    @Hidden
    static long firstSight(Object o) {
        long kind = BBFlowHandle.kindOf(o);
        int mem = BBFlowSize.memoryOf(o, kind), flags = U.getInt(SHARED + SHARED_FLAGS);
        boolean foreign = (kind & KIND_FOREIGN) != 0;
        if (BBFlowHandle.WINDOWS) // it may have been made while the gate was shut
            return 0;
        if ((kind & KIND_OWNER) == 0 && !foreign || (flags & (SHARED_OFF | SHARED_PAUSED)) != 0
                || (flags & SHARED_DIRECT_ONLY) != 0 && mem == MEM_HEAP || !foreign && !isAlive(o, kind)
                || BBFlowRoots.isSampled()) // there is no mark for what was drawn and not chosen
            return 0;
        mem |= foreign || isEarly(kind) ? MEM_FOREIGN | MEM_FIRST_SEEN : MEM_FIRST_SEEN;
        int site = BBFlowRoots.firstSiteOf(kind);
        int node = site != 0 ? BBFlowRoots.rootNode(site, mem) : 0;
        if (node <= NODE_BEFORE_RESET)
            return 0;
        Object parent = BBFlowSize.parentOf(o);
        long pf = parent != null ? seen(parent) : 0; // its bytes are charged once
        int size = pf == 0 ? BBFlowSize.of(o, kind) : 0;
        long h = BBFlowRecords.open(o, node, BBFlowRecords.refsOf(kind, mem), size, pf,
                MAPPED | SEEN);
        if (h == IGN) {
            BBFlowRecords.count(TALLY_DROPPED_LIVES);
            return 0;
        }
        if (enter(o, h, false) != h) {
            BBFlowRecords.undo(h);
            return find(o);
        }
        if ((mem & MEM_KIND) == MEM_COMPOSITE)
            BBFlowSize.adoptParts(o);
        if (BBFlowScopes.on())
            BBFlowScopes.opened(h, pf);
        // Released before it was in, so that the release hook did not find it?
        return foreign || isAlive(o, kind) || !BBFlowRecords.undoSeen(h) ? h : 0;
    }

    // ---- the hooks: true if o has no field, whatever was done with it ----

    @Hidden
    static boolean step(Object o, int site) {
        try {
            if (BBFlowScopes.on())
                BBFlowScopes.seen(o);
            if (hasField(o))
                return false;
            long h = seen(o);
            if (h != 0)
                BBFlowWalk.stepTo(h, site);
        } catch (Throwable t) {
            BBFlowGuard.failed(t);
        }
        return true;
    }

    @Hidden
    static boolean root(Object o, int size, int meta, boolean keep) {
        try {
            if (hasField(o)) {
                if (!BBFlowScopes.on())
                    return false;
                BBFlowGuard.reserveStackSlow();
                BBFlowRoots.root(o, size, meta, keep);
                BBFlowScopes.opened(BBFlowLook.handleOf(o), 0);
                return true;
            }
            Object owner = owner(o);
            long kind = owner != null ? BBFlowHandle.kindOf(owner) : 0;
            if ((kind & (KIND_OWNER | KIND_FOREIGN)) != 0 && !BBFlowRoots.paused())
                openRoot(owner, kind, size, meta, keep);
            if (owner != null && BBFlowRoots.isAsked())
                BBFlowNative.opened(find(owner), meta & META_SITE);
            if (owner != null && BBFlowScopes.on())
                BBFlowScopes.opened(find(owner), 0);
        } catch (Throwable t) {
            BBFlowGuard.failed(t);
        }
        return true;
    }

    /**
     * Make a first sight a root's life. By CAS: who saw it first may take it back at the same time,
     * and its record be another life's before our words are stored.
     */
    @Hidden
    private static boolean own(long h) {
        long at = BBFlowRecords.recordAt(h) + REC_LIFE, life;
        do {
            life = U.getLongVolatile(null, at);
            if (((life ^ h) >>> 32) != 0 || (life & (STATE | SEEN)) != (OPEN | SEEN))
                return false;
        } while (!U.compareAndSetLong(null, at, life, life & ~SEEN));
        return true;
    }

    @Hidden
    private static void openRoot(Object o, long kind, int size, int meta, boolean keep) {
        int mem = meta >>> META_MEM_SHIFT;
        if ((mem & MEM_KIND) == MEM_KIND)
            mem = mem & ~MEM_KIND | (int) (kind >>> KIND_MEM_SHIFT) & MEM_KIND;
        if ((kind & KIND_FOREIGN) != 0)
            mem |= MEM_FOREIGN;
        int node = BBFlowRoots.rootNode(meta & META_SITE, mem);
        for (int i = 0; i < TRIES; i++) {
            long f = find(o);
            if (f != 0 && keep && !BBFlowRoots.isNew(f, meta) || f != 0 && node > NODE_BEFORE_RESET
                    && own(f) && BBFlowRoots.rename(f, node, mem, size))
                return;
            if (f != 0 && !BBFlowRecords.undoSeen(f))
                BBFlowRecords.endBy(f, true);
            if (node <= NODE_BEFORE_RESET) {
                if (node != NODE_IGNORE)
                    BBFlowRecords.count(TALLY_DROPPED_LIVES);
                return;
            }
            long in = openIn(o, node, BBFlowRecords.refsOf(kind, mem), size, 0);
            if (in != NOT_IN)
                return;
        }
        BBFlowRecords.count(TALLY_DROPPED_LIVES);
    }

    /** Open a root's or a derived buffer's life; NOT_IN: another thread's first sight was there. */
    @Hidden
    static long openIn(Object o, int node, int refs, int size, long parent) {
        long h = BBFlowRecords.open(o, node, refs, size, parent, MAPPED);
        if (h == IGN) {
            BBFlowRecords.count(TALLY_DROPPED_LIVES);
            return h;
        }
        long in = enter(o, h, true);
        if (in != h)
            BBFlowRecords.undo(h);
        else if (BBFlowHandle.WINDOWS)
            BBFlowWindows.opened(h);
        if (in == FULL)
            BBFlowRecords.count(TALLY_DROPPED_LIVES);
        return in;
    }

    @Hidden
    static boolean derive(Object o, Object parent, int site) {
        try {
            if (hasField(o)) {
                if (!BBFlowScopes.on())
                    return false;
                BBFlowGuard.reserveStackSlow();
                BBFlowRoots.derive(o, parent, site);
                BBFlowScopes.opened(U.getLong(o, BBFlowHandle.OFF), BBFlowHandle.current(parent));
                return true;
            }
            long kind = BBFlowHandle.kindOf(o);
            if ((kind & KIND_MAPPED) == 0 || BBFlowRoots.paused())
                return true;
            long pf = seen(parent);
            if (pf == 0 && (BBFlowHandle.WINDOWS || BBFlowRoots.isSampled() // it follows its owner, which is not followed
                    || isReleased(parent))) // what follows throws: it never comes to be
                return true;
            int mem = pf != 0 ? BBFlowRoots.memOf(pf) : (int) (kind >>> KIND_MEM_SHIFT) & MEM_KIND;
            int node = pf != 0 ? BBFlowRoots.derivedNode(pf, site) : BBFlowRoots.rootNode(site, mem);
            if (pf == 0 && node <= NODE_BEFORE_RESET)
                return true;
            for (int i = 0; i < TRIES; i++) {
                long f = find(o);
                if (f != 0 && !BBFlowRecords.undoSeen(f))
                    BBFlowRecords.endBy(f, true);
                long in = openIn(o, node, BBFlowRecords.refsOf(kind, mem), 0, pf);
                if (in == NOT_IN)
                    continue;
                if (BBFlowScopes.on())
                    BBFlowScopes.opened(in, pf);
                return true;
            }
            BBFlowRecords.count(TALLY_DROPPED_LIVES);
        } catch (Throwable t) {
            BBFlowGuard.failed(t);
        }
        return true;
    }

    @Hidden
    static boolean refs(Object o, int delta) {
        try {
            if (hasField(o))
                return false;
            long h = isMapped(o) ? find(o) : 0;
            if (h != 0)
                BBFlowWalk.refsOn(h, delta);
        } catch (Throwable t) {
            BBFlowGuard.failed(t);
        }
        return true;
    }

    /** The life is over and has no entry any more, so it cannot be identified. */
    @Hidden
    static boolean checkUse(Object o, int use) {
        try {
            if (hasField(o))
                return false;
            long kind = BBFlowHandle.kindOf(o);
            if ((kind & KIND_MAPPED) != 0 && (kind & KIND_OWNER) != 0 && !isAlive(o, kind))
                BBFlowMisuse.suspect(IGN, use, kind);
        } catch (Throwable t) {
            BBFlowGuard.failed(t);
        }
        return true;
    }

    /** The handle of a counted buffer, with a field or without; 0 = none. */
    @Hidden
    static long counted(Object o) {
        if (hasField(o))
            return U.getLong(o, BBFlowHandle.OFF);
        return isMapped(o) ? find(o) : 0;
    }

    @Hidden
    static boolean reportAccess(Object o) {
        if (hasField(o))
            return false;
        Object owner = owner(o);
        if (owner != null)
            BBFlowMisuse.report(IGN, USE_ACCESS, BBFlowHandle.kindOf(owner));
        return true;
    }

    @Hidden
    static boolean resized(Object o, int size) {
        try {
            if (hasField(o))
                return false;
            long h = isMapped(o) ? find(o) : 0;
            if (h != 0)
                BBFlowHandle.sizeOf(h, size);
        } catch (Throwable t) {
            BBFlowGuard.failed(t);
        }
        return true;
    }

    @Hidden
    static boolean release(Object o) {
        try {
            if (hasField(o))
                return false;
            long h = isMapped(o) ? find(o) : 0;
            if (h != 0)
                BBFlowClose.close(o, h);
        } catch (Throwable t) {
            BBFlowGuard.failed(t);
        }
        return true;
    }

    /**
     * The pool's own methods may have been the first to see it; by whose step a life began is not
     * known. There is no mark for a count that is back already: the whole class is known for it.
     */
    @Hidden
    static void givenBack(Object o, long kind) {
        if (isAlive(o, kind))
            BBFlowRoots.early(kind);
        long h = find(o);
        if (h != 0)
            BBFlowRecords.undoSeen(h);
    }

    /** There is no mark for it here: that nothing else meets a chunk is the planner's (plan.c). */
    @Hidden
    static boolean never(Object o) {
        if (hasField(o))
            return false;
        long h = isMapped(o) ? find(o) : 0;
        if (h != 0)
            BBFlowRecords.undoSeen(h);
        return true;
    }

    @Hidden
    static boolean unreleasable(Object wrapper, Object owner) {
        try {
            if (hasField(wrapper) && hasField(owner))
                return false;
            long h = handleOf(owner);
            if (h != 0)
                BBFlowHandle.makeStatic(h);
        } catch (Throwable t) {
            BBFlowGuard.failed(t);
        }
        return true;
    }
}
