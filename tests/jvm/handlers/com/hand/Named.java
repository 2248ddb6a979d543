package com.hand;

import com.example.bytebuf.api.metrics.MetricType;

import java.util.EnumSet;
import java.util.Set;

/** By -Dmetric.handlers; direct memory only. */
public final class Named extends Sum {
    @Override
    public Set<MetricType> getRequiredMetrics() {
        return EnumSet.of(MetricType.DIRECT_LEAKS);
    }
}
