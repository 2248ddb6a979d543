// SPDX-License-Identifier: Apache-2.0
package io.bbflow.jmx;

/** jmx=compat: com.example:type=ByteBufFlowTracker, for clients of the Java tracker: its names and types. */
public interface ByteBufFlowTrackerMBean {
    String getTreeView();

    String getLLMView();

    String getSummary();

    int getRootCount();

    int getActiveFlowCount();

    void reset();

    /** format: "tree" or "llm". */
    void exportToFile(String path, String format);
}
