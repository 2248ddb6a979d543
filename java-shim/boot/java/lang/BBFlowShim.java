/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowShim - the hot path: what instrumented methods call. Defined in the boot loader by
 * the agent (design.md: hot path), so that every class can see it and no call can fail to link.
 *
 * Rules: no method of Netty or of the application is ever called; nothing is thrown, locked or
 * printed; nothing is put on the Java heap but the slot arrays (design.md: garbage detection), in map mode weak references.
 * Records, nodes, stripes and the shared page are native memory that is never unmapped (design.md: address space);
 * their addresses are written into the constant pool before a class is defined (that of the records
 * stands on the shared page), so <clinit> calls no native. Each class beside this one is a part of
 * it: BBFlowRecords, BBFlowRoots, BBFlowEnds, BBFlowParts, BBFlowMisuse, BBFlowMap, BBFlowTrack; all
 * hooks and natives are here.
 *
 * The protocol is design.md: memory safety; its numbers stand in the comments. The same in C, for TSan:
 * tests/stress/shim_twin.h. The agent thread's half: trie/lives.c. Every order of their steps, and
 * which memory order each needs: tests/model, docs/memory-model.md.
 */
package java.lang;

import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowRecords.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

public final class BBFlowShim {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Only there to learn where a lone long field of a direct child of Object lies. */
    private long $bbf;

    /** Offset of the hidden field in every ByteBuf that has it: one constant (design.md: hot path). */
    static final long OFF = U.objectFieldOffset(BBFlowShim.class, "$bbf");

    /** refCnt bucket by count 0..6, two bits each: 0, 1-2, 3-5, 6+. */
    private static final int BUCKETS = 1 << 2 | 1 << 4 | 2 << 6 | 2 << 8 | 2 << 10 | 3 << 12;
    static final int BUCKET_ONE = 1;

    /** What Thread.stop() makes another thread throw, up to JDK 19. Null: there is no such class. */
    private static final Class<?> STOP = stop();

    private BBFlowShim() {
    }

    private static Class<?> stop() {
        try {
            return Class.forName("java.lang.ThreadDeath", false, null);
        } catch (ClassNotFoundException gone) {
            return null;
        }
    }

    // ---- natives: exported by the agent, never block, take no lock, call no Java ----

    /** Where key leads from node; node itself at a limit. */
    @Hidden
    static native int child(int node, int key);

    /** Root node of a site, 0 at a limit. */
    @Hidden
    static native int rootOf(int site);

    /** The twin of node in another refCnt bucket. */
    @Hidden
    static native int bucketOf(int node, int bucket);

    /** count lives of a class were released at node. */
    @Hidden
    static native void released(int node, int classNumber, int count);

    @Hidden
    static native void unknownAt(int node);

    /** A life that stood at node was released so many seconds after it was opened. */
    @Hidden
    static native void lasted(int node, int seconds);

    /** 64 fresh records, linked; 0 at the limit. */
    @Hidden
    static native int bump();

    /** One record from the shared stack; 0 at the limit. */
    @Hidden
    static native int pop();

    @Hidden
    static native void push(int record);

    /** The life of a handle was used after its end; false: the stack says that it was not. */
    @Hidden
    static native boolean misused(long handle, int use, int classNumber, long tid);

    /** Site of the method that calls retain or release; 0: none that is neither Netty's nor ours. */
    @Hidden
    static native int caller(int use);

    /** The agent thread has something to do. */
    @Hidden
    static native void wake();

    /** Site of "?first-seen Class"; 0 at the limit. */
    @Hidden
    static native int firstSite(int classNumber);

    // ---- the end of the stack ----

    /**
     * The first thing in every hook: nearly 2 KiB of stack, or a StackOverflowError before anything
     * was changed. The application sees it as its own; it could have gone 2 KiB deeper.
     * (@ReservedStackAccess would let the hook finish, but then the JVM prints a warning that names
     * us, and gives the application's error another message.) In the interpreter each call below
     * would be a place to overflow: this one's frame, dead locals, is as large as all of them. In
     * compiled code it is inlined to nothing, and the hit path calls nothing.
     */
    @Hidden
    @ForceInline
    private static void room() {
        long a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D,
                E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae;
        roomBelow();
    }

    @Hidden
    @ForceInline
    private static void roomBelow() {
        long a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D,
                E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae;
    }

