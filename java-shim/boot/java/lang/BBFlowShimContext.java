/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowShimContext - what instrumented methods call with context=on, and only then: the same
 * rules as those of BBFlowShim. BBFlowContext reads what the hooks see.
 */
package java.lang;

import static java.lang.BBFlowGuard.*;
import static java.lang.BBFlowLayout.*;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.Hidden;

public final class BBFlowShimContext {
    private BBFlowShimContext() {
    }

    /** A step, and what is seen beside the path; site with SIGHT_EXACT: o is a ByteBuf by its type. */
    @DontInline
    @Hidden
    public static void stepSeen(Object o, int site) {
        stepSeenIn(o, null, site);
    }

    /** In a method that has a context or channel. */
    @DontInline
    @Hidden
    public static void stepSeenIn(Object o, Object in, int site) {
        reserveStack();
        if ((site & SIGHT_EXACT) != 0)
            BBFlowShim.step(o, site & META_SITE);
        else
            BBFlowShim.stepObject(o, site);
        reserveStackSlow();
        try {
            BBFlowContext.seen(o, in, site & META_SITE);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** At the entry of touch(Object). */
    @DontInline
    @Hidden
    public static void touched(Object o, Object hint) {
        reserveStack();
        reserveStackSlow();
        try {
            BBFlowContext.touched(o, hint);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Where an exception handler of a followed method begins. */
    @DontInline
    @Hidden
    public static void caught(Object thrown, int site) {
        reserveStack();
        reserveStackSlow();
        try {
            BBFlowContext.caught(thrown, site);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** At the entry of the method of a context that gives an exception to its handler. */
    @DontInline
    @Hidden
    public static void pipelineCaught(Object context, Object thrown) {
        reserveStack();
        reserveStackSlow();
        try {
            BBFlowContext.pipelineCaught(context, thrown);
        } catch (Throwable t) {
            failed(t);
        }
    }
}
