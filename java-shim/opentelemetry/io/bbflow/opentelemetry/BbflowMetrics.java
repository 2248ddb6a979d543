// SPDX-License-Identifier: Apache-2.0
package io.bbflow.opentelemetry;

import io.bbflow.metrics.Feed;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.LongCounter;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableLongUpDownCounter;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * bbflow's losses as OpenTelemetry's instruments: {@code BbflowMetrics.register(openTelemetry)}. A second call
 * for the same one gives the same. Needs {@code handlers=lazy} or {@code on}. Any thread.
 *
 * <p>The SDK keeps what is needed: the result may be dropped. bbflow holds neither.
 */
public final class BbflowMetrics implements AutoCloseable {
    private static final AttributeKey<String> MEMORY = AttributeKey.stringKey("bbflow.memory"),
            ROOT = AttributeKey.stringKey("bbflow.root"), PLACE = AttributeKey.stringKey("bbflow.place");
    private static final String UNIT = "{buffer}";
    /** Under itself. */
    private static final Map<OpenTelemetry, WeakReference<BbflowMetrics>> REGISTERED =
            new WeakHashMap<OpenTelemetry, WeakReference<BbflowMetrics>>();

    private final Instruments instruments;

    private BbflowMetrics(Meter meter) {
        instruments = new Instruments(meter, this);
    }

    public static BbflowMetrics register(OpenTelemetry to) {
        synchronized (REGISTERED) {
            WeakReference<BbflowMetrics> known = REGISTERED.get(to);
            BbflowMetrics metrics = known == null ? null : known.get();
            if (metrics == null || metrics.instruments.closed) {
                metrics = new BbflowMetrics(to.getMeter("io.bbflow"));
                REGISTERED.put(to, new WeakReference<BbflowMetrics>(metrics));
            }
            return metrics;
        }
    }

    /** The counters stay as they are; the SDK has no way to take them out. */
    @Override
    public void close() {
        instruments.close();
    }

    /** Held by the SDK, by the callback of the observed one. */
    private static final class Instruments implements Feed.Sink {
        private final BbflowMetrics owner; // so that a second register() finds it
        private final LongCounter leaked, places;
        private final ObservableLongUpDownCounter observed;
        private final Feed feed;
        private volatile long open = -1;
        private volatile boolean closed;

        Instruments(Meter meter, BbflowMetrics owner) {
            this.owner = owner;
            leaked = meter.counterBuilder("bbflow.leaked").setUnit(UNIT)
                    .setDescription("Buffers that were collected without a release").build();
            places = meter.counterBuilder("bbflow.place.leaked").setUnit(UNIT)
                    .setDescription("The same by the first and the last step of their path").build();
            observed = meter.upDownCounterBuilder("bbflow.open").setUnit(UNIT)
                    .setDescription("Buffers that are not released").buildWithCallback(to -> {
                        long now = open;
                        if (now >= 0)
                            to.record(now);
                    });
            feed = Feed.begin(this, "OpenTelemetry");
        }

        void close() {
            closed = true;
            feed.end();
            observed.close();
        }

        @Override
        public void lost(String memory, long count) {
            if (!closed)
                leaked.add(count, Attributes.of(MEMORY, memory));
        }

        @Override
        public void lostAt(String memory, String root, String place, long count) {
            if (!closed)
                places.add(count, Attributes.of(MEMORY, memory, ROOT, root, PLACE, place));
        }

        @Override
        public void open(long count) {
            open = count;
        }
    }
}
