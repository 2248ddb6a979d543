// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.tracker.trie;

import com.example.bytebuf.tracker.ByteBufFlowTracker;
import com.example.bytebuf.tracker.internal.Bbflow;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The paths that bbflow knows. Each method asks anew. Any thread; nothing is thrown. */
public final class BoundedImprintTrie {
    private static final BoundedImprintTrie INSTANCE = new BoundedImprintTrie();
    private static final int FIELDS = 6;

    private BoundedImprintTrie() {
    }

    /** That of the tracker; there is one. */
    public static BoundedImprintTrie of(ByteBufFlowTracker tracker) {
        return INSTANCE;
    }

    public int getRootCount() {
        return number(Bbflow.ROOTS);
    }

    public int getNodeCount() {
        return number(Bbflow.NODES);
    }

    /** {@code maxNodes=}; 0 without bbflow. */
    public int getMaxNodes() {
        return number(Bbflow.MAX_NODES);
    }

    /** {@code maxDepth=}; 0 without bbflow. */
    public int getMaxDepth() {
        return number(Bbflow.MAX_DEPTH);
    }

    private static int number(int which) {
        return (int) Math.min(Bbflow.numbers()[which], Integer.MAX_VALUE);
    }

    /** As {@link ByteBufFlowTracker#reset}. */
    public void clear() {
        Bbflow.reset();
    }

    /** 0 for 0, 1 for 1 and 2, 2 for 3 to 5, 3 for 6 and more. */
    public static byte bucketRefCount(int count) {
        return (byte) (count <= 0 ? 0 : count <= 2 ? 1 : count <= 5 ? 2 : 3);
    }

    /**
     * The roots with all below them, by {@link ImprintNode#getMethodSignature}, those that most objects came
     * from first. Of more than a mebibyte of names the rest is left out; counts have all.
     */
    public Map<String, ImprintNode> getRoots() {
        List<ImprintNode> nodes = new ArrayList<ImprintNode>(), roots = new ArrayList<ImprintNode>();
        List<Integer> parents = new ArrayList<Integer>();
        for (String line : Bbflow.report("nodes").split("\n")) {
            String[] fields = line.split(" ", FIELDS);
            if (fields.length < FIELDS || !isNode(fields))
                break; // cut, or why there is no answer
            ImprintNode node = new ImprintNode(fields[5], Integer.parseInt(fields[1]), Long.parseLong(fields[2]),
                    Long.parseLong(fields[3]), Long.parseLong(fields[4]));
            nodes.add(node);
            parents.add(Integer.parseInt(fields[0]));
        }
        for (int i = 0; i < nodes.size(); i++) {
            int parent = parents.get(i);
            if (parent < 0)
                roots.add(nodes.get(i));
            else if (parent < nodes.size())
                nodes.get(parent).add(nodes.get(i));
        }
        return named(roots);
    }

    private static boolean isNode(String[] fields) {
        for (int i = 0; i < FIELDS - 1; i++)
            if (!fields[i].matches(i < 2 ? "-1|[0-9]{1,9}" : "[0-9]{1,18}"))
                return false;
        return true;
    }

    /** A name that several roots have (sample=, overloads) gets a number behind it. */
    private static Map<String, ImprintNode> named(List<ImprintNode> roots) {
        Collections.sort(roots, (a, b) -> Long.compare(b.getTraversalCount(), a.getTraversalCount()));
        Map<String, ImprintNode> all = new LinkedHashMap<String, ImprintNode>();
        for (ImprintNode root : roots) {
            String name = root.getMethodSignature();
            for (int i = 2; all.containsKey(name); i++)
                name = root.getMethodSignature() + "#" + i;
            all.put(name, root);
        }
        return Collections.unmodifiableMap(all);
    }
}
