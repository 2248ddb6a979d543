/*
 * java.lang.BBFlowKind - what the shim knows of a class (design D4): does it inherit the hidden
 * field, does it own a count, is it a view, wrapper or holder and behind which field. Asked off the
 * hot path only; the tables are the agent's (agent/netty.c).
 */
package java.lang;

import static java.lang.BBFlowLayout.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowKind extends ClassValue<Long> {
    static final BBFlowKind KINDS = new BBFlowKind();
    private static final Unsafe U = Unsafe.getUnsafe();

    private BBFlowKind() {
    }

    /** KIND_ bits, and where fields are: see trie/layout.h. */
    @Hidden
    private static native long classify(Class<?> type);

    @Hidden
    private static native String fieldName(int number);

    /**
     * KIND_ bits in the low half; in the high half the offset of the view's or holder's field, of an
     * owner's maxCapacity (0: not known).
     */
    @Override
    @Hidden
    protected Long computeValue(Class<?> type) {
        try {
            long many = elements(type);
            if (many != 0)
                return many;
            long told = classify(type), kind = told & 0xffffffffL;
            int depth = (int) (told >>> KIND_BYTEBUF_DEPTH) & KIND_NO_DEPTH;
            if (depth != KIND_NO_DEPTH && offset(up(type, depth), "$bbf") == BBFlowShim.OFF)
                kind |= KIND_FIELD;
            else if (depth != KIND_NO_DEPTH)
                kind = (kind & KIND_NEVER) != 0 ? 0 : kind | KIND_MAPPED;
            if ((kind & KIND_COUNTER) != 0)
                return withOffset(kind, offset(type, "value"), KIND_COUNTER);
            if ((kind & KIND_MAPPED) != 0 && (kind & (KIND_COUNT_INT | KIND_COUNT_REF)) != 0)
                return withOffset(kind,
                        offset(up(type, (int) (told >>> KIND_FIELD_DEPTH) & KIND_NO_DEPTH), "refCnt"),
                        KIND_COUNT_INT | KIND_COUNT_REF);
            if ((kind & (KIND_VIEW | KIND_HOLDER)) == 0)
                return (kind & KIND_OWNER) != 0 ? kind | maxCapacity(type) << 32 : kind;
            long at = offset(up(type, (int) (told >>> KIND_FIELD_DEPTH) & KIND_NO_DEPTH),
                    fieldName((int) (told >>> KIND_FIELD_NAME)));
            if (at >= 0)
                return kind | at << 32;
            // Another version keeps it elsewhere: counted, not guessed.
            return kind & ~(KIND_VIEW | KIND_HOLDER)
                    | ((kind & KIND_HOLDER) != 0 ? KIND_UNKNOWN_HOLDER : KIND_FOREIGN);
        } catch (Throwable t) {
            return 0L;
        }
    }

    /**
     * Arrays, and the containers of design D4: exactly these classes, for a field of a subclass may
     * mean something else. What holds one object is a holder.
     */
    @Hidden
    private static long elements(Class<?> type) {
        if (type.isArray())
            return type.getComponentType().isPrimitive() ? 0 : KIND_ELEMENTS;
        String name = type.getName();
        if (name.equals("java.util.ArrayList"))
            return list(offset(type, "elementData"), offset(type, "size"));
        if (name.equals("java.util.Arrays$ArrayList"))
            return list(offset(type, "a"), 0);
        if (name.endsWith("netty.handler.codec.CodecOutputList"))
            return list(offset(type, "array"), offset(type, "size"));
        if (name.equals("java.util.Optional"))
            return withOffset(KIND_HOLDER, offset(type, "value"), KIND_HOLDER);
        if (name.equals("java.util.Collections$UnmodifiableRandomAccessList"))
            return withOffset(KIND_HOLDER, offset(type.getSuperclass(), "list"), KIND_HOLDER);
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
        return type != null ? Math.max(0, offset(type, "maxCapacity")) : 0;
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

    @Hidden
    private static long offset(Class<?> declaring, String field) {
        try {
            return U.objectFieldOffset(declaring, field);
        } catch (InternalError absent) {
            return -1;
        }
    }
}
