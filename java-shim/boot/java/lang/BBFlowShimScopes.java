/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowShimScopes - what Netty's event loops and channels call with scopes=on, and only
 * then: the same rules as those of BBFlowShim. BBFlowScopes has what is done.
 */
package java.lang;

import static java.lang.BBFlowGuard.*;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.Hidden;

public final class BBFlowShimScopes {
    private BBFlowShimScopes() {
    }

    /** At the entry of the constructor of a pipeline. */
    @DontInline
    @Hidden
    public static void madeChannel(Object channel) {
        reserveStack();
        reserveStackSlow();
        try {
            BBFlowScopes.madeChannel(channel);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** An event loop begins to read or to connect; of: the channel's configuration or Unsafe. */
    @DontInline
    @Hidden
    public static void reads(Object of) {
        reserveStack();
        reserveStackSlow();
        try {
            BBFlowScopes.reads(of);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** At the entry of a pipeline's methods that begin an event. */
    @DontInline
    @Hidden
    public static void fires(Object pipeline) {
        reserveStack();
        reserveStackSlow();
        try {
            BBFlowScopes.fires(pipeline);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** A task is given to an event loop. */
    @DontInline
    @Hidden
    public static void queues(Object task) {
        reserveStack();
        reserveStackSlow();
        try {
            BBFlowScopes.queues(task);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** At the entry of AbstractEventExecutor.safeExecute. */
    @DontInline
    @Hidden
    public static void runsSafely(Object task) {
        reserveStack();
        reserveStackSlow();
        try {
            BBFlowScopes.runs(task, true);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** At the entry of AbstractEventExecutor.runTask, which newer ones call from there. */
    @DontInline
    @Hidden
    public static void runs(Object task) {
        reserveStack();
        reserveStackSlow();
        try {
            BBFlowScopes.runs(task, false);
        } catch (Throwable t) {
            failed(t);
        }
    }
}
