/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowComposites - who owns the components of a composite (design.md: lives, ADR 22): a
 * word of the component's record names the composite's life. And where a CompositeByteBuf keeps its
 * components, asked once per class.
 */
package java.lang;

import static java.lang.BBFlowHandle.*;
import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowLook.*;
import static java.lang.BBFlowRecords.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowComposites extends ClassValue<Long> {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final BBFlowComposites AT = new BBFlowComposites();

    private BBFlowComposites() {
    }

    /** Offset of CompositeByteBuf.components, an array; -1 if there is none. */
    @Override
    @Hidden
    protected Long computeValue(Class<?> type) {
        try {
            while (type != null && !type.getName().endsWith("netty.buffer.CompositeByteBuf"))
                type = type.getSuperclass();
            return type != null ? BBFlowKind.offset(type, "components", "[L") : -1L;
        } catch (Throwable absent) {
            BBFlowGuard.passStop(absent); // not cached as the answer
            return -1L;
        }
    }

    /** component is a buffer, or a CompositeByteBuf.Component. False: it was the composite's already. */
    @Hidden
    static boolean adopt(Object composite, Object component) {
        long c = handleOf(component), k = handleOf(composite);
        if (c == 0 || c == IGN || c == NEVER || !isOpen(c))
            return true;
        if (k == 0) // in its constructor: the root hook comes later
            k = firstSeen(composite);
        if (k == 0 || k == IGN || k == NEVER || k == c || !isOpen(k))
            return true;
        long word = ownerWord(c, k);
        if (U.getLong(ownerAt(c)) == word)
            return false;
        U.putLong(ownerAt(c), word);
        return true;
    }

    /** From the last one back to the first that it has already. */
    @Hidden
    static void adoptLast(Object composite) {
        long k = handleOf(composite), at = AT.get(composite.getClass());
        if (k == 0 || k == IGN || k == NEVER || !isOpen(k) || at < 0)
            return;
        Object[] parts = (Object[]) U.getReference(composite, at);
        for (int i = parts == null ? 0 : parts.length; i-- > 0;)
            if (parts[i] != null && !adopt(composite, parts[i]))
                return;
    }

    @Hidden
    static void disown(Object composite, int from, int to) {
        long k = handleOf(composite), at = AT.get(composite.getClass());
        if (k == 0 || k == IGN || k == NEVER || at < 0)
            return;
        Object[] parts = (Object[]) U.getReference(composite, at);
        for (int i = Math.max(from, 0); i < to && i < parts.length; i++) {
            long c = handleOf(parts[i]);
            if (c != 0 && c != IGN && c != NEVER && U.getLong(ownerAt(c)) == ownerWord(c, k))
                U.putLong(ownerAt(c), 0);
        }
    }

    @Hidden
    static long firstSeen(Object composite) {
        long kind = kindOf(composite);
        if ((kind & KIND_FIELD) != 0 && (kind & KIND_OWNER) != 0)
            return BBFlowRoots.openFirst(composite, kind);
        return (kind & KIND_MAPPED) != 0 ? BBFlowMap.firstSight(composite) : 0;
    }

    @Hidden
    static long ownerAt(long f) {
        return AFTER + (f & LOW & RECORD_MASK) * AFTER_SIZE + AFTER_OWNER;
    }

    @Hidden
    static long ownerWord(long component, long composite) {
        long mask = (1L << OWNER_GENERATION_BITS) - 1;
        return ((component >>> 32 & mask) << OWNER_GENERATION_BITS | composite >>> 32 & mask)
                << OWNER_RECORD_BITS | composite & (1L << OWNER_RECORD_BITS) - 1;
    }
}