    /**
     * The same off the hit path, where compiled code makes calls too: a compiled method that calls
     * asks at its entry for as much as its frame would have in the interpreter.
     */
    @Hidden
    @DontInline
    static void slowRoom() {
        long a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D,
                E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae;
        nothing();
    }

    @Hidden
    @DontInline
    private static void nothing() {
    }

    // ---- words ----

    @ForceInline
    @Hidden
    static long nodeAt(long path) {
        return NODES + ((path & LOW) << NODE_SHIFT);
    }

    /** Is anything out of the ordinary: a ByteBuf without the field (design.md: hot path), or nothing to do at all? */
    @ForceInline
    @Hidden
    static boolean mixed() {
        return U.getInt(SHARED + SHARED_MIXED) != 0;
    }

    /** Where mixed(): is no class there yet that include= may mean (ADR 29)? */
    @ForceInline
    @Hidden
    static boolean idle() {
        return U.getInt(SHARED + SHARED_MIXED) < 0;
    }

    @ForceInline
    @Hidden
    static long kindOf(Object o) {
        return BBFlowKind.of(o);
    }

    /** In mixed mode a hook may meet a ByteBuf without the field: it is not touched. */
    @DontInline
    @Hidden
    static boolean foreign(Object o) {
        return o != null && (kindOf(o) & KIND_FIELD) == 0;
    }

    @DontInline
    @Hidden
    static void failed(Throwable cause) {
        if (cause.getClass() == STOP) // passStop(), without a call that could overflow the stack
            throw (Error) cause;
        try {
            U.getAndAddLong(null, SHARED + SHARED_ERRORS, 1);
        } catch (Throwable stackOverflow) { // no room to count it either: still nothing is thrown
            if (stackOverflow.getClass() == STOP)
                throw (Error) stackOverflow;
        }
    }

    /**
     * A thread that the application stops may be in a hook at that moment, and ends all the same: this
     * one throwable is not the hook's, and goes on.
     */
    @Hidden
    static void passStop(Throwable cause) {
        if (cause.getClass() == STOP)
            throw (Error) cause;
    }

    @DontInline
    @Hidden
    static void tally(int which) {
        long stripe = stripe();
        if (stripe != 0)
            U.putLong(stripe + STRIPE_TALLY + 8L * which,
                    U.getLong(stripe + STRIPE_TALLY + 8L * which) + 1);
        else
            U.getAndAddLong(null, SHARED + SHARED_TALLY + 8L * which, 1);
    }

    // ---- roots ----

    /** At the exit of a concrete allocator's terminal method. meta = site | memory << 16. */
    @ForceInline
    @Hidden
    public static void root(Object o, int size, int meta) {
        room();
        if (o == null || mixed() && (idle() || BBFlowMap.root(o, size, meta, false)))
            return;
        long f = U.getLong(o, OFF), at = recordAt(f);
        int node = U.getInt(ROOTS + ((long) (meta & META_SITE) << 2));
        // Recycled and closed: the object keeps its record; one compare decides (design.md: garbage detection).
        if (U.getLong(at + REC_LIFE) == (f & HIGH | CLOSED | STICKY) && node > NODE_BEFORE_RESET) {
            long g = (f & HIGH) + GENERATION;
            int refs = (int) U.getLong(at + REC_REFS) & CLASS_MASK << CLASS_SHIFT;
            begin(at, g, node, refs | meta >>> META_MEM_SHIFT << MEM_SHIFT | 1, size, 0,
                    OPEN | STICKY);
            U.putLong(o, OFF, g | f & LOW);
            U.storeStoreFence();
        } else {
            BBFlowRoots.root(o, size, meta, false);
        }
    }

    /** At the exit of Unpooled's terminals, which nest: an open life is kept. */
    @DontInline
    @Hidden
    public static void rootKeep(Object o, int size, int meta) {
        room();
        if (o != null && !(mixed() && (idle() || BBFlowMap.root(o, size, meta, true))))
            BBFlowRoots.root(o, size, meta, true);
    }

    // ---- views, wrappers, derived buffers (design.md: lives) ----

    /** In the constructor of a view or wrapper: it walks with its owner's handle. */
    @ForceInline
    @Hidden
    public static void alias(Object view, Object owner) {
        room();
        if (owner == null || mixed() && (idle() || foreign(view) || foreign(owner)))
            return;
        U.putLong(view, OFF, U.getLong(owner, OFF));
    }

