// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.tracker.trie;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** A step of a path, as it was when it was asked for. Any thread. */
public final class ImprintNode {
    private final String signature;
    private final int refCount;
    private final long traversals, clean, leaks;
    private final Map<String, ImprintNode> children = new LinkedHashMap<String, ImprintNode>();

    ImprintNode(String signature, int refCount, long traversals, long clean, long leaks) {
        this.signature = signature;
        this.refCount = refCount;
        this.traversals = traversals;
        this.clean = clean;
        this.leaks = leaks;
    }

    void add(ImprintNode child) {
        String key = child.signature + "[ref=" + child.refCount + "]";
        for (int i = 2; children.containsKey(key); i++) // overloads
            key = child.signature + "[ref=" + child.refCount + "]#" + i;
        children.put(key, child);
    }

    /** "com.app.Handler.read" */
    public String getMethodSignature() {
        return signature;
    }

    /** Before the last dot of {@link #getMethodSignature}. */
    public String getClassName() {
        int dot = signature.lastIndexOf('.');
        return dot < 0 ? "" : signature.substring(0, dot);
    }

    public String getMethodName() {
        return signature.substring(signature.lastIndexOf('.') + 1);
    }

    /** The least count of its range: 0, 1, 3, 6. */
    public int getRefCount() {
        return refCount;
    }

    /** The range: 0 for 0, 1 for 1 and 2, 2 for 3 to 5, 3 for 6 and more. */
    public byte getRefCountBucket() {
        return BoundedImprintTrie.bucketRefCount(refCount);
    }

    /** Objects that came here. */
    public long getTraversalCount() {
        return traversals;
    }

    /** Of these, those that were released with this as their last step. */
    public long getCleanCount() {
        return clean;
    }

    /** Of these, those that were lost here. */
    public long getLeakCount() {
        return leaks;
    }

    public boolean isLeaf() {
        return children.isEmpty();
    }

    /** By signature and count. */
    public Map<String, ImprintNode> getChildren() {
        return Collections.unmodifiableMap(children);
    }
}
