// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.api.metrics;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The losses since the snapshot before; immutable. A flow is a line for each path that lost buffers:
 * {@code root=R|final_ref=N|leak_count=N|leak_rate=P%|path=A[ref=N] -> B[ref=N]}.
 */
public final class MetricSnapshot {
    private final long captureTimestamp, totalDirectLeaks, totalHeapLeaks;
    private final List<String> directLeakFlows, heapLeakFlows;

    /** A list that is null counts as empty. */
    public MetricSnapshot(long captureTimestamp, long totalDirectLeaks, long totalHeapLeaks,
            List<String> directLeakFlows, List<String> heapLeakFlows) {
        this.captureTimestamp = captureTimestamp;
        this.totalDirectLeaks = totalDirectLeaks;
        this.totalHeapLeaks = totalHeapLeaks;
        this.directLeakFlows = copy(directLeakFlows);
        this.heapLeakFlows = copy(heapLeakFlows);
    }

    private static List<String> copy(List<String> flows) {
        return flows == null ? Collections.<String>emptyList()
                : Collections.unmodifiableList(new ArrayList<String>(flows));
    }

    /** Milliseconds since 1970. */
    public long getCaptureTimestamp() {
        return captureTimestamp;
    }

    /** Buffers of direct memory; 0 if they were not asked for. */
    public long getTotalDirectLeaks() {
        return totalDirectLeaks;
    }

    /** All other buffers; 0 if they were not asked for. */
    public long getTotalHeapLeaks() {
        return totalHeapLeaks;
    }

    /** The paths that lost most first. The totals count also what has no line here. */
    public List<String> getDirectLeakFlows() {
        return directLeakFlows;
    }

    /** As {@link #getDirectLeakFlows}. */
    public List<String> getHeapLeakFlows() {
        return heapLeakFlows;
    }

    @Override
    public String toString() {
        return "MetricSnapshot{captureTimestamp=" + captureTimestamp + ", totalDirectLeaks=" + totalDirectLeaks
                + ", totalHeapLeaks=" + totalHeapLeaks + ", directLeakFlows=" + directLeakFlows.size()
                + ", heapLeakFlows=" + heapLeakFlows.size() + "}";
    }
}
