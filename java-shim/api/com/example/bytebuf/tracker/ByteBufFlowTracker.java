// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.tracker;

import com.example.bytebuf.tracker.internal.Bbflow;
import com.example.bytebuf.tracker.trie.BoundedImprintTrie;

/**
 * bbflow as the Java tracker's users know it. Any thread; nothing is thrown. Without bbflow in the JVM
 * nothing is recorded, and all numbers are 0.
 *
 * <p>{@link #recordMethodCall} takes well below a microsecond; the other methods wait until bbflow has
 * looked at all objects that are open, 30 s at most.
 */
public final class ByteBufFlowTracker {
    private static final ByteBufFlowTracker INSTANCE = new ByteBufFlowTracker();

    private ByteBufFlowTracker() {
    }

    public static ByteBufFlowTracker getInstance() {
        return INSTANCE;
    }

    /**
     * The object is in that method now. A buffer gets a step; its count and its release are what bbflow sees.
     * Any other object is followed from the first call to the one with a count of 0.
     */
    public void recordMethodCall(Object obj, String className, String methodName, int refCount) {
        Bbflow.record(obj, className, methodName, refCount);
    }

    /** The signature is not looked at: it is the two names. */
    public void recordMethodCall(Object obj, String className, String methodName, String methodSignature,
            int refCount) {
        Bbflow.record(obj, className, methodName, refCount);
    }

    /** Each of its methods has the state of that moment. */
    public BoundedImprintTrie getTrie() {
        return BoundedImprintTrie.of(this);
    }

    /** Objects that are open. */
    public int getActiveFlowCount() {
        return (int) Math.min(Bbflow.numbers()[Bbflow.LIVE], Integer.MAX_VALUE);
    }

    /** "Seen: 3, Cleaned: 2, Leaked: 1 (33.33%), GC-detected: 1, Active: 0" */
    public String getTrackingStats() {
        long[] n = Bbflow.numbers();
        double percent = n[Bbflow.LIVES] == 0 ? 0 : 100.0 * n[Bbflow.LEAKED] / n[Bbflow.LIVES];
        return String.format((java.util.Locale) null, "Seen: %d, Cleaned: %d, Leaked: %d (%.2f%%), GC-detected: %d, Active: %d",
                n[Bbflow.LIVES], n[Bbflow.RELEASED], n[Bbflow.LEAKED], percent, n[Bbflow.LEAKED], n[Bbflow.LIVE]);
    }

    /** All counts begin at 0. Open objects stay open: they are no leaks. */
    public void reset() {
        Bbflow.reset();
    }

    /** Counts the objects that the garbage collector has taken. Asks for no collection. */
    public void ensureGCProcessed() {
        Bbflow.numbers();
    }

    /** As {@link #ensureGCProcessed}: objects that are open when the JVM ends are in use, and no leaks. */
    public void onShutdown() {
        Bbflow.numbers();
    }
}
