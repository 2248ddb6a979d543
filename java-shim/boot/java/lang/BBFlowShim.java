/*
 * java.lang.BBFlowShim - the hot path: what instrumented methods call. Defined in the boot loader by
 * the agent (design D4), so that every class can see it and no call can fail to link.
 *
 * Rules: no method of Netty or of the application is ever called; nothing is thrown, locked or
 * printed; nothing is put on the Java heap but the slot arrays (D7), in map mode weak references. Records, nodes, stripes and the
 * shared page are native memory that is never unmapped (D12.1); their addresses are written into the
 * constant pool before the class is defined, so <clinit> calls no native.
 *
 * The protocol is design D12; its numbers stand in the comments. The same in C, for TSan:
 * tests/stress/shim_twin.h. The agent thread's half: trie/lives.c. Every order of their steps, and
 * which memory order each needs: tests/model, docs/memory-model.md.
 */
package java.lang;

import static java.lang.BBFlowLayout.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

public final class BBFlowShim {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Only there to learn where a lone long field of a direct child of Object lies. */
    private long $bbf;

    /** Offset of the hidden field in every ByteBuf that has it: one constant (D4). */
    static final long OFF = U.objectFieldOffset(BBFlowShim.class, "$bbf");
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    private static final long LOW = 0xffffffffL;
    private static final long HIGH = 0xffffffff00000000L;
    private static final long IGN = HIGH | RECORD_IGN;
    private static final long NEVER = HIGH | RECORD_NEVER;
    private static final long GENERATION = 1L << 32;

    /** refCnt bucket by count 0..6, two bits each: 0, 1-2, 3-5, 6+. */
    private static final int BUCKETS = 1 << 2 | 1 << 4 | 2 << 6 | 2 << 8 | 2 << 10 | 3 << 12;
    private static final int BUCKET_ONE = 1;

    /** enum bbf_memory. */
    private static final int COMPOSITE = 2;

    /** Strong slots by record number (D7); chunks are made once and stay. */
    private static final Object[][] SLOTS = new Object[CHUNKS][];

    private BBFlowShim() {
    }

    // ---- natives: exported by the agent, never block, take no lock, call no Java ----

    /** Where key leads from node; node itself at a limit. */
    @Hidden
    private static native int child(int node, int key);

    /** Root node of a site, 0 at a limit. */
    @Hidden
    private static native int rootOf(int site);

    /** The twin of node in another refCnt bucket. */
    @Hidden
    private static native int bucketOf(int node, int bucket);

    /** count lives of a class were released at node. */
    @Hidden
    private static native void released(int node, int classNumber, int count);

    @Hidden
    private static native void unknownAt(int node);

    /** A life that stood at node was released so many seconds after it was opened. */
    @Hidden
    private static native void lasted(int node, int seconds);

    /** 64 fresh records, linked; 0 at the limit. */
    @Hidden
    private static native int bump();

    /** One record from the shared stack; 0 at the limit. */
    @Hidden
    private static native int pop();

    @Hidden
    private static native void push(int record);

    /** The life of a handle was used after its end; false: the stack says that it was not. */
    @Hidden
    private static native boolean misused(long handle, int use, int classNumber, long tid);

    /** Site of the method that calls retain or release; 0: none that is neither Netty's nor ours. */
    @Hidden
    private static native int caller(int use);

    /** The agent thread has something to do. */
    @Hidden
    private static native void wake();

    /** Site of "?first-seen Class"; 0 at the limit. */
    @Hidden
    private static native int firstSite(int classNumber);

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
    private static void slowRoom() {
        long a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D,
                E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae;
        nothing();
    }

    @Hidden
    @DontInline
    private static void nothing() {
    }

    // ---- words ----

    /** The address comes of the handle: that is what orders these loads behind $bbf's. */
    @ForceInline
    @Hidden
    static long recordAt(long handle) {
        return RECORDS + ((handle & LOW & RECORD_MASK) << RECORD_SHIFT);
    }

    @ForceInline
    @Hidden
    private static long nodeAt(long path) {
        return NODES + ((path & LOW) << NODE_SHIFT);
    }

    @ForceInline
    @Hidden
    private static boolean mixed() {
        return U.getInt(SHARED + SHARED_MIXED) != 0;
    }

    @ForceInline
    @Hidden
    static long kindOf(Object o) {
        return BBFlowKind.KINDS.get(o.getClass());
    }

    /** In mixed mode a hook may meet a ByteBuf without the field: it is not touched. */
    @DontInline
    @Hidden
    private static boolean foreign(Object o) {
        return o != null && (kindOf(o) & KIND_FIELD) == 0;
    }

