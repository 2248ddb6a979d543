/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowUsage - what of a buffer's capacity was written when it is released (ADR 53): its
 * writerIndex, read by field. Asked only of lives that were open when a second began.
 */
package java.lang;

import static java.lang.BBFlowLayout.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowUsage extends ClassValue<Long> {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final BBFlowUsage WRITER_INDEX = new BBFlowUsage();

    private BBFlowUsage() {
    }

    /** Where objects of the class have their writerIndex; 0: it is not known. */
    @Override
    @Hidden
    protected Long computeValue(Class<?> type) {
        while (type != null && !type.getName().endsWith("netty.buffer.AbstractByteBuf"))
            type = type.getSuperclass();
        return type != null ? Math.max(0, BBFlowKind.offset(type, "writerIndex", "I")) : 0L;
    }

    /**
     * Bytes that were written into a buffer, at the entry of handleRelease(true), or USAGE_NOT_. refs,
     * parent: words of its life. It throws nothing.
     */
    @DontInline
    @Hidden
    static int written(Object o, int refs, long parent) {
        // The memory of a slice is its owner's, that of a composite its components'.
        if (parent != 0 || (refs >>> MEM_SHIFT & MEM_KIND) == MEM_COMPOSITE)
            return USAGE_NOT_ASKED;
        try {
            long field = WRITER_INDEX.get(o.getClass());
            return field != 0 ? Math.max(0, U.getInt(o, field)) : USAGE_NOT_READ;
        } catch (Throwable t) {
            BBFlowGuard.failed(t);
            return USAGE_NOT_READ;
        }
    }
}
