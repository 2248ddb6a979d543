/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowApi - what bbflow-api.jar calls (java-shim/api, docs/adr/0068): the application itself
 * says where an object is, and asks for reports. Not called by hooks: record() is bounded and throws
 * nothing, the others wait for the agent thread.
 *
 * A buffer's step is as a hook's. Any other object has a life in map mode's table (BBFlowMap), as one of
 * track=: from the first call that names it to the one whose metric is 0.
 */
package java.lang;

import static java.lang.BBFlowGuard.*;
import static java.lang.BBFlowLayout.*;

import jdk.internal.misc.Unsafe;

public final class BBFlowApi extends ClassValue<Integer> {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final int PLACES = 1024, TRIES = 16;

    /** Sites by name. A place that another name took is asked for again: an entry never changes. */
    private static final BBFlowPlace[] KNOWN = new BBFlowPlace[PLACES];
    private static final BBFlowApi CLASSES = new BBFlowApi();

    private BBFlowApi() {
    }

    private static BBFlowPlace place(String type, String method) {
        int at = (31 * type.hashCode() + method.hashCode()) * 0x9e3779b9 >>> 22;
        BBFlowPlace known = KNOWN[at];
        if (known != null && known.type.equals(type) && known.method.equals(method))
            return known;
        known = new BBFlowPlace(type, method, BBFlowNative.apiSite(type, method, true),
                BBFlowNative.apiSite(type, method, false));
        if (known.root != 0 && known.step != 0)
            KNOWN[at] = known; // racy: its fields are final
        return known;
    }

    /** The number under which the class's objects are counted when they end. */
    @Override
    protected Integer computeValue(Class<?> type) {
        return BBFlowNative.apiClass(type);
    }

    /** The object is in that method now; metric 0: it is closed. */
    public static void record(Object o, String type, String method, int metric) {
        reserveStack();
        reserveStackSlow();
        try {
            if (o != null && type != null && method != null)
                record(o, place(type, method), Math.max(metric, 0));
        } catch (Throwable t) {
            failed(t);
        }
    }

    private static void record(Object o, BBFlowPlace place, int metric) {
        long h = BBFlowTrack.now != null ? BBFlowTrack.handleOf(o) : -1;
        boolean tracked = h != -1;
        if (!tracked) {
            long kind = BBFlowHandle.kindOf(o);
            if ((kind & (KIND_FIELD | KIND_MAPPED | KIND_ELEMENTS | KIND_CARRIER | KIND_HOLDER)) != 0) {
                // 0: it was released, which the hook saw. Idle: nothing would end what a first sight opened.
                if (metric > 0 && !BBFlowHandle.idle())
                    BBFlowShim.stepObject(o, place.step);
                return;
            }
            h = BBFlowMap.find(o);
        }
        if (h != 0)
            move(o, h, place, metric);
        else if (!tracked && metric > 0)
            open(o, place, metric);
        java.lang.ref.Reference.reachabilityFence(o);
    }

    private static void move(Object o, long h, BBFlowPlace place, int metric) {
        if (place.step != 0)
            BBFlowWalk.stepTo(h, place.step);
        if (metric > 0)
            count(h, metric);
        else
            BBFlowClose.close(o, h);
    }

    private static void count(long h, int metric) {
        long refs = U.getLong(BBFlowRecords.recordAt(h) + REC_REFS);
        int is = (int) refs & REFS_COUNT, want = Math.min(metric, REFS_COUNT);
        if (((refs ^ h) >>> 32) == 0 && is != want)
            BBFlowWalk.refsOn(h, want - is);
    }

    private static void open(Object o, BBFlowPlace place, int metric) {
        if (BBFlowHandle.WINDOWS && BBFlowWindows.refuseRoots() || BBFlowRoots.paused())
            return;
        int number = CLASSES.get(o.getClass());
        int node = place.root != 0 ? BBFlowTrack.root(place.root, o) : 0;
        if (node == NODE_IGNORE)
            return;
        for (int i = 0; number != 0 && node > NODE_BEFORE_RESET && i < TRIES; i++) {
            if ((U.getInt(SHARED + SHARED_FLAGS) & SHARED_MAP) == 0 && !BBFlowNative.apiOpen())
                break;
            long h = BBFlowMap.openIn(o, node, BBFlowRecords.refsOf(number, MEM_KIND), 0, 0);
            if (h != BBFlowMap.NOT_IN) {
                if (BBFlowRecords.isOpen(h)) // neither full nor at a limit, which are counted
                    count(h, metric);
                return;
            }
        }
        BBFlowRecords.count(TALLY_DROPPED_LIVES);
    }

    // ---- reports: they wait for the agent thread, 30 s at most ----

    /** A byte, then text in UTF-8: 0 and the report, or 1 and the reason that it was not made. Null: no memory. */
    public static byte[] report(byte[] format) {
        try {
            return format != null ? BBFlowNative.apiReport(format) : null;
        } catch (Throwable t) {
            failed(t);
            return null;
        }
    }

    /** Numbers of a report, in the order of agent/jmx_natives.h. Null: bbflow is stopped. */
    public static long[] numbers() {
        try {
            return BBFlowNative.apiNumbers();
        } catch (Throwable t) {
            failed(t);
            return null;
        }
    }

    /** False: bbflow is stopped. */
    public static boolean reset() {
        try {
            return BBFlowNative.apiReset();
        } catch (Throwable t) {
            failed(t);
            return false;
        }
    }

    /** As track=type:method from here on. As report() has it: what was done, or why not. */
    public static byte[] track(byte[] entry) {
        try {
            return entry != null ? BBFlowNative.apiTrack(entry) : null;
        } catch (Throwable t) {
            failed(t);
            return null;
        }
    }
}
