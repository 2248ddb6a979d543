// SPDX-License-Identifier: Apache-2.0
package io.bbflow.micrometer;

import io.bbflow.metrics.Feed;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * bbflow's losses as Micrometer's meters: {@code new BbflowMetrics().bindTo(registry)}. Any number of
 * registries; a second bind of one does nothing. Needs {@code handlers=lazy} or {@code on}. Any thread.
 *
 * <p>The registry keeps what is needed: the binder itself may be dropped. bbflow holds neither.
 */
public final class BbflowMetrics implements MeterBinder, AutoCloseable {
    private static final String OPEN = "bbflow.open", LEAKED = "bbflow.leaked", PLACE = "bbflow.place.leaked",
            UNIT = "buffers";
    /** Under itself. The registry holds its meters, so neither is kept alive here. */
    private static final Map<MeterRegistry, WeakReference<Meters>> BOUND =
            new WeakHashMap<MeterRegistry, WeakReference<Meters>>();

    private final Tags tags;
    private final List<WeakReference<Meters>> mine = new ArrayList<WeakReference<Meters>>(); // under BOUND

    public BbflowMetrics() {
        this(Tags.empty());
    }

    /** The tags are on each meter. */
    public BbflowMetrics(Iterable<io.micrometer.core.instrument.Tag> tags) {
        this.tags = Tags.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        synchronized (BOUND) {
            if (registry.find(OPEN).gauge() != null) // by this class, or a composite that it is part of
                return;
            if (registry instanceof CompositeMeterRegistry)
                for (MeterRegistry part : ((CompositeMeterRegistry) registry).getRegistries())
                    giveWay(part);
            Meters meters = new Meters(registry, tags);
            BOUND.put(registry, new WeakReference<Meters>(meters));
            mine.add(new WeakReference<Meters>(meters));
        }
    }

    /** From here on the composite counts for it: its counters stay. */
    private static void giveWay(MeterRegistry part) {
        WeakReference<Meters> bound = BOUND.remove(part);
        Meters meters = bound == null ? null : bound.get();
        if (meters != null)
            meters.leave();
    }

    /** Ends all that this binder has begun, and takes its meters out. */
    @Override
    public void close() {
        synchronized (BOUND) {
            for (WeakReference<Meters> each : mine) {
                Meters meters = each.get();
                if (meters == null)
                    continue;
                meters.close();
                BOUND.remove(meters.registry);
            }
            mine.clear();
        }
    }

    /** Those of a registry, which holds them by the gauge. */
    private static final class Meters implements Feed.Sink {
        final MeterRegistry registry;
        final Feed feed;
        private final Tags tags;
        private final Gauge gauge;
        private final List<Meter> made = new ArrayList<Meter>(); // under this
        private volatile double open = Double.NaN;
        private boolean closed; // under this

        Meters(MeterRegistry registry, Tags tags) {
            this.registry = registry;
            this.tags = tags;
            gauge = Gauge.builder(OPEN, this, Meters::open).description("Buffers that are not released").baseUnit(UNIT)
                    .tags(tags).strongReference(true).register(registry);
            feed = Feed.begin(this, "Micrometer");
        }

        private double open() {
            return open;
        }

        synchronized void leave() {
            closed = true;
            feed.end();
            registry.remove(gauge);
            made.clear();
        }

        synchronized void close() {
            if (closed)
                return;
            for (Meter each : made)
                registry.remove(each);
            leave();
        }

        private synchronized void add(String meter, String description, Tags own, long count) {
            if (closed)
                return;
            Counter counter = Counter.builder(meter).description(description).baseUnit(UNIT).tags(tags).tags(own)
                    .register(registry);
            if (!made.contains(counter))
                made.add(counter);
            counter.increment(count);
        }

        @Override
        public void lost(String memory, long count) {
            add(LEAKED, "Buffers that were collected without a release", Tags.of("memory", memory), count);
        }

        @Override
        public void lostAt(String memory, String root, String place, long count) {
            add(PLACE, "The same by the first and the last step of their path",
                    Tags.of("memory", memory, "root", root, "place", place), count);
        }

        @Override
        public void open(long count) {
            open = count;
        }
    }
}
