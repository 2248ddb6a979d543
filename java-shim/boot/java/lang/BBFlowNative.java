/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowNative - the natives of all classes of the shim (agent/boot/natives.c), exported by
 * the agent. They never block, take no lock and call no Java, but for the questions that are asked once
 * per class, at the exit, and by the application itself (BBFlowApi).
 */
package java.lang;

import jdk.internal.vm.annotation.Hidden;

final class BBFlowNative {
    private BBFlowNative() {
    }

    /** Where key leads from node; node itself at a limit. */
    @Hidden
    static native int child(int node, int key);

    /** Root node of a site, 0 at a limit. */
    @Hidden
    static native int rootOf(int site);

    /** The twin of node in another refCnt bucket. */
    @Hidden
    static native int bucketOf(int node, int bucket);

    /** The life of a record was opened late: bbf_windows_freeze(). */
    @Hidden
    static native void freeze(int record);

    /** count lives of a class were released at node. */
    @Hidden
    static native void countReleased(int node, int classNumber, int count);

    @Hidden
    static native void unknownAt(int node);

    /**
     * A life at node was released this many seconds after it was opened. refs: the low half of its
     * word; bytes: its capacity, 0 = not to be summed up; written: of these, or USAGE_NOT_.
     */
    @Hidden
    static native void recordLifetime(int node, int seconds, int refs, int bytes, int written);

    /** 64 fresh records, linked; 0 at the limit. */
    @Hidden
    static native int bump();

    /** One record from the shared stack; 0 at the limit. */
    @Hidden
    static native int pop();

    @Hidden
    static native void push(int record);

    /** The life of a handle was used after its end; false: the stack says that it was not. */
    @Hidden
    static native boolean reportMisuse(long handle, int use, int classNumber, long tid);

    /** A step of a life that was released before. */
    @Hidden
    static native void stepAfterRelease(long handle, int site, int classNumber, long tid);

    /** Site of the method that calls retain or release; 0: there is none but Netty's and bbflow's. */
    @Hidden
    static native int caller(int use);

    /** A life of this handle was opened at an allocator's root: who allocates there is asked (ADR 49). */
    @Hidden
    static native void opened(long handle, int site);

    /** The agent thread has something to do. */
    @Hidden
    static native void wake();

    /** Site of "?first-seen Class"; 0 at the limit. */
    @Hidden
    static native int firstSite(int classNumber);

    /** KIND_ bits, and where fields are: see core/layout.h. Once per class. */
    @Hidden
    static native long classify(Class<?> type);

    @Hidden
    static native String fieldName(int number);

    /**
     * Does the class itself declare such a field, of its objects, whose descriptor begins so? A read
     * of another type as a reference crashes the JVM: the name alone does not prove it.
     */
    @Hidden
    static native boolean hasField(Class<?> type, String field, String descriptor);

    /** The name of the n-th field of the class itself through which a carrier is looked into; null: no more. */
    @Hidden
    static native String carrierField(Class<?> declaring, int n);

    /** Make the context of a record writable (context=on); false: no memory. */
    @Hidden
    static native boolean contextReach(int record);

    /** The number of a class's name for contexts; 0: no room. Once per class. */
    @Hidden
    static native int contextName(Class<?> type);

    /** Make the scope of a record writable (scopes=on); false: no memory. */
    @Hidden
    static native boolean scopeReach(int record);

    /** What a channel's or a task's key is marked with from now on. */
    @Hidden
    static native void scopeMark(int of, long key, int number);

    /** What it is marked with, 0: nothing; take: no longer. */
    @Hidden
    static native int scopeMarked(int of, long key, boolean take);

    /** BBFlowScope's; called by no hook, and these may wait for the agent thread. */
    static native byte[] scopeStart();

    static native int scopeNew();

    static native long scopeOpen(int number);

    static native long scopeLosses(int number);

    static native byte[] scopeReport(int number, int during, boolean gc);

    static native long[] scopeDuring(int number);

    static native byte[] scopeNote();

    /** Of track=: class number | entries << 16 | root site << 32; 0: none of them. Once per class. */
    @Hidden
    static native long classifyTracked(Class<?> type);

    /** The site of a method that BBFlowApi.record() names; 0: at the limit. Takes the site lock. */
    static native int apiSite(String type, String method, boolean root);

    /** Class number for objects that the application ends by BBFlowApi.record(); 0: at the limit. */
    static native int apiClass(Class<?> type);

    /** Make map mode's table writable. */
    static native boolean apiOpen();

    /** See BBFlowApi. These wait for the agent thread. */
    static native byte[] apiReport(byte[] format);

    static native long[] apiNumbers();

    static native boolean apiReset();

    static native byte[] apiTrack(byte[] entry);

    /** gc=exit: a bounded wait for the agent thread. */
    @Hidden
    static native void collect();

    /**
     * Does a native of the agent link yet? HotSpot looks into a library that was attached only once
     * Agent_OnAttach has returned, so the agent thread asks until it does.
     */
    @Hidden
    static native void ping();
}
