/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowSize - how large a buffer is that was met after its life had begun, and of which
 * memory (ADR 35): read by field, of the classes of Netty whose fields are known, and of the
 * application's classes below them. Where the fields are is asked once per class.
 */
package java.lang;

import static java.lang.BBFlowHandle.*;
import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowLook.*;
import static java.lang.BBFlowRecords.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowSize extends ClassValue<Long> {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final BBFlowSize HOW = new BBFlowSize();

    /** What the low byte of a class's word says; the offsets a and b follow, 16 bits each. */
    private static final int UNKNOWN = 0;
    private static final int NUMBER = 1; // an int at a
    private static final int ARRAY = 2; // the length of the byte[] at a
    private static final int BUFFER = 3; // the java.nio.Buffer's at a, whose capacity is at b
    private static final int PARTS = 4; // as many of the array at a as the int at b says
    private static final int PART = 5; // of such an array: begins at a, ends at b
    private static final int SHARE = 6; // retains all of the buffer at a; that at b is its parent
    private static final int ADAPTIVE = 7; // an int at a; its memory is that of the buffer at b
    private static final int FIXED = 8; // the int at b, if no buffer of the array at a is open

    private BBFlowSize() {
    }

    @Override
    @Hidden
    protected Long computeValue(Class<?> type) {
        try {
            for (; type != null; type = type.getSuperclass()) {
                String name = type.getName();
                int at = name.lastIndexOf("netty.buffer.");
                long how = at < 0 ? UNKNOWN : of(type, name.substring(at + 13));
                if (how != UNKNOWN)
                    return how;
            }
        } catch (InternalError absent) {
            // Another version keeps it elsewhere. Anything else is not cached as the answer.
        }
        return (long) UNKNOWN;
    }

    @Hidden
    private static long of(Class<?> type, String name) {
        switch (name) {
        case "PooledByteBuf":
            return how(NUMBER, type, "length", "I", null, null);
        case "UnpooledDirectByteBuf":
            return how(NUMBER, type, "capacity", "I", null, null);
        case "FixedCompositeByteBuf":
            return how(FIXED, type, "buffers", "[L", "capacity", "I");
        case "UnpooledHeapByteBuf":
            return how(ARRAY, type, "array", "[B", null, null);
        case "ReadOnlyByteBufferBuf":
            long buffer = how(BUFFER, type, "buffer", "Ljava/nio/ByteBuffer;", null, null);
            return buffer == UNKNOWN ? UNKNOWN
                    : buffer | U.objectFieldOffset(java.nio.Buffer.class, "capacity") << 24;
        case "CompositeByteBuf":
            return how(PARTS, type, "components", "[L", "componentCount", "I");
        case "CompositeByteBuf$Component":
            return how(PART, type, "offset", "I", "endOffset", "I");
        case "AbstractPooledDerivedByteBuf":
            return how(SHARE, type, "rootParent", "L", "parent", "L");
        case "AdaptivePoolingAllocator$AdaptiveByteBuf":
            return how(ADAPTIVE, type, "length", "I", "rootParent", "L");
        default:
            return UNKNOWN;
        }
    }

    @Hidden
    private static long how(int what, Class<?> type, String a, String aType, String b,
            String bType) {
        long first = BBFlowKind.offset(type, a, aType);
        long second = b != null ? BBFlowKind.offset(type, b, bType) : 0;
        boolean known = first > 0 && first <= 0xffff && second >= 0 && second <= 0xffff;
        return known ? what | first << 8 | second << 24 : UNKNOWN;
    }

    @Hidden
    private static long how(Object o) {
        return HOW.get(o.getClass());
    }

    @Hidden
    private static long a(long how) {
        return how >>> 8 & 0xffff;
    }

    @Hidden
    private static long b(long how) {
        return how >>> 24 & 0xffff;
    }

    /**
     * Bytes of an owner that is seen for the first time; 0 if its class does not have them, which
     * is counted. In its constructor the fields may still be empty: also 0, until its root sets the
     * size.
     */
    @Hidden
    static int of(Object o, long kind) {
        int size = bytes(o);
        if (size >= 0)
            return size;
        U.putInt(SHARED + SHARED_SIZE_OF, (int) kind & KIND_CLASS);
        U.getAndAddLong(null, SHARED + SHARED_UNSIZED, 1);
        return 0;
    }

    /** -1: its class does not say. */
    @Hidden
    private static int bytes(Object o) {
        long how = how(o);
        Object in = null;
        switch ((int) how & 0xff) {
        case NUMBER:
        case ADAPTIVE:
            return Math.max(0, U.getInt(o, a(how)));
        case ARRAY:
            in = U.getReference(o, a(how));
            return in != null ? ((byte[]) in).length : 0;
        case BUFFER:
            in = U.getReference(o, a(how));
            return in != null ? U.getInt(in, b(how)) : 0;
        case PARTS:
            return parts(o, how);
        case FIXED:
            return fixed(o, how);
        case SHARE:
            in = U.getReference(o, a(how));
            return in != null && (how(in) & 0xff) != SHARE ? bytes(in) : 0;
        default:
            return -1;
        }
    }

    /** The bytes in a composite; a component with a life of its own counts its bytes itself. */
    @Hidden
    private static int parts(Object composite, long how) {
        Object[] all = (Object[]) U.getReference(composite, a(how));
        int n = all == null ? 0 : Math.min(all.length, U.getInt(composite, b(how))), sum = 0;
        for (int i = 0; i < n; i++) {
            long its = all[i] != null ? how(all[i]) : UNKNOWN;
            if ((its & 0xff) == PART && !isAlive(handleOf(all[i])))
                sum += Math.max(0, U.getInt(all[i], b(its)) - U.getInt(all[i], a(its)));
        }
        return sum;
    }

    /** The same of one whose parts do not say how large they are: all or nothing. */
    @Hidden
    private static int fixed(Object composite, long how) {
        Object[] all = (Object[]) U.getReference(composite, a(how));
        for (int i = 0; all != null && i < all.length; i++)
            if (all[i] != null && isAlive(handleOf(all[i])))
                return 0;
        return Math.max(0, U.getInt(composite, b(how)));
    }

    @Hidden
    private static boolean isAlive(long f) {
        return f != 0 && f != IGN && f != NEVER && isOpen(f);
    }

    /** A composite that is met now owns those of its parts whose lives are open. */
    @Hidden
    static void adoptParts(Object composite) {
        long how = how(composite);
        if ((how & 0xff) != PARTS && (how & 0xff) != FIXED)
            return;
        Object[] all = (Object[]) U.getReference(composite, a(how));
        int n = all == null ? 0 : all.length;
        if ((how & 0xff) == PARTS)
            n = Math.min(n, U.getInt(composite, b(how)));
        for (int i = 0; i < n; i++)
            if (all[i] != null)
                BBFlowComposites.adopt(composite, all[i]);
    }

    /** The kind of memory where the class's name does not say it: that of what it is a part of. */
    @Hidden
    static int memoryOf(Object o, long kind) {
        int mem = (int) (kind >>> KIND_MEM_SHIFT) & MEM_KIND;
        if (mem != MEM_KIND)
            return mem;
        long how = how(o);
        Object in = (how & 0xff) == SHARE ? U.getReference(o, a(how))
                : (how & 0xff) == ADAPTIVE ? U.getReference(o, b(how)) : null;
        if (in != null && (how(in) & 0xff) == ADAPTIVE)
            in = U.getReference(in, b(how(in)));
        return in != null ? (int) (kindOf(in) >>> KIND_MEM_SHIFT) & MEM_KIND : mem;
    }

    /** In map mode: what a pooled slice or duplicate shares the memory of; else null. */
    @Hidden
    static Object parentOf(Object o) {
        long how = how(o);
        return (how & 0xff) == SHARE ? BBFlowMap.owner(U.getReference(o, a(how))) : null;
    }
}
