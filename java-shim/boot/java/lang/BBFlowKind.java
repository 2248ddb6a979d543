/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowKind - what the shim knows of a class (design.md: hot path): does it inherit the
 * hidden field, does it own a count, is it a view, wrapper or holder and behind which field. Asked
 * where a hook's type does not say it; the tables are the agent's (instrument/netty.c).
 *
 * A ClassValue is nine loads deep, each waiting for the one before. So the kinds of classes that are
 * never unloaded are also in a native table, by the word of an object's header that says its class
 * (its narrow klass; docs/adr/0031). Invariant: an entry's klass goes once from 0 to a class, and its
 * kind is 0 or one that is or was that class's: a class that was nothing may turn out to be a carrier
 * (ADR 43), and is then asked about again. An old answer is still true of the fields that it names. So a
 * reader that finds its own klass finds its kind or 0, in any order, and no fence is needed.
 */
package java.lang;

import static java.lang.BBFlowLayout.*;

import jdk.internal.loader.ClassLoaders;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowKind extends ClassValue<Long> {
    private static final Unsafe U = Unsafe.getUnsafe();

    /**
     * Headers of 8 bytes (compact, JDK 24) have the narrow klass in the upper 22 bits of their mark
     * word, above the hash; headers of 12 bytes have it in a word of its own.
     */
    private static final int KLASS_SHIFT = offset(Integer.class, "value") == 8 ? 10 : 0;

    /**
     * Where the word with the narrow klass is in every object; 0 where the layout is not one of these
     * two or fails BBFlowHeader: then the table stays empty. Not final: C2 makes a call into the
     * JVM of a read at a constant that it knows to be in the header. agent/boot/shim.c reads it.
     */
    private static long klassAt = findKlass();

    /** The answers, made anew when carriers become known. Written by the agent's thread. */
    private static BBFlowKind kinds = new BBFlowKind();

    private BBFlowKind() {
    }

    /** From here on each class is asked about again. */
    @Hidden
    private static void forget() {
        kinds = new BBFlowKind();
        for (long at = KINDS_AT; at < KINDS_AT + (1L << KIND_GROUP_BITS + KIND_GROUP_SHIFT);
                at += 1 << KIND_ENTRY_SHIFT)
            U.putLong(at + 8, 0);
    }

    private static long findKlass() {
        long header = offset(Integer.class, "value");
        long at = header == 12 ? 8 : header == 8 ? 4 : 0;
        return at != 0 && BBFlowHeader.isKlass(at) ? at : 0;
    }

    /** The kind of o's class; o is not null. KIND_PERMANENT is the table's own business. */
    @ForceInline
    @Hidden
    static long of(Object o) {
        int klass = word(o, klassAt);
        long at = group(klass), kind = U.getLong(at + 8);
        return U.getInt(at) == klass && kind != 0 ? kind : ask(o, klass);
    }

    @ForceInline
    @Hidden
    static int word(Object o, long at) {
        return U.getInt(o, at) >>> KLASS_SHIFT;
    }

    @ForceInline
    @Hidden
    private static long group(int klass) {
        return KINDS_AT + ((long) (klass * 0x9e3779b9 >>> 32 - KIND_GROUP_BITS) << KIND_GROUP_SHIFT);
    }

    @DontInline
    @Hidden
    private static long ask(Object o, int klass) {
        long first = group(klass), end = first + (KIND_WAYS << KIND_ENTRY_SHIFT);
        for (long at = first; at < end; at += 1 << KIND_ENTRY_SHIFT) {
            long kind = U.getLong(at + 8);
            if (U.getInt(at) == klass && kind != 0)
                return kind;
        }
        long kind = kinds.get(o.getClass());
        if ((kind & KIND_PERMANENT) != 0 && klassAt != 0)
            keep(first, end, klass, kind);
        return kind;
    }

    /** In the first entry of the group that is free; where none is free, the class is not kept. */
    @Hidden
    private static void keep(long at, long end, int klass, long kind) {
        for (; at < end; at += 1 << KIND_ENTRY_SHIFT)
            if (U.compareAndSetInt(null, at, 0, klass)) {
                U.putLong(at + 8, kind);
                return;
            } else if (U.getInt(at) == klass) {
                U.putLong(at + 8, kind); // it was forgotten, or another thread is about to write it
                return;
            }
    }

    /**
     * Of one of the JVM's own loaders, which live as long as it does, and not a hidden class (or an
     * anonymous one of a JDK older than 15), which may be unloaded before its loader: only their
     * names have a '/'. So no other class ever gets its klass word.
     */
    @Hidden
    private static boolean isPermanent(Class<?> type) {
        ClassLoader loader = type.getClassLoader0();
        return (loader == null || loader == ClassLoaders.platformClassLoader()
                || loader == ClassLoaders.appClassLoader()) && type.getName().indexOf('/') < 0;
    }

    /**
     * KIND_ bits in the low half; in the high half the offset of the view's or holder's field, of an
     * owner's maxCapacity and, 16 bits above it, of its count (0: not known).
     */
    @Override
    @Hidden
    protected Long computeValue(Class<?> type) {
        try {
            return shapeOf(type) | (isPermanent(type) ? KIND_PERMANENT : 0);
        } catch (Throwable t) {
            BBFlowGuard.passStop(t); // not cached as the answer
            return 0L;
        }
    }

    @Hidden
    private static long shapeOf(Class<?> type) {
        long many = elements(type);
        if (many != 0)
            return many;
        long kind = nettyShapeOf(type);
        return (kind & (KIND_OWNER | KIND_FOREIGN | KIND_VIEW | KIND_FIELD | KIND_MAPPED
                | KIND_COUNTER)) == 0 ? carrier(type, kind) : kind;
    }

    /**
     * A carrier (ADR 43), by the fields of its class and of those above, the nearest first: one is
     * followed as that of a holder. Of more, the offsets of the first four are a byte each, in
     * references; those beyond are counted.
     */
    @Hidden
    private static long carrier(Class<?> type, long kind) {
        long first = (kind & KIND_HOLDER) != 0 ? kind >>> 32 : 0;
        long all = packed(0, first);
        int n = first != 0 ? 1 : 0;
        for (Class<?> c = type; c != null && c != Object.class; c = c.getSuperclass())
            for (int i = 0;; i++) {
                String field = BBFlowNative.carrierField(c, i);
                if (field == null)
                    break;
                long at = Math.max(offset(c, field, "L"), offset(c, field, "[L"));
                if (at <= 0)
                    continue;
                if (n++ == 0)
                    first = at;
                all = packed(all, at);
            }
        if (n == 0 || n == 1 && (kind & KIND_HOLDER) != 0)
            return kind;
        kind = kind & 0xffffffffL & ~KIND_UNKNOWN_HOLDER & ~KIND_HOLDER | KIND_CARRIER;
        return n == 1 ? kind | KIND_HOLDER | first << 32 : kind | all << 32;
    }

    /** One more offset in the first byte that is free. */
    @Hidden
    private static long packed(long all, long at) {
        long word = at >>> 2;
        for (int shift = 0; at != 0 && word <= 0xff && shift < 32; shift += 8)
            if ((all >>> shift & 0xff) == 0)
                return all | word << shift;
        if (at != 0)
            U.getAndAddLong(null, SHARED + SHARED_CUT, 1);
        return all;
    }

    @Hidden
    private static long nettyShapeOf(Class<?> type) {
        long told = BBFlowNative.classify(type), kind = told & 0xffffffffL;
        int depth = (int) (told >>> KIND_BYTEBUF_DEPTH) & KIND_NO_DEPTH;
        if (depth != KIND_NO_DEPTH && offset(up(type, depth), "$bbf", "J") == BBFlowHandle.OFF)
            kind |= KIND_FIELD;
        else if (depth != KIND_NO_DEPTH)
            kind = (kind & KIND_NEVER) != 0 || BBFlowHandle.FIELDS ? 0 : kind | KIND_MAPPED;
        if ((kind & KIND_COUNTER) != 0)
            return withOffset(kind, offset(type, "value", "I"), KIND_COUNTER);
        if ((kind & KIND_MAPPED) != 0 && (kind & (KIND_COUNT_INT | KIND_COUNT_REF)) != 0)
            return withOffset(kind,
                    offset(up(type, (int) (told >>> KIND_FIELD_DEPTH) & KIND_NO_DEPTH), "refCnt",
                            (kind & KIND_COUNT_INT) != 0 ? "I" : "L"),
                    KIND_COUNT_INT | KIND_COUNT_REF);
        if ((kind & (KIND_VIEW | KIND_HOLDER)) == 0)
            return (kind & KIND_OWNER) == 0 ? kind
                    : kind | maxCapacity(type) << 32 | countAt(type, told) << 48;
        long at = offset(up(type, (int) (told >>> KIND_FIELD_DEPTH) & KIND_NO_DEPTH),
                BBFlowNative.fieldName((int) (told >>> KIND_FIELD_NAME)), "L");
        if (at >= 0)
            return kind | at << 32;
        // Another version keeps it elsewhere: counted, not guessed.
        return kind & ~(KIND_VIEW | KIND_HOLDER)
                | ((kind & KIND_HOLDER) != 0 ? KIND_UNKNOWN_HOLDER : KIND_FOREIGN);
    }

    /**
     * Arrays, and the containers of design.md: hot path: exactly these classes, for a field of a subclass may
     * mean something else. What holds one object is a holder.
     */
    @Hidden
    private static long elements(Class<?> type) {
        if (type.isArray())
            return type.getComponentType().isPrimitive() ? 0 : KIND_ELEMENTS;
        String name = type.getName();
        if (name.equals("java.util.ArrayList"))
            return list(offset(type, "elementData", "[L"), offset(type, "size", "I"));
        if (name.equals("java.util.Arrays$ArrayList"))
            return list(offset(type, "a", "[L"), 0);
        if (name.endsWith("netty.handler.codec.CodecOutputList"))
            return list(offset(type, "array", "[L"), offset(type, "size", "I"));
        if (name.equals("java.util.ArrayDeque")) {
            long ring = list(offset(type, "elements", "[L"), offset(type, "head", "I"));
            return ring >>> 48 != 0 ? ring | KIND_RING : 0;
        }
        if (name.equals("java.util.Optional"))
            return withOffset(KIND_HOLDER, offset(type, "value", "L"), KIND_HOLDER);
        if (name.equals("java.util.Collections$UnmodifiableRandomAccessList"))
            return withOffset(KIND_HOLDER, offset(type.getSuperclass(), "list", "L"),
                    KIND_HOLDER);
        return 0;
    }

    @Hidden
    private static long list(long array, long size) {
        return array > 0 && array <= 0xffff && size >= 0 && size <= 0xffff
                ? KIND_ELEMENTS | array << 32 | size << 48 : 0;
    }

    @Hidden
    private static long maxCapacity(Class<?> type) {
        while (type != null && !type.getName().endsWith("netty.buffer.AbstractByteBuf"))
            type = type.getSuperclass();
        return type != null ? half(offset(type, "maxCapacity", "I")) : 0;
    }

    /** Where an owner has its count, if it is one that says whether the buffer is released; 0: not known. */
    @Hidden
    private static long countAt(Class<?> type, long told) {
        boolean isInt = (told & (KIND_COUNT_INT | KIND_DOUBLED)) == (KIND_COUNT_INT | KIND_DOUBLED);
        if (!isInt && (told & KIND_COUNT_REF) == 0)
            return 0;
        return half(offset(up(type, (int) (told >>> KIND_FIELD_DEPTH) & KIND_NO_DEPTH), "refCnt",
                isInt ? "I" : "L"));
    }

    /** An offset that has room in 16 bits, else 0: not known. */
    @Hidden
    private static long half(long at) {
        return at > 0 && at <= 0xffff ? at : 0;
    }

    /** The offset in the high half; without one the bits that promise it go. */
    @Hidden
    private static long withOffset(long kind, long at, int bits) {
        return at >= 0 ? kind | at << 32 : kind & ~bits;
    }

    @Hidden
    private static Class<?> up(Class<?> type, int depth) {
        while (depth-- > 0)
            type = type.getSuperclass();
        return type;
    }

    /** Offset of a field of that type, -1 if there is none. */
    @Hidden
    static long offset(Class<?> declaring, String field, String descriptor) {
        return BBFlowNative.hasField(declaring, field, descriptor) ? offset(declaring, field) : -1;
    }

    @Hidden
    private static long offset(Class<?> declaring, String field) {
        try {
            return U.objectFieldOffset(declaring, field);
        } catch (InternalError absent) {
            return -1;
        }
    }
}
