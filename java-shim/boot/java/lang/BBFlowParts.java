/*
 * java.lang.BBFlowParts - where a composite of a Netty keeps its components, asked once per class.
 */
package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowParts extends ClassValue<Long> {
    static final BBFlowParts AT = new BBFlowParts();

    private BBFlowParts() {
    }

    /** Offset of CompositeByteBuf.components, an array; -1 if there is none. */
    @Override
    @Hidden
    protected Long computeValue(Class<?> type) {
        try {
            while (type != null && !type.getName().endsWith("netty.buffer.CompositeByteBuf"))
                type = type.getSuperclass();
            return type != null ? Unsafe.getUnsafe().objectFieldOffset(type, "components") : -1L;
        } catch (Throwable absent) {
            return -1L;
        }
    }
}
