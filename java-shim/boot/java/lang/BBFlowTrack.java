/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowTrack - objects of track=: lives of the application's own classes, from the end
 * of a constructor to the entry of the method that closes them. They are found as in map mode
 * (BBFlowMap): by identity hash, proved by the record's slot.
 *
 * A life is opened by a constructor's hook only: what was made before the agent came, cloned or
 * deserialised is not followed. An object that is not in the table is closed or not followed. Both
 * hooks are in every class that may be meant; the class of the object decides
 * (agent/classes/custom_types.c).
 */
package java.lang;

import static java.lang.BBFlowLayout.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowTrack extends ClassValue<Long> {
    private static final int TRIES = 16;

    private static final Unsafe U = Unsafe.getUnsafe();

    /** The answers for the track= in force, null without one. Written by the agent's thread. */
    static BBFlowTrack now;

    private BBFlowTrack() {
    }

    /** A list is in force from here on, or none: what classes were for another is forgotten. */
    @Hidden
    private static void begin(boolean on) {
        now = on ? new BBFlowTrack() : null;
    }

    @Override
    @Hidden
    protected Long computeValue(Class<?> type) {
        try {
            return BBFlowNative.classifyTracked(type);
        } catch (Throwable t) {
            BBFlowGuard.passStop(t); // not cached as the answer
            return 0L;
        }
    }

    @Hidden
    private static long of(Object o) {
        BBFlowTrack answers = now;
        return answers != null ? answers.get(o.getClass()) : 0;
    }

    /** Constructors nest: the first to end opens the life. */
    @Hidden
    static void made(Object o) {
        long kind = of(o);
        if (kind == 0 || BBFlowRoots.paused() || BBFlowMap.find(o) != 0)
            return;
        int node = root((int) (kind >>> 32), o);
        if (node == NODE_IGNORE)
            return;
        for (int i = 0; node > NODE_BEFORE_RESET && i < TRIES; i++)
            if (BBFlowMap.openIn(o, node, BBFlowRecords.refsOf(kind, MEM_KIND), 0, 0)
                    != BBFlowMap.NOT_IN)
                return;
        BBFlowRecords.count(TALLY_DROPPED_LIVES);
    }

    /** By the object's hash: every constructor of the chain draws the same. */
    @Hidden
    static int root(int site, Object o) {
        int sample = U.getInt(SHARED + SHARED_SAMPLE);
        long random = BBFlowRoots.mix(System.identityHashCode(o) * 0x9e3779b97f4a7c15L);
        return sample == 0 ? BBFlowRoots.rootNode(site, MEM_KIND)
                : BBFlowRoots.isDrawn(sample, random) ? BBFlowRoots.rateRoot(site, sample)
                : NODE_IGNORE;
    }

    @Hidden
    static void closed(Object o, int entries) {
        long h = (of(o) >>> 16 & entries) != 0 ? BBFlowMap.find(o) : 0;
        if (h != 0)
            BBFlowClose.close(o, h);
    }

    /** The handle of an object's life; 0: none, or it is over; -1: the object is none of these. */
    @Hidden
    static long handleOf(Object o) {
        return of(o) != 0 ? BBFlowMap.find(o) : -1;
    }
}
