package com.hand;

import com.example.bytebuf.api.metrics.MetricHandler;
import com.example.bytebuf.api.metrics.MetricSnapshot;
import com.example.bytebuf.api.metrics.MetricType;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** A handler that adds up what it gets. By its class's name: the sums of this loader. */
public class Sum implements MetricHandler {
    static final Map<String, Sum> ALL = new ConcurrentHashMap<>();

    long direct, heap, snapshots, made;
    final Map<String, Long> flows = new TreeMap<>();
    volatile Throwable wrong;

    public Sum() {
        Sum old = ALL.put(getClass().getSimpleName(), this);
        made = old == null ? 1 : old.made + 1;
    }

    @Override
    public Set<MetricType> getRequiredMetrics() {
        return EnumSet.allOf(MetricType.class);
    }

    @Override
    public synchronized void onMetrics(MetricSnapshot snapshot) {
        try {
            if (!Thread.currentThread().isDaemon() || Thread.currentThread().getName().equals("bbflow"))
                throw new IllegalStateException("in thread " + Thread.currentThread());
            if (Math.abs(System.currentTimeMillis() - snapshot.getCaptureTimestamp()) > 60000)
                throw new IllegalStateException("of " + snapshot.getCaptureTimestamp());
            direct += snapshot.getTotalDirectLeaks();
            heap += snapshot.getTotalHeapLeaks();
            long lines = 0;
            for (String flow : snapshot.getDirectLeakFlows())
                lines += add("direct ", flow);
            for (String flow : snapshot.getHeapLeakFlows())
                lines += add("heap ", flow);
            if (lines != snapshot.getTotalDirectLeaks() + snapshot.getTotalHeapLeaks())
                throw new IllegalStateException("flows of " + lines + " buffers: " + snapshot);
            snapshots++;
        } catch (Throwable e) {
            wrong = e;
        }
    }

    private long add(String kind, String flow) {
        String[] parts = flow.split("\\|");
        if (parts.length != 5 || !parts[2].startsWith("leak_count=") || !parts[3].matches("leak_rate=\\d+\\.\\d\\d%"))
            throw new IllegalStateException(flow);
        long count = Long.parseLong(parts[2].substring(11));
        flows.merge(kind + parts[0] + "|" + parts[1] + "|" + parts[4], count, Long::sum);
        return count;
    }

    synchronized String sums() {
        return direct + " " + heap + " made " + made + (wrong == null ? "" : " wrong " + wrong);
    }

    synchronized long snapshots() {
        return snapshots;
    }
}
