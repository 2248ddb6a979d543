package com.hand;

import com.example.bytebuf.api.metrics.MetricHandler;
import com.example.bytebuf.api.metrics.MetricSnapshot;
import com.example.bytebuf.api.metrics.MetricType;
import com.example.bytebuf.tracker.metrics.MetricHandlerRegistry;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** Handlers that throw, hang, are slow and call back, beside one that does its work. */
public final class Hostile {
    private Hostile() {
    }

    static class Both implements MetricHandler {
        @Override
        public Set<MetricType> getRequiredMetrics() {
            return new HashSet<>(Arrays.asList(MetricType.values()));
        }

        @Override
        public void onMetrics(MetricSnapshot snapshot) {
        }
    }

    static final class Thrower extends Both {
        @Override
        public void onMetrics(MetricSnapshot snapshot) {
            throw new IllegalStateException() {
                @Override
                public String toString() {
                    throw new IllegalStateException("also in its text");
                }
            };
        }
    }

    static final class Erring extends Both {
        @Override
        public Set<MetricType> getRequiredMetrics() {
            throw new OutOfMemoryError("says the handler");
        }
    }

    static final class Nulls extends Both {
        @Override
        public Set<MetricType> getRequiredMetrics() {
            return Collections.singleton(null);
        }

        @Override
        public void onMetrics(MetricSnapshot snapshot) {
            System.out.println("WRONG: nothing was asked for");
        }
    }

    static final class Hanger extends Both {
        static final AtomicInteger THREADS = new AtomicInteger();

        @Override
        public synchronized void onMetrics(MetricSnapshot snapshot) {
            THREADS.incrementAndGet();
            for (;;) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    continue;
                }
            }
        }
    }

    /** By its name, which a message has: not public. */
    static final class Hidden extends Both {
    }

    /** By -Dmetric.handlers. */
    public static final class Initialized extends Both {
        static {
            if (Initialized.class != null)
                throw new IllegalStateException("in its initialiser");
        }
    }

    static final class Slow extends Sum {
        @Override
        public void onMetrics(MetricSnapshot snapshot) {
            try {
                Thread.sleep(2500);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            super.onMetrics(snapshot);
        }
    }

    static final class Recursive extends Sum {
        @Override
        public void onMetrics(MetricSnapshot snapshot) {
            MetricHandler other = new Both();
            MetricHandlerRegistry.register(other);
            MetricHandlerRegistry.unregister(this);
            MetricHandlerRegistry.register(this);
            MetricHandlerRegistry.unregister(other);
            super.onMetrics(snapshot);
        }
    }

    private static void expect(String when, String sums) throws InterruptedException {
        for (String name : new String[] {"Registered", "Recursive", "Slow", "Service"})
            if (!Main.until(() -> Sum.ALL.containsKey(name) && Sum.ALL.get(name).sums().equals(sums)))
                System.out.println("WRONG: " + name + " " + Sum.ALL.get(name).sums());
        System.out.println("SUMS " + when);
    }

    private static long threads(String name) {
        return Thread.getAllStackTraces().keySet().stream().filter(each -> each.getName().equals(name)).count();
    }

    public static void main(String[] args) throws Exception {
        for (MetricHandler each : new MetricHandler[] {new Thrower(), new Erring(), new Nulls(), new Hanger(),
            new Slow(), new Recursive(), new Registered()})
            MetricHandlerRegistry.register(each);
        Main.loseDirect(3);
        Main.loseHeap(2);
        expect("first", "3 2 made 1");
        System.out.println("READY");
        while (System.in.read() >= 0)
            continue;
        Main.loseDirect(2);
        expect("again", "5 2 made 1");
        System.out.println("HANGS " + Hanger.THREADS + ", PUSHERS " + threads("bbflow-metrics"));
    }
}
