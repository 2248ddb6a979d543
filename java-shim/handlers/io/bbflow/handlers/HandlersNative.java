// SPDX-License-Identifier: Apache-2.0
package io.bbflow.handlers;

/** The natives of handlers= (agent/handlers_natives.c). They wait for the agent thread, and never run in it. */
final class HandlersNative {
    static final int DIRECT = 1, HEAP = 2; // enum bbf_loss_kind

    private HandlersNative() {
    }

    /**
     * Losses of these kinds since `base`, which is from an answer before (null: since bbflow began
     * to follow, or since the last reset). {new base, of all kinds, long[] {direct, heap}, byte[] direct flows, byte[] heap
     * flows}; flows are lines of UTF-8. Null: bbflow does not follow this JVM, or has no memory.
     */
    static native Object[] losses(int kinds, long[] base);

    /**
     * Note that a thread works for this handler or loader, until leave(). False: one does, perhaps of an
     * earlier start of bbflow, or 80 do.
     */
    static native boolean enter(Object object);

    static native void leave(Object object);

    /** What `bbflow status` shows: Pusher.report(), and the last failure (UTF-8; null: none). */
    static native void counted(long[] counts, byte[] failure);
}
