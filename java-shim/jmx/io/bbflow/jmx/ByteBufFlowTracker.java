// SPDX-License-Identifier: Apache-2.0
package io.bbflow.jmx;

/** The Java tracker's MBean over that of bbflow. */
public final class ByteBufFlowTracker implements ByteBufFlowTrackerMBean {
    private final Tracker tracker;

    ByteBufFlowTracker(Tracker tracker) {
        this.tracker = tracker;
    }

    private static int toInt(long number) {
        return (int) Math.min(number, Integer.MAX_VALUE);
    }

    @Override
    public String getTreeView() {
        return tracker.tree();
    }

    @Override
    public String getLLMView() {
        return tracker.llm();
    }

    @Override
    public String getSummary() {
        return tracker.report("compat", false);
    }

    @Override
    public int getRootCount() {
        return toInt(tracker.getRootCount());
    }

    @Override
    public int getActiveFlowCount() {
        return toInt(tracker.getActiveFlows());
    }

    @Override
    public void reset() {
        tracker.reset();
    }

    @Override
    public void exportToFile(String path, String format) {
        tracker.exportToFile(path, format == null || format.isEmpty() ? "tree" : format);
    }
}
