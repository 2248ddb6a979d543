// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.tracker.metrics;

import com.example.bytebuf.api.metrics.MetricHandler;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The registered handlers of this copy of the API. All methods may be called in any thread, also by a
 * handler, and with no bbflow in the JVM.
 *
 * <p>The registry does not keep a class loader alive: a handler is held by its own class.
 */
public final class MetricHandlerRegistry {
    /** In a handler's class: the handlers of that class that are registered. Under HANDLERS. */
    private static final class Anchor extends ClassValue<List<MetricHandler>> {
        @Override
        protected List<MetricHandler> computeValue(Class<?> type) {
            return new ArrayList<MetricHandler>(1);
        }
    }

    private static final Anchor ANCHOR = new Anchor();
    private static final List<WeakReference<MetricHandler>> HANDLERS = new ArrayList<WeakReference<MetricHandler>>();

    private MetricHandlerRegistry() {
    }

    /** Nothing if it is registered already. */
    public static void register(MetricHandler handler) {
        if (handler == null)
            throw new NullPointerException("handler");
        synchronized (HANDLERS) {
            if (indexOf(handler) >= 0)
                return;
            ANCHOR.get(handler.getClass()).add(handler);
            HANDLERS.add(new WeakReference<MetricHandler>(handler));
        }
    }

    /** A call of the handler that has begun is not waited for. */
    public static void unregister(MetricHandler handler) {
        synchronized (HANDLERS) {
            int at = indexOf(handler);
            if (at < 0)
                return;
            HANDLERS.remove(at);
            List<MetricHandler> anchored = ANCHOR.get(handler.getClass());
            for (int i = anchored.size(); --i >= 0;)
                if (anchored.get(i) == handler)
                    anchored.remove(i);
        }
    }

    /** A copy. */
    public static List<MetricHandler> getHandlers() {
        List<MetricHandler> all = new ArrayList<MetricHandler>();
        synchronized (HANDLERS) {
            for (WeakReference<MetricHandler> entry : HANDLERS) {
                MetricHandler handler = entry.get();
                if (handler != null)
                    all.add(handler);
            }
        }
        return Collections.unmodifiableList(all);
    }

    public static boolean hasHandlers() {
        return !getHandlers().isEmpty();
    }

    /** By identity: equals() is the application's. Drops what was unloaded. */
    private static int indexOf(MetricHandler handler) {
        for (int i = HANDLERS.size(); --i >= 0;)
            if (HANDLERS.get(i).get() == null)
                HANDLERS.remove(i);
        for (int i = 0; i < HANDLERS.size(); i++)
            if (HANDLERS.get(i).get() == handler)
                return i;
        return -1;
    }
}
