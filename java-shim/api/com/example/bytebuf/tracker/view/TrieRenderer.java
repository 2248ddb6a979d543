// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.tracker.view;

import com.example.bytebuf.tracker.internal.Bbflow;
import com.example.bytebuf.tracker.trie.BoundedImprintTrie;

/**
 * bbflow's reports as texts, of the moment of the call; "" without bbflow. Any thread; nothing is thrown. A
 * text of more than 1 MiB is cut at a line, and its last line says so.
 */
public final class TrieRenderer {
    public TrieRenderer(BoundedImprintTrie trie) {
        if (trie == null)
            throw new NullPointerException("trie");
    }

    /** As {@code bbflow tree}. */
    public String renderIndentedTree() {
        return Bbflow.report("tree");
    }

    /** As {@code bbflow llm}. */
    public String renderForLLM() {
        return Bbflow.report("llm");
    }

    /** As {@code bbflow summary}. */
    public String renderSummary() {
        return Bbflow.report("summary");
    }
}
