// SPDX-License-Identifier: Apache-2.0
package io.bbflow.jmx;

/**
 * io.bbflow:type=Tracker. Numbers are a second old at most; each text is made when it is asked for, and is
 * cut at 1 MiB, which its last line says. Any thread; IllegalStateException says why there is no answer.
 */
public interface TrackerMXBean {
    String getVersion();

    long getLives();

    long getReleased();

    /** Opened, and neither released nor collected. */
    long getActiveFlows();

    long getActiveBytes();

    long getLeakedBuffers();

    long getLeakedBytes();

    /** Open for longer than age=. */
    long getAgedBuffers();

    long getUsesAfterRelease();

    long getDroppedSteps();

    long getDroppedLives();

    long getRootCount();

    /** Places where buffers were lost. */
    long getLeakPaths();

    /** One buffer in this number is followed; above 1 the other numbers are estimates. */
    long getSample();

    /** Notifications that had no room because listeners are slow, since the registration. */
    long getDroppedNotifications();

    /** The formats of report and exportToFile. */
    String[] getFormats();

    String getSummary();

    String getStatus();

    String tree();

    String llm();

    /** A report in one of the formats that are text; collectFirst: ask the JVM for a collection before. */
    String report(String format, boolean collectFirst);

    /** Zero the counters; nodes and open lives stay. */
    String reset();

    /** Also empty the trie. */
    String resetNodes();

    /** Write a report to a file of the JVM's machine; format null or "": by the extension. Returns what was written. */
    String exportToFile(String path, String format);
}
