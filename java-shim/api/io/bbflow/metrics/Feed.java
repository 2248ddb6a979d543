// SPDX-License-Identifier: Apache-2.0
package io.bbflow.metrics;

import com.example.bytebuf.api.metrics.MetricHandler;
import com.example.bytebuf.api.metrics.MetricSnapshot;
import com.example.bytebuf.api.metrics.MetricType;
import com.example.bytebuf.tracker.internal.Bbflow;
import com.example.bytebuf.tracker.metrics.MetricHandlerRegistry;
import java.lang.ref.WeakReference;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Hands snapshots to the meters of a metrics library: each loss once, and at most 100 places, because each
 * is a time series. For binders; io.bbflow.micrometer and io.bbflow.opentelemetry have one each.
 *
 * <p>The sink is held weakly: it lives as long as the library's registry, which must hold it. A sink that
 * was collected gets nothing more. Calls come in one thread at a time.
 */
public final class Feed implements MetricHandler {
    public static final int MAX_PLACES = 100;
    /** Root and place of what has no series of its own. */
    public static final String OTHERS = "others";

    /** Meters. */
    public interface Sink {
        /** Objects lost since the last call; memory: "direct" or "other". Never 0. */
        void lost(String memory, long count);

        /** The same by the first and the last step of their path; the counts add up to those of lost(). */
        void lostAt(String memory, String root, String place, long count);

        /** Objects that are open now. */
        void open(long count);
    }

    private final WeakReference<Sink> sink;
    private final String name;
    private final Set<String> places = new HashSet<String>(); // under this

    private Feed(Sink sink, String name) {
        this.sink = new WeakReference<Sink>(sink);
        this.name = name;
    }

    /** Begin; `name` is for `bbflow status`. */
    public static Feed begin(Sink sink, String name) {
        Feed feed = new Feed(sink, name);
        MetricHandlerRegistry.register(feed);
        return feed;
    }

    /** A call that has begun may still reach the sink. */
    public void end() {
        MetricHandlerRegistry.unregister(this);
        sink.clear();
    }

    @Override
    public Set<MetricType> getRequiredMetrics() {
        if (sink.get() != null)
            return EnumSet.allOf(MetricType.class);
        end();
        return EnumSet.noneOf(MetricType.class);
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public synchronized void onMetrics(MetricSnapshot snapshot) {
        Sink to = sink.get();
        if (to == null)
            return;
        add(to, "direct", snapshot.getTotalDirectLeaks(), snapshot.getDirectLeakFlows());
        add(to, "other", snapshot.getTotalHeapLeaks(), snapshot.getHeapLeakFlows());
        to.open(Bbflow.numbers()[Bbflow.LIVE]);
    }

    private void add(Sink to, String memory, long total, List<String> flows) {
        long rest = total;
        if (total > 0)
            to.lost(memory, total);
        for (String flow : flows) {
            String root = between(flow, "root=", "|"), place = placeOf(flow);
            long count = countOf(flow);
            if (root == null || place == null || count <= 0 || count > rest || !mayBe(memory, root, place))
                continue; // it is part of the rest
            to.lostAt(memory, root, place, count);
            rest -= count;
        }
        if (rest > 0)
            to.lostAt(memory, OTHERS, OTHERS, rest);
    }

    private boolean mayBe(String memory, String root, String place) {
        String key = memory + '|' + root + '|' + place;
        return places.contains(key) || places.size() < MAX_PLACES && places.add(key);
    }

    private static String between(String text, String begin, String end) {
        int from = text.indexOf(begin), to = from < 0 ? -1 : text.indexOf(end, from + begin.length());
        return to < 0 ? null : text.substring(from + begin.length(), to);
    }

    private static long countOf(String flow) {
        String digits = between(flow, "|leak_count=", "|");
        try {
            return digits == null ? 0 : Long.parseLong(digits);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /** "A.b" of "…|path=X.y[ref=1] -> A.b[ref=1]". */
    private static String placeOf(String flow) {
        int from = Math.max(flow.lastIndexOf(" -> ") + 4, flow.indexOf("|path=") + 6), to = flow.lastIndexOf("[ref=");
        return from < 6 || to <= from ? null : flow.substring(from, to);
    }
}