    @DontInline
    @Hidden
    static void failed(Throwable cause) {
        U.getAndAddLong(null, SHARED + SHARED_ERRORS, 1);
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

    // ---- stripes: free records and end counters of one carrier thread (D7) ----

    @ForceInline
    @Hidden
    private static long tid() {
        // The agent renames this call to currentCarrierThread on JDK 21+.
        return U.getLong(Thread.currentThread(), TID);
    }

    @ForceInline
    @Hidden
    private static long stripe() {
        long tid = tid();
        long stripe = STRIPES_AT + ((tid & (STRIPES - 1)) << STRIPE_SHIFT);
        return U.getLong(stripe + STRIPE_OWNER) == tid ? stripe : claim(tid);
    }

    /** One of two places; 0 when other live threads hold both. */
    @DontInline
    @Hidden
    private static long claim(long tid) {
        long first = STRIPES_AT + ((tid & (STRIPES - 1)) << STRIPE_SHIFT);
        if (U.compareAndSetLong(null, first + STRIPE_OWNER, 0L, tid))
            return first;
        long other = STRIPES_AT + (((tid * 0x9E3779B97F4A7C15L) >>> 54) << STRIPE_SHIFT);
        long owner = U.getLongVolatile(null, other + STRIPE_OWNER);
        boolean mine = owner == tid
                || owner == 0 && U.compareAndSetLong(null, other + STRIPE_OWNER, 0L, tid);
        return mine ? other : 0;
    }

    // ---- slots ----

    /** 64 consecutive records lie together, batches 32 KiB apart (trie/layout.h). */
    @ForceInline
    @Hidden
    private static long slotOffset(int record) {
        int index = record & 63 | (record >>> 6 & 7) << 13 | (record >>> 9 & 127) << 6;
        return ARRAY_BASE + index * ARRAY_SCALE;
    }

    @Hidden
    static Object slot(int record) {
        Object[] chunk = SLOTS[(int) (record & RECORD_MASK) >>> CHUNK_SHIFT];
        return chunk != null ? U.getReference(chunk, slotOffset(record)) : null;
    }

    @ForceInline
    @Hidden
    private static void setSlot(int record, Object o) {
        U.putReference(SLOTS[record >>> CHUNK_SHIFT], slotOffset(record), o);
    }

    /** False without heap for a chunk: that batch cannot be used now. */
    @DontInline
    @Hidden
    private static boolean slotsFor(int record) {
        int chunk = record >>> CHUNK_SHIFT;
        if (SLOTS[chunk] != null)
            return true;
        try {
            Object[] fresh = new Object[1 << CHUNK_SHIFT];
            U.compareAndSetReference(SLOTS, ARRAY_BASE + chunk * ARRAY_SCALE, null, fresh);
            return true;
        } catch (Throwable outOfMemory) {
            failed(outOfMemory);
            return false;
        }
    }

    // ---- free records ----

    /** Fill an empty list from the shared stack or with fresh records; its head, 0 at the limit. */
    @DontInline
    @Hidden
    private static int refill(long stripe) {
        long top;
        int head;
        do {
            top = U.getLongVolatile(null, SHARED + SHARED_FREE);
            head = (int) top;
            if (head == 0)
                break;
            // The tag in the high half defeats ABA: a stale link fails the CAS.
        } while (!U.compareAndSetLong(null, SHARED + SHARED_FREE, top,
                (top >>> 32) + 1 << 32 | U.getInt(recordAt(head) + REC_BATCH) & LOW));
        if (head == 0 && (head = bump()) == 0)
            return 0;
        if (!slotsFor(head)) {
            push(head);
            return 0;
        }
        int count = 0;
        for (int r = head; r != 0; r = U.getInt(recordAt(r) + REC_NEXT))
            count++;
        U.putInt(stripe + STRIPE_COUNT, count);
        return head;
    }

    /** Give 64 records of a long list to the other threads. */
    @DontInline
    @Hidden
    private static void spill(long stripe) {
        int head = U.getInt(stripe + STRIPE_HEAD), last = head;
        for (int i = 1; i < BATCH; i++)
            last = U.getInt(recordAt(last) + REC_NEXT);
        U.putInt(stripe + STRIPE_HEAD, U.getInt(recordAt(last) + REC_NEXT));
        U.putInt(stripe + STRIPE_COUNT, U.getInt(stripe + STRIPE_COUNT) - BATCH);
        U.putInt(recordAt(last) + REC_NEXT, 0);
        push(head);
    }

    // ---- open (D12.4) ----

    /** Path, refs, size … before life = OPEN (release): whoever reads OPEN(g) finds g's words. */
    @ForceInline
    @Hidden
    private static void begin(long at, long g, int node, int refs, int size, long parent, int state) {
        U.putLong(at + REC_PATH, g | node);
        U.putLong(at + REC_REFS, g | refs & LOW);
        U.putLong(at + REC_SIZE, g | size & LOW);
        U.putLong(at + REC_PARENT, parent);
        U.putInt(at + REC_NEXT, U.getInt(SHARED + SHARED_NOW));
        // In map mode the entry's place follows.
        U.putInt(at + REC_BATCH, (state & MAPPED) != 0 ? 0 : (int) tid());
        U.putLongRelease(null, at + REC_LIFE, g | state);
    }

    /** A life on a record of its own; its handle, IGN at a limit (the caller counts). Slot first. */
    @Hidden
    static long open(Object o, int node, int refs, int size, long parent, int flags) {
        long stripe = stripe();
        int record;
        if (stripe != 0) {
            record = U.getInt(stripe + STRIPE_HEAD);
            if (record == 0 && (record = refill(stripe)) == 0)
                return IGN;
            U.putInt(stripe + STRIPE_HEAD, U.getInt(recordAt(record) + REC_NEXT));
            U.putInt(stripe + STRIPE_COUNT, U.getInt(stripe + STRIPE_COUNT) - 1);
        } else {
            record = pop();
            if (record == 0 || !slotsFor(record)) {
                if (record != 0)
                    push(record);
                return IGN;
            }
        }
        setSlot(record, o);
        long at = recordAt(record);
        long g = (U.getLong(at + REC_LIFE) & HIGH) + GENERATION;
        begin(at, g, node, refs, size, parent, OPEN | flags);
        return g | record;
    }

    @ForceInline
    @Hidden
    static int refsOf(long kind, int mem) {
        return mem << MEM_SHIFT | (int) (kind & KIND_CLASS) << CLASS_SHIFT | 1;
    }

    /** The life lost a race to be the object's: it never was one. */
    @Hidden
    static void undo(long handle) {
        if (endBy(handle, false)) // in map mode another thread may have released it meanwhile
            U.getAndAddLong(null, SHARED + SHARED_UNDONE, 1);
    }

    /**
     * End a life by CAS, without counting it as released; true for the winner. `unknown` charges it
     * where it stands.
     */
    @Hidden
    static boolean endBy(long handle, boolean unknown) {
        long at = recordAt(handle), path = U.getLong(at + REC_PATH), life;
        int place = U.getInt(at + REC_BATCH);
        U.putLong(at + REC_PATH, handle & HIGH);
        do {
            life = U.getLongVolatile(null, at + REC_LIFE);
            if (((life ^ handle) >>> 32) != 0 || (life & STATE) != OPEN)
                return false;
        } while (!U.compareAndSetLong(null, at + REC_LIFE, life, closed(life)));
        if ((life & MAPPED) != 0)
            BBFlowMap.remove(place, handle);
        if (unknown)
            unknownAt(chargedAt(path, handle));
        if ((life & STICKY) != 0)
            U.putInt(at + REC_BATCH, 0); // nobody released it
        if ((life & (CONV | STICKY)) == 0) {
            setSlot((int) handle, null);
            U.putInt(at + REC_NEXT, 0);
            push((int) handle);
        }
        return true;
    }

    /**
     * Take back a first sight of map mode, unless a root has made it its own: then it is another's
     * life, and nothing of it is touched. True if it was taken back.
     */
    @Hidden
    static boolean undoSeen(long handle) {
        long at = recordAt(handle), life;
        int place = U.getInt(at + REC_BATCH);
        do {
            life = U.getLongVolatile(null, at + REC_LIFE);
            if (((life ^ handle) >>> 32) != 0 || (life & (STATE | SEEN)) != (OPEN | SEEN))
                return false;
        } while (!U.compareAndSetLong(null, at + REC_LIFE, life, closed(life)));
        BBFlowMap.remove(place, handle);
        U.getAndAddLong(null, SHARED + SHARED_UNDONE, 1);
        if ((life & CONV) == 0) { // else it is the agent's from here on
            U.putLong(at + REC_PATH, handle & HIGH);
            setSlot((int) handle, null);
            U.putInt(at + REC_NEXT, 0);
            push((int) handle);
        }
        return true;
    }

    /** The life word of the end: what was marked at a stop is not the next life's. */
    @ForceInline
    @Hidden
    private static long closed(long life) {
        return (life ^ (OPEN ^ CLOSED)) & ~(STOPPED | SEEN);
    }

    @ForceInline
    @Hidden
    private static int chargedAt(long path, long handle) {
        return ((path ^ handle) >>> 32) == 0 && (int) path != 0 ? (int) path : NODE_RACED;
    }

    // ---- roots ----

    /** At the exit of a concrete allocator's terminal method. meta = site | memory << 16. */
    @ForceInline
    @Hidden
    public static void root(Object o, int size, int meta) {
        room();
        if (o == null || mixed() && BBFlowMap.root(o, size, meta, false))
            return;
        long f = U.getLong(o, OFF), at = recordAt(f);
        int node = U.getInt(ROOTS + ((long) (meta & META_SITE) << 2));
        // Recycled and closed: the object keeps its record; one compare decides (D7).
        if (U.getLong(at + REC_LIFE) == (f & HIGH | CLOSED | STICKY) && node > NODE_BEFORE_RESET) {
            long g = (f & HIGH) + GENERATION;
            int refs = (int) U.getLong(at + REC_REFS) & CLASS_MASK << CLASS_SHIFT;
            begin(at, g, node, refs | meta >>> META_MEM_SHIFT << MEM_SHIFT | 1, size, 0,
                    OPEN | STICKY);
            U.putLong(o, OFF, g | f & LOW);
            U.storeStoreFence();
        } else {
            rootSlow(o, size, meta, false);
        }
    }

    /** At the exit of Unpooled's terminals, which nest: an open life is kept. */
    @DontInline
    @Hidden
    public static void rootKeep(Object o, int size, int meta) {
        room();
        if (o != null && !(mixed() && BBFlowMap.root(o, size, meta, true)))
            rootSlow(o, size, meta, true);
    }

    /** Before a leak-aware wrapper is built: it would copy the object's last life (D5). */
    @ForceInline
    @Hidden
    public static void fresh(Object o) {
        root(o, 0, SITE_FRESH | MEM_FIRST_SEEN << META_MEM_SHIFT);
    }

    @DontInline
    @Hidden
    private static void rootSlow(Object o, int size, int meta, boolean keep) {
        slowRoom();
        try {
            // Its root draws, and mends what the wrapper copies: no handle for the short way.
            if ((meta & META_SITE) == SITE_FRESH && isSampled()) {
                passOver(U.getLong(o, OFF));
                return;
            }
            // The root of a life that fresh() opened: the handle suffices, whatever wraps it.
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
        } catch (Throwable t) {
            failed(t);
        }
    }

    @Hidden
    private static void openRoot(Object o, long kind, int size, int meta, boolean keep) {
        long f = U.getLong(o, OFF);
        if (paused())
            return;
        if (f == NEVER || keep && f != 0 && f != IGN && isOpen(f) && !isUnnamed(f))
            return;
        if (keep && f == IGN && isSampled())
            return; // the terminal within has drawn already
        int mem = meta >>> META_MEM_SHIFT;
        if ((mem & MEM_KIND) == MEM_KIND) // Unpooled.wrappedBuffer & co.: the class knows
            mem = mem & ~MEM_KIND | (int) (kind >>> KIND_MEM_SHIFT) & MEM_KIND;
        if ((kind & KIND_FOREIGN) != 0)
            mem |= MEM_FOREIGN;
        int sample = U.getInt(SHARED + SHARED_SAMPLE);
        // Its first sight in the constructor has drawn for a composite that is kept.
        int node = keep && sample != 0 && f != 0 && f != IGN && isOpen(f)
                ? rateRoot(meta & META_SITE, sample) : rootNode(meta & META_SITE, mem);
        boolean sticky = f != 0;
        if (f != 0 && f != IGN && isOpen(f)) {
            if (node > NODE_BEFORE_RESET && rename(f, node, mem, size))
                return;
            if (node <= NODE_BEFORE_RESET && isFirstSeen(f))
                undo(f);
            else
                endBy(f, true);
        }
        if (node <= NODE_BEFORE_RESET) {
            if (node != NODE_IGNORE && (meta & META_SITE) != SITE_FRESH)
                tally(TALLY_DROPPED_LIVES);
            skip(o, f);
            return;
        }
        int refs = refsOf(kind, mem);
        if (sticky && f != IGN && reopen(o, f, node, refs, size, 0))
            return;
        long h = open(o, node, refs, size, 0, sticky ? STICKY : 0);
        if (h == IGN && (meta & META_SITE) != SITE_FRESH) // its root hook follows, and counts
            tally(TALLY_DROPPED_LIVES);
        if (sticky)
            U.putLong(o, OFF, h);
        else if (!U.compareAndSetLong(o, OFF, 0L, h)) { // another thread saw it first (D12.4)
            undo(h);
            rename(U.getLongVolatile(o, OFF), node, mem, size);
        }
    }

    /**
     * Root node of a site, or why there is none: NODE_IGNORE (off, trackDirectOnly, not drawn),
     * NODE_NONE. With sample= each call draws: once a life.
     */
    @Hidden
    static int rootNode(int site, int mem) {
        int flags = U.getInt(SHARED + SHARED_FLAGS);
        if ((flags & SHARED_OFF) != 0
                || (flags & SHARED_DIRECT_ONLY) != 0 && (mem & (MEM_KIND | MEM_FIRST_SEEN)) == 1)
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

    /** The root of a site below which each life stands for N. */
    @Hidden
    static int rateRoot(int site, int sample) {
        int at = sample >>> SAMPLE_RATE_SHIFT << META_MEM_SHIFT | site;
        int node = U.getInt(RATE_ROOTS + ((long) at << 2));
        return node != NODE_NONE ? node : rootOf(at);
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
    private static long random() {
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

    /**
     * This life of the object, whose handle was f, is not followed. A recycled object keeps its
     * record for a later one (marked, so that its end is no second release of the last life).
     */
    @Hidden
    private static void skip(Object o, long f) {
        if (f == 0 && !U.compareAndSetLong(o, OFF, 0L, IGN)) { // another thread saw it first
            f = U.getLongVolatile(o, OFF);
            if (isOpen(f) && isFirstSeen(f))
                undo(f);
        }
        if (f != 0 && f != IGN && f != NEVER && isOpen(f))
            endBy(f, true);
        if (!passOver(f))
            U.putLong(o, OFF, IGN);
    }

    /** True for the handle of a recycled object: its record is ours alone, as at a reopen. */
    @Hidden
    private static boolean passOver(long f) {
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

    /** Hooks come or go: nothing is opened. */
    @Hidden
    static boolean paused() {
        return (U.getInt(SHARED + SHARED_FLAGS) & SHARED_PAUSED) != 0;
    }

    @Hidden
    static boolean isOpen(long f) {
        long life = U.getLong(recordAt(f) + REC_LIFE);
        return ((life ^ f) >>> 32) == 0 && (life & STATE) == OPEN;
    }

    @Hidden
    static boolean isFirstSeen(long f) {
        long refs = U.getLong(recordAt(f) + REC_REFS);
        return ((refs ^ f) >>> 32) == 0 && (refs >>> MEM_SHIFT & MEM_FIRST_SEEN) != 0;
    }

    /** A composite that took components over in its constructor, and did nothing else yet. */
    @Hidden
    static boolean isUnnamed(long f) {
        long path = U.getLong(recordAt(f) + REC_PATH);
        return isFirstSeen(f) && memOf(f) == COMPOSITE && ((path ^ f) >>> 32) == 0
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
        U.putLong(at + REC_SIZE, g | size & LOW);
        return true;
    }

    /** A closed sticky record goes on with its next generation. */
    @Hidden
    private static boolean reopen(Object o, long f, int node, int refs, int size, long parent) {
        long at = recordAt(f);
        if ((U.getLong(at + REC_LIFE) & ~(long) SKIPPED) != (f & HIGH | CLOSED | STICKY))
            return false;
        long g = (f & HIGH) + GENERATION;
        begin(at, g, node, refs, size, parent, OPEN | STICKY);
        U.putLong(o, OFF, g | f & LOW);
        return true;
    }

    // ---- views, wrappers, derived buffers (D5) ----

    /** In the constructor of a view or wrapper: it walks with its owner's handle. */
    @ForceInline
    @Hidden
    public static void alias(Object view, Object owner) {
        room();
        if (owner == null || mixed() && (foreign(view) || foreign(owner)))
            return;
        U.putLong(view, OFF, U.getLong(owner, OFF));
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

    /** Constants such as EmptyByteBuf. */
    @DontInline
    @Hidden
    public static void never(Object o) {
        room();
        if (o != null && !(mixed() && foreign(o)))
            U.putLong(o, OFF, NEVER);
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
    @DontInline
    @Hidden
    public static void derive(Object o, Object parent, int site) {
        room();
        slowRoom();
        if (o == null || parent == null || mixed() && BBFlowMap.derive(o, parent, site))
            return;
        try {
            if (paused())
                return;
            long pf = current(parent);
            long f = U.getLong(o, OFF);
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
                endBy(f, true);
            if (f == 0 || f == IGN || !reopen(o, f, node, refs, 0, pf)) {
                long h = open(o, node, refs, 0, pf, f != 0 ? STICKY : 0);
                if (h == IGN)
                    tally(TALLY_DROPPED_LIVES);
                U.putLong(o, OFF, h);
            }
            U.storeStoreFence();
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Where a life that is derived from an open one begins. */
    @Hidden
    static int derivedNode(long pf, int site) {
        int node = chargedAt(U.getLong(recordAt(pf) + REC_PATH), pf);
        return node > NODE_BEFORE_RESET ? childOf(node, derivedKey(node, site)) : node;
    }

    @Hidden
    static int memOf(long f) {
        return (int) (U.getLong(recordAt(f) + REC_REFS) >>> MEM_SHIFT) & MEM_KIND;
    }

    /** A derived life begins with a count of 1, whatever its parent's is. */
    @Hidden
    private static int derivedKey(int parent, int site) {
        int bucket = U.getInt(nodeAt(parent) + NODE_FLAGS) >>> FLAG_BUCKET_SHIFT & 3;
        return bucket == BUCKET_ONE ? site : (BUCKET_ONE + 1) << KEY_BUCKET_SHIFT | site;
    }

    /** What a view or wrapper wraps at last, by field; the object itself if it is no view. */
    @Hidden
    private static Object ownerOf(Object o) {
        for (int i = 0; i < MAX_UNWRAP && o != null; i++) {
            long kind = kindOf(o);
            if ((kind & KIND_VIEW) == 0)
                return (kind & KIND_FIELD) != 0 ? o : null;
            o = U.getReference(o, kind >>> 32);
        }
        return null;
    }

    /** The handle in force: a view's owner may have been recycled under it. */
    @Hidden
    private static long current(Object o) {
        long f = U.getLong(o, OFF);
        if (f == IGN || f == NEVER || f != 0 && isOpen(f))
            return f;
        Object owner = ownerOf(o);
        if (owner == null || owner == o)
            return f;
        long h = U.getLong(owner, OFF);
        if (h != f)
            U.putLong(o, OFF, h);
        return h;
    }

    // ---- components of composites (D5) ----

    /** component is a buffer, or a CompositeByteBuf.Component: the composite owns it from here on. */
    @DontInline
    @Hidden
    public static void adopt(Object composite, Object component) {
        room();
        slowRoom();
        try {
            long c = handleOf(component), k = handleOf(composite);
            if (c == 0 || c == IGN || c == NEVER || !isOpen(c))
                return;
            if (k == 0) // in its constructor: the root hook comes later
                k = firstSeen(composite);
            if (k != 0 && k != IGN && k != NEVER && k != c && isOpen(k))
                U.putLong(ownerAt(c), ownerWord(c, k));
        } catch (Throwable t) {
            failed(t);
        }
    }

    @DontInline
    @Hidden
    public static void adoptAll(Object composite, Object components) {
        room();
        if (components instanceof Object[])
            for (Object component : (Object[]) components)
                adopt(composite, component);
    }

    /** Components from..to leave an open composite: what survives that is its own again. */
    @DontInline
    @Hidden
    public static void disown(Object composite, int from, int to) {
        room();
        slowRoom();
        try {
            long k = handleOf(composite), at = BBFlowParts.AT.get(composite.getClass());
            if (k == 0 || k == IGN || k == NEVER || at < 0)
                return;
            Object[] parts = (Object[]) U.getReference(composite, at);
            for (int i = Math.max(from, 0); i < to && i < parts.length; i++) {
                long c = handleOf(parts[i]);
                if (c != 0 && c != IGN && c != NEVER && U.getLong(ownerAt(c)) == ownerWord(c, k))
                    U.putLong(ownerAt(c), 0);
            }
        } catch (Throwable t) {
            failed(t);
        }
    }

    @Hidden
    private static long firstSeen(Object composite) {
        long kind = kindOf(composite);
        if ((kind & KIND_FIELD) != 0 && (kind & KIND_OWNER) != 0)
            return openFirst(composite, kind);
        return (kind & KIND_MAPPED) != 0 ? BBFlowMap.firstSight(composite) : 0;
    }

    @Hidden
    private static long ownerAt(long f) {
        return AFTER + (f & LOW & RECORD_MASK) * AFTER_SIZE + AFTER_OWNER;
    }

    @Hidden
    private static long ownerWord(long component, long composite) {
        long mask = (1L << OWNER_GENERATION_BITS) - 1;
        return ((component >>> 32 & mask) << OWNER_GENERATION_BITS | composite >>> 32 & mask)
                << OWNER_RECORD_BITS | composite & (1L << OWNER_RECORD_BITS) - 1;
    }

    // ---- counts and sizes: hints (D12.3) ----

    /** After retain (delta > 0) and at an intermediate release (delta < 0): moves the refCnt bucket. */
    @ForceInline
    @Hidden
    public static void refs(Object o, int delta) {
        room();
        if (o != null && !(mixed() && BBFlowMap.refs(o, delta)))
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
        if (o != null && !(mixed() && BBFlowMap.resized(o, size)))
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
            if (o == null || mixed() && BBFlowMap.misuse(o))
                return;
            Object owner = ownerOf(o);
            long f = current(o);
            used(isSkipped(f) ? IGN : f, USE_ACCESS, owner != null ? kindOf(owner) : 0);
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
        if (mixed() && BBFlowMap.using(o, use))
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
            if (f != 0 && f != NEVER && !isOpen(f) && !isSkipped(f))
                suspect(f, use, kindOf(o));
        } catch (Throwable t) {
            failed(t);
        }
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

    /** At the end of IllegalReferenceCountException's constructors, which may call each other. */
    @DontInline
    @Hidden
    public static void refused() {
        room();
        slowRoom();
        try {
            long stripe = stripe();
            long f = stripe != 0 ? U.getLong(stripe + STRIPE_SUSPECT) : 0;
            if (f == 0)
                return;
            int use = U.getInt(stripe + STRIPE_USE);
            U.putLong(stripe + STRIPE_SUSPECT, 0);
            used(f, use >>> CLASS_SHIFT, use);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** f: the life that is over, IGN if it is not known. */
    @Hidden
    static void used(long f, int use, long kind) {
        if (misused(f, use, (int) kind & KIND_CLASS, tid()))
            tally(TALLY_MISUSE);
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

    // ---- close (D12.6) ----

    /** At the entry of AbstractReferenceCountedByteBuf.handleRelease: before any recycling. */
    @ForceInline
    @Hidden
    public static void release(Object o, boolean zero) {
        room();
        if (!zero) {
            refs(o, -1);
            return;
        }
        if (mixed() && BBFlowMap.release(o))
            return;
        long f = U.getLong(o, OFF), at = recordAt(f);
        // Plain stores: Netty's own refCnt CAS has one winner here (D12.6; facts/model.md V2).
        if (U.getLong(at + REC_LIFE) == (f & HIGH | OPEN | STICKY)) {
            long path = U.getLong(at + REC_PATH), run = U.getLong(at + REC_RUN);
            long key = runKey(chargedAt(path, f), U.getLong(at + REC_REFS));
            boolean same = ((run ^ key) >>> 16) == 0 && (run & RUN_FULL) != RUN_FULL;
            if (!same | U.getInt(at + REC_NEXT) != U.getInt(SHARED + SHARED_NOW)) {
                closeSticky(f, key, same);
                return;
            }
            U.putLong(at + REC_PATH, f & HIGH);
            U.putInt(at + REC_BATCH, (int) tid());
            U.putLongRelease(null, at + REC_LIFE, f & HIGH | CLOSED | STICKY);
            U.putLong(at + REC_RUN, run + 1);
        } else {
            releaseSlow(o, f);
        }
    }

    @ForceInline
    @Hidden
    private static long runKey(int node, long refs) {
        return (long) node << 32 | (refs >>> CLASS_SHIFT & CLASS_MASK) << 16;
    }

    /** The same where the run ends, or a second has passed since the open. */
    @DontInline
    @Hidden
    private static void closeSticky(long f, long key, boolean same) {
        slowRoom(); // for newRun and tellAge, which must not fail any more
        long at = recordAt(f);
        int opened = U.getInt(at + REC_NEXT);
        if (opened != U.getInt(SHARED + SHARED_NOW))
            tellAge((int) (key >>> 32), opened);
        U.putLong(at + REC_PATH, f & HIGH);
        U.putInt(at + REC_BATCH, (int) tid());
        U.putLongRelease(null, at + REC_LIFE, f & HIGH | CLOSED | STICKY);
        if (same)
            U.putLong(at + REC_RUN, U.getLong(at + REC_RUN) + 1);
        else
            newRun(at + REC_RUN, key);
    }

    /** Rare: the second is another than the one of the open. */
    @DontInline
    @Hidden
    private static void tellAge(int node, int opened) {
        try {
            int seconds = U.getInt(SHARED + SHARED_NOW) - opened;
            if (seconds > 0)
                lasted(node, seconds);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Charge what the word held and begin it anew with one life. */
    @DontInline
    @Hidden
    private static void newRun(long word, long key) {
        try {
            long run = U.getLong(word);
            U.putLong(word, key | 1);
            if (run != 0)
                released((int) (run >>> 32), (int) (run >>> 16) & 0xffff, (int) run & RUN_FULL);
        } catch (Throwable t) {
            failed(t);
        }
    }

    @DontInline
    @Hidden
    static void releaseSlow(Object o, long f) {
        slowRoom();
        try {
            if (f == 0 || f == IGN || f == NEVER)
                return;
            long at = recordAt(f), path = U.getLong(at + REC_PATH);
            long refs = U.getLong(at + REC_REFS), life = U.getLongVolatile(null, at + REC_LIFE);
            if (((life ^ f) >>> 32) != 0 || (life & STATE) != OPEN)
                return;
            int place = U.getInt(at + REC_BATCH), opened = U.getInt(at + REC_NEXT);
            // Before the CAS: a CONV record may be freed by the agent right after it.
            U.putLong(at + REC_PATH, f & HIGH);
            while (!U.compareAndSetLong(null, at + REC_LIFE, life, closed(life))) {
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
                remember(stripe, f, chargedAt(path, f));
            if ((life & (CONV | STICKY)) == 0)
                giveBack((int) f, stripe);
            long key = runKey(chargedAt(path, f), refs);
            if (opened != U.getInt(SHARED + SHARED_NOW))
                tellAge((int) (key >>> 32), opened);
            if ((life & STOPPED) != 0) { // it may have been released and taken again unseen
                unknownAt((int) (key >>> 32));
                return;
            }
            if (stripe == 0) {
                released((int) (key >>> 32), (int) (key >>> 16) & 0xffff, 1);
                return;
            }
            long word = stripe + STRIPE_RUN + ((key >>> 32 & RUN_SLOTS - 1) << 3);
            long run = U.getLong(word);
            if (((run ^ key) >>> 16) == 0 && (run & RUN_FULL) != RUN_FULL)
                U.putLong(word, run + 1);
            else
                newRun(word, key);
        } catch (Throwable t) {
            failed(t);
        } finally {
            java.lang.ref.Reference.reachabilityFence(o); // D12.6: until the close is done
        }
    }

    /**
     * Where the life ended and who released it, for a use after that: its record may be another
     * life's by then. A reader finds the handle before and after what belongs to it.
     */
    @Hidden
    private static void remember(long stripe, long f, int node) {
        int next = U.getInt(stripe + STRIPE_NEXT_ENDED);
        long at = stripe + STRIPE_ENDED + ((next & ENDED_SLOTS - 1) << 4);
        U.putInt(stripe + STRIPE_NEXT_ENDED, next + 1);
        U.putLong(at, 0);
        U.putLongRelease(null, at + 8, (long) node << 32 | tid() & LOW);
        U.putLongRelease(null, at, f);
    }

    /** The winner of a close without CONV and STICKY owns the record: slot first, then the list. */
    @Hidden
    private static void giveBack(int record, long stripe) {
        setSlot(record, null);
        if (stripe == 0) {
            U.putInt(recordAt(record) + REC_NEXT, 0);
            push(record);
            return;
        }
        U.putInt(recordAt(record) + REC_NEXT, U.getInt(stripe + STRIPE_HEAD));
        U.putInt(stripe + STRIPE_HEAD, record);
        int count = U.getInt(stripe + STRIPE_COUNT) + 1;
        U.putInt(stripe + STRIPE_COUNT, count);
        if (count > SPILL_ABOVE)
            spill(stripe);
    }

    // ---- steps (D12.5) ----

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
        else
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

    /** A late store of the life before (D12.7): true if the handle's life is in force. */
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
        if (f == 0) {
            firstSight(o, site);
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

    /** Where the site leads, looking for what exists before asking C to make it (D6). */
    @Hidden
    private static int childOf(int node, int site) {
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

    /** No root hook opened a life for it: a constructor's buffer, or one older than the agent. */
    @Hidden
    private static void firstSight(Object o, int site) {
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
        if (f == 0)
            f = openFirst(owner, kind);
        if (owner != o)
            U.putLong(o, OFF, f);
        if (f != IGN && f != NEVER && isOpen(f))
            step(o, site);
    }

    /**
     * A mock of a counted class: made without a constructor, its release() is not Netty's. (Inside
     * the constructor a buffer looks the same; its root says better.)
     */
    @Hidden
    private static boolean neverBuilt(Object o, long kind) {
        long maxCapacity = kind >>> 32;
        return maxCapacity != 0 && U.getInt(o, maxCapacity) == 0;
    }

    @Hidden
    static int firstSiteOf(long kind) {
        return firstSite((int) kind & KIND_CLASS);
    }

    @Hidden
    private static long openFirst(Object o, long kind) {
        int mem = (int) (kind >>> KIND_MEM_SHIFT) & MEM_KIND;
        int flags = U.getInt(SHARED + SHARED_FLAGS);
        int site = 0;
        if ((flags & SHARED_PAUSED) != 0)
            return 0;
        if ((kind & (KIND_OWNER | KIND_FOREIGN)) != 0 && (flags & SHARED_OFF) == 0
                && ((flags & SHARED_DIRECT_ONLY) == 0 || mem != 1))
            site = firstSiteOf(kind);
        int node = site != 0 ? rootNode(site, mem | MEM_FIRST_SEEN) : 0;
        if (node <= NODE_BEFORE_RESET) {
            if (site != 0 && node != NODE_IGNORE)
                tally(TALLY_DROPPED_LIVES);
            U.compareAndSetLong(o, OFF, 0L, IGN);
            return U.getLongVolatile(o, OFF);
        }
        mem |= MEM_FIRST_SEEN;
        if ((kind & KIND_FOREIGN) != 0 || (flags & SHARED_UNSEEN) != 0 || neverBuilt(o, kind))
            mem |= MEM_FOREIGN; // a root says better
        long h = open(o, node, refsOf(kind, mem), 0, 0, 0);
        if (h == IGN)
            tally(TALLY_DROPPED_LIVES);
        if (U.compareAndSetLong(o, OFF, 0L, h))
            return h;
        if (h != IGN)
            undo(h);
        return U.getLongVolatile(o, OFF);
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
            long h = o != null && BBFlowTrack.now != null ? BBFlowTrack.handleOf(o) : -1;
            if (h != -1 && h != 0)
                stepTo(h, site);
            for (int i = 0; i < MAX_UNWRAP && o != null && h == -1; i++) {
                long kind = kindOf(o);
                if ((kind & (KIND_FIELD | KIND_MAPPED)) != 0) {
                    step(o, site);
                    return;
                }
                if ((kind & KIND_HOLDER) == 0) {
                    if ((kind & KIND_UNKNOWN_HOLDER) != 0)
                        tally(TALLY_HOLDERS_UNKNOWN);
                    return;
                }
                o = U.getReference(o, kind >>> 32);
            }
        } catch (Throwable t) {
            failed(t);
        }
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
    private static long handleOf(Object o) {
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
     * holds the method's entry (D2).
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
