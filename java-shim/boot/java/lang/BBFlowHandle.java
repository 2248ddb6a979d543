/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowHandle - the handle of a life in a ByteBuf's hidden field (design.md: hidden field):
 * where the field is, whether it may be read at all, whose handle is in force, and the words that a
 * handle leads to.
 */
package java.lang;

import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowRecords.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowHandle {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Its offset is that of the only long field of a direct child of Object. */
    private long $bbf;

    /** Offset of the hidden field in every ByteBuf that has it: one constant (design.md: hot path). */
    static final long OFF = U.objectFieldOffset(BBFlowHandle.class, "$bbf");

    /**
     * Are lives followed by windows of time (ADR 54)? Read once, as the class is initialised: without
     * duty= the compilers leave out what it guards.
     */
    static final boolean WINDOWS = (U.getInt(SHARED + SHARED_FLAGS) & SHARED_WINDOWS) != 0;

    /** Is the gate shut for more than half of the time? Then the hooks do not inline what they do in a window (ADR 73). */
    static final boolean SELDOM = WINDOWS && (U.getInt(SHARED + SHARED_FLAGS) & SHARED_SELDOM) != 0;

    /**
     * Is only a ByteBuf with the field followed, where windows are seldom? Then counts and ends look at the buffer's
     * handle and not at the gate: one that is not above 0 has no life, gate open or shut (ADR 75).
     */
    static final boolean FIELDS = SELDOM && (U.getInt(SHARED + SHARED_FLAGS) & SHARED_FIELDS) != 0;

    /** What slowHooks() and idle() read: the word, and the byte of its sign (little-endian, as all processors here). */
    static final long GATES = SHARED + SHARED_SLOW_HOOKS, GATE = GATES + 3;

    /** The same for root hooks: the byte that has SLOW_COUNT. */
    static final long ROOT_GATE = GATES + 2;

    /** A gate's byte that is less: shut, and without the bit below its sign, SLOW_FIELDLESS in GATE, SLOW_COUNT in ROOT_GATE. */
    static final int SHUT_ALONE = (SLOW_IDLE | SLOW_FIELDLESS) >> 24;

    private BBFlowHandle() {
    }

    /**
     * Must a hook take its slow path: some ByteBuf class lacks the field (design.md: hot path), or there
     * is nothing to do at all?
     */
    @ForceInline
    @Hidden
    static boolean slowHooks() {
        int bits = U.getInt(null, GATES);
        return (WINDOWS ? bits & ~(SLOW_GATE | SLOW_COUNT) : bits) != 0;
    }

    /**
     * Where slowHooks(): is no class there yet that include= may mean (ADR 29), or is the gate shut
     * (ADR 54)? Then only ends are looked for.
     */
    @ForceInline
    @Hidden
    static boolean idle() {
        return U.getByte(null, GATE) < 0;
    }

    @ForceInline
    @Hidden
    static long kindOf(Object o) {
        return BBFlowKind.of(o);
    }

    /** A slow hook may meet a ByteBuf without the field: it is not touched. */
    @DontInline
    @Hidden
    static boolean lacksField(Object o) {
        return o != null && (kindOf(o) & KIND_FIELD) == 0;
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
    static long nodeAt(long path) {
        return NODES + ((path & LOW) << NODE_SHIFT);
    }

    @Hidden
    static void makeStatic(long f) {
        long at = recordAt(f), refs = U.getLong(at + REC_REFS);
        if (f != 0 && isOpen(f) && ((refs ^ f) >>> 32) == 0)
            U.putLong(at + REC_REFS, refs | (long) MEM_STATIC << MEM_SHIFT);
    }

    @Hidden
    static void sizeOf(long f, int size) {
        long at = recordAt(f);
        if (((U.getLong(at + REC_SIZE) ^ f) >>> 32) == 0)
            U.putLong(at + REC_SIZE, f & HIGH | size & LOW);
    }
}
