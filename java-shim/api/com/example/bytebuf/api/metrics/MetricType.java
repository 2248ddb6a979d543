// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.api.metrics;

/** What a {@link MetricHandler} can ask for. */
public enum MetricType {
    /** Lost buffers of direct memory. */
    DIRECT_LEAKS,
    /** Lost buffers of any other memory: heap, composites, objects of the application. */
    HEAP_LEAKS
}
