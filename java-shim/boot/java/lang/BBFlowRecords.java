/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowRecords - the records of lives (design.md: garbage detection, design.md: record,
 * design.md: open protocol): which are free, what is in one, how a life is opened on it and ends on
 * it, and the slot that holds the object meanwhile. Free records are in lists: one for each stripe (a
 * carrier thread's), batches of 64 for all.
 */
package java.lang;

import static java.lang.BBFlowGuard.*;
import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowNative.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowRecords {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    static final long LOW = 0xffffffffL;
    static final long HIGH = 0xffffffff00000000L;
    static final long IGN = HIGH | RECORD_IGN;
    static final long NEVER = HIGH | RECORD_NEVER;
    static final long ENDING = HIGH | RECORD_ENDING;
    static final long RETURNED = HIGH | RECORD_RETURNED;
    static final long IDLE = HIGH | RECORD_IDLE;
    static final long COUNTED = HIGH | RECORD_COUNTED;
    static final long AGAIN = HIGH | RECORD_AGAIN;
    static final long GENERATION = 1L << 32;

    /** In a handle: its life is over, and a release while the gate is shut need not ask (ADR 73). Not an int, whose sign would fill the generation. */
    static final long OVER = HANDLE_OVER & LOW;

    /** Strong slots by record number (design.md: garbage detection); chunks are made once and stay. */
    private static final Object[][] SLOTS = new Object[CHUNKS][];

    private BBFlowRecords() {
    }

    // ---- words ----

    /**
     * The address comes of the handle: that is what orders these loads behind $bbf's. The base is
     * loaded: C2 would add a constant to the offset of each word, 64 bits in the code every time.
     */
    @ForceInline
    @Hidden
    static long recordAt(long handle) {
        return U.getLong(SHARED + SHARED_RECORDS) + ((handle & LOW & RECORD_MASK) << RECORD_SHIFT);
    }

    /** No life yet, or none that was seen: 0, or a mark of an application's pool (ADR 34). */
    @Hidden
    static boolean isFresh(long f) {
        return f == 0 || f >= ENDING && f <= AGAIN; // as signed words: all have the same high half
    }

    @Hidden
    static boolean isOpen(long f) {
        long life = U.getLong(recordAt(f) + REC_LIFE);
        return ((life ^ f) >>> 32) == 0 && (life & STATE) == OPEN;
    }

    @ForceInline
    @Hidden
    static int chargedAt(long path, long handle) {
        return ((path ^ handle) >>> 32) == 0 && (int) path != 0 ? (int) path : NODE_RACED;
    }

    /** The life word at the end, without the marks of a stop and of a window, which the next life
     * must not inherit. */
    @ForceInline
    @Hidden
    static long closedLife(long life) {
        return (life ^ (OPEN ^ CLOSED)) & ~(STOPPED | SEEN | LATER);
    }

    @ForceInline
    @Hidden
    static int refsOf(long kind, int mem) {
        return mem << MEM_SHIFT | (int) (kind & KIND_CLASS) << CLASS_SHIFT | 1;
    }

    // ---- stripes: free records and end counters of one carrier thread (design.md: garbage detection) ----

    @ForceInline
    @Hidden
    static long tid() {
        // The agent renames this call to currentCarrierThread on JDK 21+.
        return U.getLong(Thread.currentThread(), TID);
    }

    @ForceInline
    @Hidden
    static long stripe() {
        long tid = tid();
        long stripe = STRIPES_AT + ((tid & (STRIPES - 1)) << STRIPE_SHIFT);
        return U.getLong(stripe + STRIPE_OWNER) == tid ? stripe : claim(tid);
    }

    /** One of two places; 0 when other live threads hold both. */
    @DontInline
    @Hidden
    static long claim(long tid) {
        long first = tid & (STRIPES - 1), other = (tid * 0x9E3779B97F4A7C15L) >>> 54;
        if (own(first, tid))
            return STRIPES_AT + (first << STRIPE_SHIFT);
        long at = STRIPES_AT + (other << STRIPE_SHIFT);
        long owner = U.getLongVolatile(null, at + STRIPE_OWNER);
        return owner == tid || owner == 0 && own(other, tid) ? at : 0;
    }

    /** Marked as used before it is owned: a reader of its counters must not leave it out. */
    @Hidden
    private static boolean own(long stripe, long tid) {
        U.putByte(SHARED + SHARED_USED + stripe, (byte) 1);
        return U.compareAndSetLong(null, STRIPES_AT + (stripe << STRIPE_SHIFT) + STRIPE_OWNER, 0L,
                tid);
    }

    @DontInline
    @Hidden
    static void count(int which) {
        long stripe = stripe();
        if (stripe != 0)
            U.putLong(stripe + STRIPE_TALLY + 8L * which,
                    U.getLong(stripe + STRIPE_TALLY + 8L * which) + 1);
        else
            U.getAndAddLong(null, SHARED + SHARED_TALLY + 8L * which, 1);
    }

    // ---- slots ----

    /** 64 consecutive records are adjacent, batches 32 KiB apart (core/layout.h). */
    @ForceInline
    @Hidden
    static long slotOffset(int record) {
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
    static void setSlot(int record, Object o) {
        U.putReference(SLOTS[record >>> CHUNK_SHIFT], slotOffset(record), o);
    }

    /** The second of SHARED_NOW in which there was no heap for a chunk. */
    private static int noHeapAt = -1;

    /**
     * False without heap for a chunk: that batch cannot be used now. Then retry once a second only,
     * because each attempt costs the application full collections.
     */
    @DontInline
    @Hidden
    static boolean slotsFor(int record) {
        int chunk = record >>> CHUNK_SHIFT;
        if (SLOTS[chunk] != null)
            return true;
        int now = U.getInt(SHARED + SHARED_NOW);
        if (now == noHeapAt)
            return false;
        try {
            Object[] fresh = new Object[1 << CHUNK_SHIFT];
            U.compareAndSetReference(SLOTS, ARRAY_BASE + chunk * ARRAY_SCALE, null, fresh);
            return true;
        } catch (Throwable outOfMemory) {
            noHeapAt = now;
            failed(outOfMemory);
            return false;
        }
    }

    // ---- free records ----

    /** Fill an empty list from the shared stack or with fresh records; its head, 0 at the limit. */
    @DontInline
    @Hidden
    static int refill(long stripe) {
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
    static void spill(long stripe) {
        int head = U.getInt(stripe + STRIPE_HEAD), last = head;
        for (int i = 1; i < BATCH; i++)
            last = U.getInt(recordAt(last) + REC_NEXT);
        U.putInt(stripe + STRIPE_HEAD, U.getInt(recordAt(last) + REC_NEXT));
        U.putInt(stripe + STRIPE_COUNT, U.getInt(stripe + STRIPE_COUNT) - BATCH);
        U.putInt(recordAt(last) + REC_NEXT, 0);
        push(head);
    }

    /** The winner of a close without CONV and STICKY owns the record: slot first, then the list. */
    @Hidden
    static void giveBack(int record, long stripe) {
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

    // ---- lives (design.md: open protocol) ----

    /** The handle of the next life, generation g, on the record of f: without what f says of its own life. */
    @ForceInline
    @Hidden
    static long nextHandle(long g, long f) {
        return g | f & RECORD_MASK;
    }

    /** Path, refs, size … before life = OPEN (release): a reader of OPEN(g) finds g's words. */
    @ForceInline
    @Hidden
    static void begin(long at, long g, int node, int refs, int size, long parent, int state) {
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

    /** The life lost a race to be the object's: it never was one. */
    @Hidden
    static void undo(long handle) {
        if (endBy(handle, false)) // in map mode another thread may have released it meanwhile
            U.getAndAddLong(null, SHARED + SHARED_UNDONE, 1);
    }

    /**
     * End a life by CAS, without counting it as released; true for the winner. `unknown` charges it
     * at its node.
     */
    @Hidden
    static boolean endBy(long handle, boolean unknown) {
        long at = recordAt(handle), path = BBFlowWindows.position(at, handle), life;
        int place = U.getInt(at + REC_BATCH);
        U.putLong(at + REC_PATH, handle & HIGH);
        do {
            life = U.getLongVolatile(null, at + REC_LIFE);
            if (((life ^ handle) >>> 32) != 0 || (life & STATE) != OPEN)
                return false;
        } while (!U.compareAndSetLong(null, at + REC_LIFE, life, closedLife(life)));
        if ((life & MAPPED) != 0)
            BBFlowMap.remove(place, handle);
        if (unknown)
            unknownAt(chargedAt(path, handle));
        if ((life & STICKY) != 0)
            U.putInt(at + REC_BATCH, 0); // no thread released it
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
        } while (!U.compareAndSetLong(null, at + REC_LIFE, life, closedLife(life)));
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
}
