// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.tracker;

import com.example.bytebuf.tracker.internal.Bbflow;
import com.example.bytebuf.tracker.internal.Held;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The handlers of this copy of the API. Any thread. What a handler throws when it is asked goes to the
 * caller, and the handler is not registered. With no bbflow in the JVM handlers are kept and nothing else
 * happens.
 *
 * <p>The registry does not keep a class loader alive: a handler is held by its own class.
 */
public final class ObjectTrackerRegistry {
    private static final Held<com.example.bytebuf.api.tracker.ObjectTrackerHandler> HANDLERS =
            new Held<com.example.bytebuf.api.tracker.ObjectTrackerHandler>();
    private static final ObjectTrackerHandler BYTEBUF = new ByteBufObjectHandler();

    private ObjectTrackerRegistry() {
    }

    /** As {@link #addHandler}: buffers, and kinds that were registered before, are still followed. */
    public static void setHandler(ObjectTrackerHandler handler) {
        addHandler(handler);
    }

    public static void setHandler(com.example.bytebuf.api.tracker.ObjectTrackerHandler handler) {
        addHandler(handler);
    }

    /**
     * Follow the handler's kind of objects; those that are made after it has returned. It waits for bbflow to
     * rewrite classes that are loaded, as a new {@code include=} does. 16 kinds at most.
     */
    public static void addHandler(com.example.bytebuf.api.tracker.ObjectTrackerHandler handler) {
        String type = handler.getObjectType(), method = handler.getReleaseMethod();
        if (type == null || method == null)
            throw new NullPointerException(type == null ? "getObjectType()" : "getReleaseMethod()");
        Bbflow.track(type + ":" + method); // first: who sees the handler may rely on it
        HANDLERS.add(handler);
    }

    /** The newest; without a registered one, that of buffers. */
    public static ObjectTrackerHandler getHandler() {
        List<com.example.bytebuf.api.tracker.ObjectTrackerHandler> all = HANDLERS.all();
        return all.isEmpty() ? BYTEBUF : named(all.get(all.size() - 1));
    }

    /** Without that of buffers. A copy. */
    public static List<ObjectTrackerHandler> getCustomHandlers() {
        List<ObjectTrackerHandler> all = new ArrayList<ObjectTrackerHandler>();
        for (com.example.bytebuf.api.tracker.ObjectTrackerHandler each : HANDLERS.all())
            all.add(named(each));
        return Collections.unmodifiableList(all);
    }

    public static ObjectTrackerHandler getByteBufHandler() {
        return BYTEBUF;
    }

    private static ObjectTrackerHandler named(final com.example.bytebuf.api.tracker.ObjectTrackerHandler handler) {
        return handler instanceof ObjectTrackerHandler ? (ObjectTrackerHandler) handler : new Renamed(handler);
    }

    private static final class Renamed implements ObjectTrackerHandler {
        private final com.example.bytebuf.api.tracker.ObjectTrackerHandler handler;

        Renamed(com.example.bytebuf.api.tracker.ObjectTrackerHandler handler) {
            this.handler = handler;
        }

        @Override
        public boolean shouldTrack(Object obj) {
            return handler.shouldTrack(obj);
        }

        @Override
        public int getMetric(Object obj) {
            return handler.getMetric(obj);
        }

        @Override
        public String getObjectType() {
            return handler.getObjectType();
        }

        @Override
        public String getReleaseMethod() {
            return handler.getReleaseMethod();
        }
    }
}
