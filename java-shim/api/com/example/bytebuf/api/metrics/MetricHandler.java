// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.api.metrics;

import java.util.Set;

/**
 * Receives what was lost, once an interval. bbflow finds handlers by
 * {@code com.example.bytebuf.tracker.metrics.MetricHandlerRegistry.register}, by the system property
 * {@code metric.handlers}, and by {@code META-INF/services}.
 *
 * <p>Each call comes in a daemon thread that ends with it, never in two threads at once. A handler that is
 * still busy when the next interval ends is left out; its next snapshot has both intervals. What a handler
 * throws is counted and shown by {@code bbflow status}.
 */
public interface MetricHandler {
    /** Asked before each snapshot; nothing else is collected. Empty: no snapshot is made. */
    Set<MetricType> getRequiredMetrics();

    /** The losses since the snapshot before. */
    void onMetrics(MetricSnapshot snapshot);

    /** A name for {@code bbflow status}. */
    default String getName() {
        return getClass().getName();
    }
}