    /**
     * The same for a WrappedByteBuf, but the handle of a life that is over is not taken. A leak-aware
     * wrapper is built before its buffer's root hook, which meets the wrapper in its place: with the
     * last life's handle it would open the next one for the wrapper alone.
     */
    @ForceInline
    @Hidden
    public static void wrap(Object view, Object owner) {
        room();
        if (owner == null || mixed() && (idle() || foreign(view) || foreign(owner)))
            return;
        long f = U.getLong(owner, OFF);
        U.putLong(view, OFF, inForce(f) ? f : 0);
    }

    /** The same where the parameter's type does not say that it is a ByteBuf. */
    @DontInline
    @Hidden
    public static void aliasObject(Object view, Object owner) {
        room();
        try {
            if (owner != null && (kindOf(owner) & KIND_FIELD) != 0)
                alias(view, owner);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Constants such as EmptyByteBuf; its constructor may have shown it already. */
    @DontInline
    @Hidden
    public static void never(Object o) {
        room();
        slowRoom();
        try {
            if (o != null && !(mixed() && BBFlowMap.never(o)))
                BBFlowRoots.never(o);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** At the exit of the adaptive allocator's own: its chunks are nobody's buffers (design.md: lives). */
    @DontInline
    @Hidden
    public static void chunk(Object o) {
        never(o);
        if (o != null)
            U.getAndAddLong(null, SHARED + SHARED_UNTRACKED, 1);
    }

    /** Unpooled.unreleasableBuffer: the owner is marked static, the wrapper is not followed. */
    @DontInline
    @Hidden
    public static void unreleasable(Object wrapper, Object owner) {
        room();
        if (owner == null || mixed() && BBFlowMap.unreleasable(wrapper, owner))
            return;
        makeStatic(U.getLong(owner, OFF));
        U.putLong(wrapper, OFF, NEVER);
    }

    @Hidden
    static void makeStatic(long f) {
        long at = recordAt(f), refs = U.getLong(at + REC_REFS);
        if (f != 0 && isOpen(f) && ((refs ^ f) >>> 32) == 0)
            U.putLong(at + REC_REFS, refs | (long) MEM_STATIC << MEM_SHIFT);
    }

    /** At the entry of AbstractPooledDerivedByteBuf.init: a life of its own, linked to its parent's. */
    @ForceInline
    @Hidden
    public static void derive(Object o, Object parent, int site) {
        room();
        if (o == null || parent == null || mixed() && (idle() || BBFlowMap.derive(o, parent, site)))
            return;
        long f = U.getLong(o, OFF), at = recordAt(f);
        long pf = U.getLong(parent, OFF), owner = recordAt(pf), path = U.getLong(owner + REC_PATH);
        long child = U.getLong(nodeAt(path)) ^ (long) site << 32;
        int bucket = U.getInt(nodeAt(path) + NODE_FLAGS) >>> FLAG_BUCKET_SHIFT & 3;
        // As in step() the parent's first child is this site's; and recycled and closed as in root().
        if (((path ^ pf | child) >>> 32) == 0 && bucket == BUCKET_ONE && !BBFlowRoots.paused()
                && U.getLong(at + REC_LIFE) == (f & HIGH | CLOSED | STICKY)) {
            long g = (f & HIGH) + GENERATION;
            int refs = (int) U.getLong(at + REC_REFS) & CLASS_MASK << CLASS_SHIFT;
            begin(at, g, (int) child, refs | BBFlowRoots.memOf(pf) << MEM_SHIFT | 1, 0, pf,
                    OPEN | STICKY);
            U.putLong(o, OFF, g | f & LOW);
            U.storeStoreFence();
        } else {
            deriveSlow(o, parent, site);
        }
    }

    @DontInline
    @Hidden
    private static void deriveSlow(Object o, Object parent, int site) {
        slowRoom();
        try {
            BBFlowRoots.derive(o, parent, site);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** What a view or wrapper wraps at last, by field; the object itself if it is no view. */
    @Hidden
    static Object ownerOf(Object o) {
        for (int i = 0; i < MAX_UNWRAP && o != null; i++) {
            long kind = kindOf(o);
            if ((kind & KIND_VIEW) == 0)
                return (kind & KIND_FIELD) != 0 ? o : null;
            o = U.getReference(o, kind >>> 32);
        }
        return null;
    }

    @ForceInline
    @Hidden
    static boolean inForce(long f) {
        return f == IGN || f == NEVER || f != 0 && isOpen(f);
    }

    /** The handle in force: a view's owner may have been recycled under it. */
    @Hidden
    static long current(Object o) {
        long f = U.getLong(o, OFF);
        if (inForce(f))
            return f;
        Object owner = ownerOf(o);
        if (owner == null || owner == o)
            return isFresh(f) ? 0 : f;
        long h = U.getLong(owner, OFF);
        if (h != f && inForce(h)) // see wrap()
            U.putLong(o, OFF, h);
        return isFresh(h) ? 0 : h;
    }

    // ---- components of composites (design.md: lives) ----

    /** At the entry of newComponent: the composite owns the buffer from here on. */
    @ForceInline
    @Hidden
    public static void adopt(Object composite, Object buffer) {
        room();
        if (buffer == null || mixed() && idle())
            return;
        if (!mixed()) {
            long c = U.getLong(buffer, OFF), k = U.getLong(composite, OFF);
            if (c != k && isOpen(c) && isOpen(k)) {
                U.putLong(BBFlowParts.ownerAt(c), BBFlowParts.ownerWord(c, k));
                return;
            }
        }
        adoptSlow(composite, buffer);
    }

    @DontInline
    @Hidden
    private static void adoptSlow(Object composite, Object component) {
        slowRoom();
        try {
            BBFlowParts.adopt(composite, component);
        } catch (Throwable t) {
            failed(t);
        }
    }

    @DontInline
    @Hidden
    public static void adoptAll(Object composite, Object components) {
        room();
        if (!idle() && components instanceof Object[])
            for (Object component : (Object[]) components)
                adoptSlow(composite, component);
    }

    /** At the exit of addFlattenedComponents, which makes its components by itself. */
    @DontInline
    @Hidden
    public static void adoptLast(Object composite) {
        room();
        slowRoom();
        try {
            if (!idle())
                BBFlowParts.adoptLast(composite);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Components from..to leave an open composite: what survives that is its own again. */
    @DontInline
    @Hidden
    public static void disown(Object composite, int from, int to) {
        room();
        slowRoom();
        try {
            if (!idle())
                BBFlowParts.disown(composite, from, to);
        } catch (Throwable t) {
            failed(t);
        }
    }

    // ---- counts and sizes: hints (design.md: record) ----

    /** After retain (delta > 0) and at an intermediate release (delta < 0): moves the refCnt bucket. */
    @ForceInline
    @Hidden
    public static void refs(Object o, int delta) {
        room();
        if (o != null && !(mixed() && (idle() || BBFlowMap.refs(o, delta))))
            refsOn(U.getLong(o, OFF), delta);
    }

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

    /** At the entry of release(int): handleRelease takes off the last one. */
    @ForceInline
    @Hidden
    public static void releases(Object o, int decrement) {
        using(o, USE_RELEASE);
        if (decrement > 1)
            refs(o, 1 - decrement);
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

    /** At the exit of capacity(int). */
    @ForceInline
    @Hidden
    public static void resized(Object o, int size) {
        room();
        if (o != null && !(mixed() && (idle() || BBFlowMap.resized(o, size))))
            sizeOf(U.getLong(o, OFF), size);
    }

    @Hidden
    static void sizeOf(long f, int size) {
        long at = recordAt(f);
        if (((U.getLong(at + REC_SIZE) ^ f) >>> 32) == 0)
            U.putLong(at + REC_SIZE, f & HIGH | size & LOW);
    }

    // ---- uses after release ----

    /** Before the throw of AbstractByteBuf.ensureAccessible. */
    @DontInline
    @Hidden
    public static void misuse(Object o) {
        room();
        slowRoom();
        try {
            if (o != null && !(mixed() && (idle() || BBFlowMap.misuse(o))))
                BBFlowMisuse.access(o);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /**
     * At the entry of retain and release: is there a life in force? If not, Netty is about to throw;
     * but a pool of the application may have brought the object back without a hook, so refused()
     * decides.
     */
    @ForceInline
    @Hidden
    public static void using(Object o, int use) {
        room();
        if (mixed() && (idle() || BBFlowMap.using(o, use)))
            return;
        long f = U.getLong(o, OFF), path = U.getLong(recordAt(f) + REC_PATH);
        if ((((path ^ f) >>> 32) != 0 || (int) path == NODE_NONE) && f != IGN)
            usingSlow(o, f, use);
    }

    /** With refs=on, at the entry of retain and release: a step named after the method that calls. */
    @DontInline
    @Hidden
    public static void counting(Object o, int use) {
        room();
        slowRoom();
        try {
            long f = mixed() ? BBFlowMap.counted(o) : U.getLong(o, OFF);
            int site = f != 0 && f != IGN && f != NEVER && isOpen(f) ? caller(use) : 0;
            if (site != 0)
                stepTo(f, site);
        } catch (Throwable t) {
            failed(t);
        }
    }

    @DontInline
    @Hidden
    private static void usingSlow(Object o, long f, int use) {
        slowRoom();
        try {
            if (!isFresh(f) && !inForce(f) && !BBFlowRoots.isSkipped(f))
                BBFlowMisuse.suspect(f, use, kindOf(o));
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** At the end of IllegalReferenceCountException's constructors, which may call each other. */
    @DontInline
    @Hidden
    public static void refused() {
        room();
        slowRoom();
        try {
            BBFlowMisuse.refused();
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Direct memory ran out: the error that says so was just made. The agent thread reports. */
    @DontInline
    @Hidden
    public static void exhausted() {
        room();
        try {
            U.getAndAddLong(null, SHARED + SHARED_EXHAUSTED, 1);
            wake();
        } catch (Throwable t) {
            failed(t);
        }
    }

    // ---- close (design.md: close protocol) ----

    /** At the entry of AbstractReferenceCountedByteBuf.handleRelease: before any recycling. */
    @ForceInline
    @Hidden
    public static void release(Object o, boolean zero) {
        room();
        if (!zero) {
            refs(o, -1);
            return;
        }
        if (mixed() && (idle() || BBFlowMap.release(o)))
            return;
        long f = U.getLong(o, OFF), at = recordAt(f);
        // Plain stores: Netty's own refCnt CAS has one winner here (design.md: close protocol; docs/memory-model.md).
        if (U.getLong(at + REC_LIFE) == (f & HIGH | OPEN | STICKY)) {
            long path = U.getLong(at + REC_PATH), run = U.getLong(at + REC_RUN);
            long key = BBFlowEnds.runKey(chargedAt(path, f), U.getLong(at + REC_REFS));
            boolean same = ((run ^ key) >>> 16) == 0 && (run & RUN_FULL) != RUN_FULL;
            if (!same | U.getInt(at + REC_NEXT) != U.getInt(SHARED + SHARED_NOW)) {
                BBFlowEnds.closeSticky(f, key, same);
                return;
            }
            U.putLong(at + REC_PATH, f & HIGH);
            U.putInt(at + REC_BATCH, (int) tid());
            U.putLongRelease(null, at + REC_LIFE, f & HIGH | CLOSED | STICKY);
            U.putLong(at + REC_RUN, run + 1);
        } else {
            BBFlowEnds.close(o, f);
        }
    }

    // ---- pools of the application (ADR 34) ----

    /**
     * At the entry of setRefCnt and resetRefCnt. Netty's own pools open a life where they give the
     * buffer; of a class that is not Netty's the next step does.
     */
    @ForceInline
    @Hidden
    public static void recount(Object o, int count) {
        room();
        if (U.getInt(SHARED + SHARED_OWN) != 0 && count > 0)
            recountSlow(o);
    }

    @DontInline
    @Hidden
    private static void recountSlow(Object o) {
        slowRoom();
        try {
            BBFlowRoots.again(o);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /**
     * Behind super.clone() of a class that may be a buffer: Object.clone() copies the hidden field, and
     * the copy is not the original's life. A view's copy is a view of the same owner; a copy that a
     * step in between opened a life of keeps that.
     */
    @DontInline
    @Hidden
    public static void copied(Object copy, Object original) {
        room();
        slowRoom();
        try {
            if (copy != null && copy != original && original != null
                    && (kindOf(copy) & (KIND_FIELD | KIND_VIEW)) == KIND_FIELD
                    && (kindOf(original) & KIND_FIELD) != 0
                    && U.getLong(copy, OFF) == U.getLong(original, OFF))
                U.putLong(copy, OFF, 0);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Behind deallocate(). */
    @ForceInline
    @Hidden
    public static void givenBack(Object o) {
        room();
        if (U.getInt(SHARED + SHARED_OWN) != 0)
            givenBackSlow(o);
    }

    @DontInline
    @Hidden
    private static void givenBackSlow(Object o) {
        slowRoom();
        try {
            BBFlowRoots.givenBack(o);
        } catch (Throwable t) {
            failed(t);
        }
    }

    // ---- steps (design.md: step) ----

    /** A ByteBuf is here now: o is null or a ByteBuf by the caller's verified type. */
    @ForceInline
    @Hidden
    public static void step(Object o, int site) {
        room();
        if (o == null || mixed() && BBFlowMap.step(o, site))
            return;
        long f = U.getLong(o, OFF), at = recordAt(f), path = U.getLong(at + REC_PATH);
        long child = U.getLong(nodeAt(path)) ^ (long) site << 32;
        // The handle's generation is the path's and the first child is this site's: move there.
        if (((path ^ f | child) >>> 32) == 0)
            U.putLong(at + REC_PATH, f & HIGH | child);
        else if (path != (f & HIGH)) // else not followed (IGN, NEVER, passed over), or closed
            lean(o, f, site);
    }

    @ForceInline
    @Hidden
    public static void step2(Object a, Object b, int site) {
        step(a, site);
        step(b, site);
    }

    /** Off the hit path, with nothing in it that makes the caller spill more than it must. */
    @DontInline
    @Hidden
    private static void lean(Object o, long f, int site) {
        long at = recordAt(f), path = U.getLong(at + REC_PATH), node = nodeAt(path);
        if (((path ^ f) >>> 32) == 0) {
            if ((int) path == NODE_NONE)
                return; // closed: a use after release is Netty's to report
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
            miss(o, f, site);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** A step of a life whose handle was looked up (map mode). */
    @Hidden
    static void stepTo(long f, int site) {
        long at = recordAt(f), path = U.getLong(at + REC_PATH);
        if (((path ^ f) >>> 32) != 0) {
            late(f);
        } else if ((int) path != NODE_NONE) {
            int next = childOf((int) path, site);
            if (next != (int) path)
                U.putLong(at + REC_PATH, f & HIGH | next & LOW);
        }
    }

    /** A late store of the life before (design.md: late step): true if the handle's life is in force. */
    @Hidden
    private static boolean late(long f) {
        long at = recordAt(f), life = U.getLongVolatile(null, at + REC_LIFE);
        if (((life ^ f) >>> 32) != 0)
            return false;
        if ((life & STATE) == OPEN) {
            U.putLong(at + REC_PATH, f & HIGH | NODE_RACED);
            tally(TALLY_RACED_STEPS);
        }
        return true;
    }

    @Hidden
    private static void miss(Object o, long f, int site) {
        if (isFresh(f)) {
            BBFlowRoots.firstSight(o, site);
            return;
        }
        long at = recordAt(f), path = U.getLong(at + REC_PATH);
        long life = U.getLongVolatile(null, at + REC_LIFE);
        if (((path ^ f) >>> 32) != 0) {
            if (late(f))
                return;
            long h = current(o); // a view whose owner was recycled
            if (h != f && h != 0 && isOpen(h))
                step(o, site);
            return;
        }
        if ((life & STATE) == OPEN) {
            int next = childOf((int) path, site);
            if (next != (int) path)
                U.putLong(at + REC_PATH, f & HIGH | next & LOW);
        }
    }

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
        if (known == 0 && (node & LOW) > NODE_BEFORE_RESET) {
            tally(TALLY_DROPPED_STEPS);
            if ((flags & FLAG_NO_STEPS) != 0)
                tally(TALLY_DEEP_STEPS);
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

    // ---- objects of track= ----

    /** At the end of a constructor whose class track= may mean. */
    @DontInline
    @Hidden
    public static void made(Object o) {
        room();
        slowRoom();
        try {
            BBFlowTrack.made(o);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** At the entry of a method that is named as the closing one of these entries. */
    @DontInline
    @Hidden
    public static void closed(Object o, int entries) {
        room();
        slowRoom();
        try {
            BBFlowTrack.closed(o, entries);
        } catch (Throwable t) {
            failed(t);
        }
    }

    // ---- anything that may be or hold a buffer ----

    /** o may be anything: a ByteBuf of unknown ancestry, a holder (read by field), or neither. */
    @DontInline
    @Hidden
    public static void stepObject(Object o, int site) {
        room();
        try {
            look(o, site, -1, 0);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** How many more elements may be looked at in this step: `left`, -1 as long as none was met. */
    @Hidden
    private static int look(Object o, int site, int left, int depth) {
        long h = o != null && BBFlowTrack.now != null ? BBFlowTrack.handleOf(o) : -1;
        if (h != -1 && h != 0)
            stepTo(h, site);
        for (int i = 0; i < MAX_UNWRAP && o != null && h == -1; i++) {
            long kind = kindOf(o);
            if ((kind & (KIND_FIELD | KIND_MAPPED)) != 0) {
                step(o, site);
                break;
            }
            if ((kind & KIND_ELEMENTS) != 0)
                return each(o, kind, site, left < 0 ? U.getInt(SHARED + SHARED_ELEMENTS) : left,
                        depth);
            if ((kind & KIND_HOLDER) == 0) {
                if ((kind & KIND_UNKNOWN_HOLDER) != 0)
                    tally(TALLY_HOLDERS_UNKNOWN);
                break;
            }
            o = U.getReference(o, kind >>> 32);
        }
        return left;
    }

    /** The elements of an array or list, read by field; those beyond the number are counted. */
    @DontInline
    @Hidden
    private static int each(Object o, long kind, int site, int left, int depth) {
        long at = kind >>> 32 & 0xffff, sizeAt = kind >>> 48;
        Object[] all = (Object[]) (at == 0 ? o : U.getReference(o, at));
        int n = all == null ? 0 : sizeAt == 0 ? all.length : Math.min(all.length, U.getInt(o, sizeAt));
        int i = 0;
        if (depth < MAX_NESTED)
            for (; i < n && left > 0; i++)
                left = look(all[i], site, left - 1, depth + 1);
        if (i < n)
            U.getAndAddLong(null, SHARED + SHARED_CUT, n - i);
        return left;
    }

    /** Before areturn: a step unless the buffer is the parameter p. */
    @ForceInline
    @Hidden
    public static void exit(Object returned, Object p, int site) {
        room();
        if (returned != null && returned != p)
            exitSlow(returned, p, null, site);
    }

    @ForceInline
    @Hidden
    public static void exit2(Object returned, Object p, Object q, int site) {
        room();
        if (returned != null && returned != p && returned != q)
            exitSlow(returned, p, q, site);
    }

    /** Another object may still be the same life: a view of the parameter. */
    @DontInline
    @Hidden
    private static void exitSlow(Object returned, Object p, Object q, int site) {
        try {
            long f = handleOf(returned);
            if (f == 0 || f != handleOf(p) && f != handleOf(q))
                stepObject(returned, site);
        } catch (Throwable t) {
            failed(t);
        }
    }

    @Hidden
    static long handleOf(Object o) {
        long h = o != null && BBFlowTrack.now != null ? BBFlowTrack.handleOf(o) : -1;
        if (h != -1)
            return h;
        for (int i = 0; i < MAX_UNWRAP && o != null; i++) {
            long kind = kindOf(o);
            if ((kind & KIND_FIELD) != 0)
                return current(o);
            if ((kind & KIND_MAPPED) != 0)
                return BBFlowMap.handleOf(o);
            o = (kind & KIND_HOLDER) != 0 ? U.getReference(o, kind >>> 32) : null;
        }
        return 0;
    }

    /**
     * Before areturn of a method that overwrites its parameters: no step if the life's path already
     * holds the method's entry (design.md: insertion).
     */
    @DontInline
    @Hidden
    public static void exitWalk(Object returned, int site, int entry) {
        room();
        try {
            long f = handleOf(returned);
            if (f == 0 || f == IGN || f == NEVER) {
                stepObject(returned, site);
                return;
            }
            long path = U.getLong(recordAt(f) + REC_PATH);
            int node = ((path ^ f) >>> 32) == 0 ? (int) path : 0;
            for (int i = 0; i < 1 << 14 && node != 0; i++) {
                if (U.getInt(nodeAt(node) + NODE_SITE) == entry)
                    return;
                node = U.getInt(nodeAt(node) + NODE_PARENT);
            }
            stepObject(returned, site);
        } catch (Throwable t) {
            failed(t);
        }
    }
}
