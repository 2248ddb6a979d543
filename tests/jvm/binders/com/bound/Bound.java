package com.bound;

import com.example.bytebuf.api.metrics.MetricSnapshot;
import com.example.bytebuf.tracker.ByteBufFlowTracker;
import com.example.bytebuf.tracker.metrics.MetricHandlerRegistry;
import io.bbflow.metrics.Feed;
import io.bbflow.micrometer.BbflowMetrics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/** Both binders with the real libraries: each loss is counted once in each registry. */
public final class Bound {
    private static final long TIMEOUT_NS = 60_000_000_000L;
    private static final InMemoryMetricReader READER = InMemoryMetricReader.create();
    private static final OpenTelemetrySdk OTEL = OpenTelemetrySdk.builder()
            .setMeterProvider(SdkMeterProvider.builder().registerMetricReader(READER).build()).build();

    private Bound() {
    }

    static void keep(ByteBuf buffer) {
        buffer.writeByte(1);
    }

    private static void lose(int direct, int heap) {
        for (int i = 0; i < direct; i++)
            keep(UnpooledByteBufAllocator.DEFAULT.directBuffer(8));
        for (int i = 0; i < heap; i++)
            keep(UnpooledByteBufAllocator.DEFAULT.heapBuffer(8));
    }

    static boolean until(BooleanSupplier done) throws InterruptedException {
        long end = System.nanoTime() + TIMEOUT_NS;
        while (!done.getAsBoolean() && System.nanoTime() - end < 0) {
            System.gc();
            Thread.sleep(100);
        }
        return done.getAsBoolean();
    }

    private static double sum(MeterRegistry registry, String name) {
        return registry.find(name).counters().stream().mapToDouble(Counter::count).sum();
    }

    private static String of(MeterRegistry registry) {
        return sum(registry, "bbflow.leaked") + " " + sum(registry, "bbflow.place.leaked") + " "
                + (registry.find("bbflow.open").gauge() == null ? "none" : registry.find("bbflow.open").gauge().value());
    }

    private static long sum(String name) {
        long sum = 0;
        for (MetricData data : READER.collectAllMetrics())
            if (data.getName().equals(name))
                for (LongPointData point : data.getLongSumData().getPoints())
                    sum += point.getValue();
        return sum;
    }

    private static void expect(String when, double lost, MeterRegistry... registries) throws InterruptedException {
        for (MeterRegistry registry : registries)
            if (!until(() -> sum(registry, "bbflow.leaked") >= lost && sum(registry, "bbflow.place.leaked") >= lost))
                System.out.println("WRONG " + when + ": " + of(registry));
        if (!until(() -> sum("bbflow.leaked") >= lost && sum("bbflow.place.leaked") >= lost))
            System.out.println("WRONG " + when + ": OpenTelemetry");
        Thread.sleep(2500); // two snapshots more add nothing
        StringBuilder line = new StringBuilder("SUMS " + when);
        for (MeterRegistry registry : registries)
            line.append(" | ").append(of(registry));
        System.out.println(line + " | " + sum("bbflow.leaked") + " " + sum("bbflow.place.leaked") + " " + sum("bbflow.open"));
    }

    private static WeakReference<MeterRegistry> dropped() {
        MeterRegistry registry = new SimpleMeterRegistry();
        new BbflowMetrics().bindTo(registry);
        return new WeakReference<>(registry);
    }

    /** More places than there may be series. */
    private static void bounded() {
        long[] sums = new long[3];
        TreeSet<String> places = new TreeSet<>();
        Feed.Sink sink = new Feed.Sink() {
            @Override
            public void lost(String memory, long count) {
                sums[0] += count;
            }

            @Override
            public void lostAt(String memory, String root, String place, long count) {
                sums[1] += count;
                sums[2] += place.equals(Feed.OTHERS) ? count : 0;
                places.add(root + " " + place);
            }

            @Override
            public void open(long count) {
            }
        };
        Feed feed = Feed.begin(sink, "bounded");
        for (int round = 0; round < 2; round++) {
            List<String> flows = new ArrayList<>();
            for (int i = 0; i < 150; i++)
                flows.add("root=R|final_ref=1|leak_count=2|leak_rate=1.00%|path=R[ref=1] -> P.p" + i + "[ref=1]");
            Collections.addAll(flows, "", "root=R", "root=R|leak_count=x|path=[ref=1]", "root=R|leak_count=9999|path=R[ref=1]",
                    "path=|root=[ref=|leak_count=1|");
            feed.onMetrics(new MetricSnapshot(1, 1000, 0, flows, null));
        }
        feed.end();
        System.out.println("BOUNDED " + sums[0] + " " + sums[1] + " " + sums[2] + " " + places.size());
    }

    public static void main(String[] args) throws Exception {
        bounded();
        MeterRegistry simple = new SimpleMeterRegistry(), part = new SimpleMeterRegistry();
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        CompositeMeterRegistry composite = new CompositeMeterRegistry();
        composite.add(part);
        BbflowMetrics first = new BbflowMetrics();
        first.bindTo(simple);
        first.bindTo(simple);
        new BbflowMetrics().bindTo(simple);
        System.out.println("BOUND " + MetricHandlerRegistry.getHandlers().size());
        new BbflowMetrics(Tags.of("application", "shop")).bindTo(prometheus);
        new BbflowMetrics().bindTo(part);
        new BbflowMetrics().bindTo(composite);
        new BbflowMetrics().bindTo(part);
        WeakReference<MeterRegistry> dropped = dropped();
        io.bbflow.opentelemetry.BbflowMetrics.register(OpenTelemetry.noop());
        io.bbflow.opentelemetry.BbflowMetrics.register(OTEL);
        io.bbflow.opentelemetry.BbflowMetrics otel = io.bbflow.opentelemetry.BbflowMetrics.register(OTEL);
        ByteBuf open = UnpooledByteBufAllocator.DEFAULT.heapBuffer(8);
        lose(3, 2);
        expect("first", 5, simple, prometheus, part);
        ByteBufFlowTracker.getInstance().reset();
        lose(1, 0);
        expect("after a reset", 6, simple, prometheus, part);
        for (String line : prometheus.scrape().split("\n"))
            if (line.startsWith("bbflow"))
                System.out.println("PROM " + line);
        for (MetricData data : READER.collectAllMetrics())
            for (LongPointData point : data.getLongSumData().getPoints())
                System.out.println("OTEL " + data.getName() + " " + data.getUnit() + " " + data.getType() + " "
                        + data.getLongSumData().isMonotonic() + " " + point.getAttributes().asMap().toString().replace("ReadOnlyArrayMap", "") + " " + point.getValue());
        first.close();
        System.out.println("CLOSED " + simple.getMeters().size());
        lose(0, 1);
        expect("closed", 7, prometheus, part);
        System.out.println("LEFT " + simple.getMeters().size());
        System.out.println("DROPPED " + until(() -> dropped.get() == null) + " "
                + until(() -> MetricHandlerRegistry.getHandlers().size() == 3));
        otel.close();
        System.out.println("HANDLERS " + MetricHandlerRegistry.getHandlers().size());
        io.bbflow.opentelemetry.BbflowMetrics.register(OTEL);
        System.out.println("HANDLERS " + MetricHandlerRegistry.getHandlers().size() + " " + open.refCnt());
    }
}
