/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowLook - what may be in an Object: a buffer, a holder, carrier or container of some, an
 * object of track=, or none of these. Read by field, never by a call.
 */
package java.lang;

import static java.lang.BBFlowGuard.*;
import static java.lang.BBFlowHandle.*;
import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowRecords.*;
import static java.lang.BBFlowWalk.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowLook {
    private static final Unsafe U = Unsafe.getUnsafe();

    private BBFlowLook() {
    }

    /**
     * How many more elements this step may look at: `left`, or -1 before the first one. `depth`: of lists
     * in lists, and CARRIER_DEPTH for each carrier on the way.
     */
    @Hidden
    static int stepAny(Object o, int site, int left, int depth) {
        long h = o != null && BBFlowTrack.now != null ? BBFlowTrack.handleOf(o) : -1;
        if (h != -1 && h != 0)
            stepTo(h, site);
        for (int i = 0; i < MAX_UNWRAP && o != null && h == -1; i++) {
            long kind = kindOf(o);
            if ((kind & (KIND_FIELD | KIND_MAPPED)) != 0) {
                BBFlowFast.step(o, site);
                break;
            }
            if ((kind & KIND_ELEMENTS) != 0)
                return stepElements(o, kind, site, left < 0 ? U.getInt(SHARED + SHARED_ELEMENTS) : left,
                        depth);
            if ((kind & KIND_CARRIER) != 0) {
                depth += CARRIER_DEPTH;
                if (depth > MAX_CARRIERS * CARRIER_DEPTH + MAX_NESTED) {
                    U.getAndAddLong(null, SHARED + SHARED_CUT, 1);
                    break;
                }
                if ((kind & KIND_HOLDER) == 0)
                    return stepFields(o, kind,
                            site, left < 0 ? U.getInt(SHARED + SHARED_ELEMENTS) : left, depth);
            }
            if ((kind & KIND_HOLDER) == 0) {
                if ((kind & KIND_UNKNOWN_HOLDER) != 0)
                    count(TALLY_HOLDERS_UNKNOWN);
                break;
            }
            o = U.getReference(o, kind >>> 32);
        }
        return left;
    }

    /** The elements of an array or list, read by field; those beyond the number are counted. */
    @DontInline
    @Hidden
    private static int stepElements(Object o, long kind, int site, int left, int depth) {
        long at = kind >>> 32 & 0xffff, sizeAt = kind >>> 48;
        if ((kind & KIND_RING) != 0)
            return stepRing((Object[]) U.getReference(o, at), U.getInt(o, sizeAt), site, left, depth);
        Object[] all = (Object[]) (at == 0 ? o : U.getReference(o, at));
        int n = all == null ? 0 : sizeAt == 0 ? all.length : Math.min(all.length, U.getInt(o, sizeAt));
        int i = 0;
        if ((depth & CARRIER_DEPTH - 1) < MAX_NESTED)
            for (; i < n && left > 0; i++)
                left = stepAny(all[i], site, left - 1, depth + 1);
        if (i < n)
            U.getAndAddLong(null, SHARED + SHARED_CUT, n - i);
        return left;
    }

    /**
     * From the head on, up to a place without an element: an ArrayDeque has no nulls. Those beyond the
     * number count once. Another thread may change it meanwhile; it is read as it is.
     */
    @DontInline
    @Hidden
    private static int stepRing(Object[] all, int i, int site, int left, int depth) {
        int length = all == null ? 0 : all.length;
        for (int n = 0; n < length && i >= 0 && i < length; n++) {
            Object element = all[i];
            if (element == null)
                break;
            if (left <= 0 || (depth & CARRIER_DEPTH - 1) >= MAX_NESTED) {
                U.getAndAddLong(null, SHARED + SHARED_CUT, 1);
                break;
            }
            left = stepAny(element, site, left - 1, depth + 1);
            i = i + 1 < length ? i + 1 : 0;
        }
        return left;
    }

    /** The fields of a carrier that has several. */
    @DontInline
    @Hidden
    private static int stepFields(Object o, long kind, int site, int left, int depth) {
        for (long all = kind >>> 32; all != 0; all >>>= 8) {
            Object field = U.getReference(o, (all & 0xff) << 2);
            if (field == null)
                continue;
            if (left > 0)
                left = stepAny(field, site, left - 1, depth);
            else
                U.getAndAddLong(null, SHARED + SHARED_CUT, 1);
        }
        return left;
    }

    /** Of several fields the first that is not null. */
    @Hidden
    private static Object behind(Object o, long kind) {
        if ((kind & KIND_HOLDER) != 0)
            return U.getReference(o, kind >>> 32);
        Object field = null;
        if ((kind & KIND_CARRIER) != 0)
            for (long all = kind >>> 32; all != 0 && field == null; all >>>= 8)
                field = U.getReference(o, (all & 0xff) << 2);
        return field;
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
            o = behind(o, kind);
        }
        return 0;
    }

    /** Another object may still be the same life: a view of the parameter. */
    @DontInline
    @Hidden
    static void exitSlow(Object returned, Object p, Object q, int site) {
        reserveStack();
        try {
            long f = handleOf(returned);
            if (f == 0 || f != handleOf(p) && f != handleOf(q))
                BBFlowShim.stepObject(returned, site);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Is the site `entry` on the path of the life of `returned`? False where it has none. */
    @Hidden
    static boolean isBehind(Object returned, int entry) {
        long f = handleOf(returned);
        if (f == 0 || f == IGN || f == NEVER)
            return false;
        long path = U.getLong(recordAt(f) + REC_PATH);
        int node = ((path ^ f) >>> 32) == 0 ? (int) path : 0;
        for (int i = 0; i < 1 << 14 && node != 0; i++) {
            if (U.getInt(nodeAt(node) + NODE_SITE) == entry)
                return true;
            node = U.getInt(nodeAt(node) + NODE_PARENT);
        }
        return false;
    }
}
