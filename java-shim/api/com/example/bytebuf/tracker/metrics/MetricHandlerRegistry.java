// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.tracker.metrics;

import com.example.bytebuf.api.metrics.MetricHandler;
import com.example.bytebuf.tracker.internal.Held;
import java.util.Collections;
import java.util.List;

/**
 * The registered handlers of this copy of the API. All methods may be called in any thread, also by a
 * handler, and with no bbflow in the JVM.
 *
 * <p>The registry does not keep a class loader alive: a handler is held by its own class.
 */
public final class MetricHandlerRegistry {
    private static final Held<MetricHandler> HANDLERS = new Held<MetricHandler>();

    private MetricHandlerRegistry() {
    }

    /** Nothing if it is registered already. */
    public static void register(MetricHandler handler) {
        HANDLERS.add(handler);
    }

    /** A call of the handler that has begun is not waited for. */
    public static void unregister(MetricHandler handler) {
        HANDLERS.remove(handler);
    }

    /** A copy. */
    public static List<MetricHandler> getHandlers() {
        return Collections.unmodifiableList(HANDLERS.all());
    }

    public static boolean hasHandlers() {
        return !getHandlers().isEmpty();
    }
}
