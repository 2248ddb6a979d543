// SPDX-License-Identifier: Apache-2.0
package io.bbflow.handlers;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * One copy of the API, as reflection sees it: an application may have several, in several loaders. It is
 * held by that copy's class MetricHandler (Copies), so that bbflow keeps no loader alive.
 */
final class Copy {
    static final String PACKAGE = "com.example.bytebuf.", TYPE = PACKAGE + "api.metrics.MetricHandler",
            OBJECTS = PACKAGE + "api.tracker.ObjectTrackerHandler";

    final Class<?> type; // MetricHandler
    private final Method required, onMetrics, name;
    private final Constructor<?> snapshot;
    private final Method handlers, register; // null: a copy without a registry
    private final Method addObjects;         // null: one without kinds of objects
    final Class<?> objects;

    Copy(Class<?> type) throws ReflectiveOperationException {
        this.type = type;
        ClassLoader loader = type.getClassLoader();
        Class<?> made = Class.forName(PACKAGE + "api.metrics.MetricSnapshot", false, loader);
        required = type.getMethod("getRequiredMetrics");
        onMetrics = type.getMethod("onMetrics", made);
        name = type.getMethod("getName");
        snapshot = made.getConstructor(long.class, long.class, long.class, List.class, List.class);
        Method all = null, add = null;
        try {
            Class<?> registry = Class.forName(PACKAGE + "tracker.metrics.MetricHandlerRegistry", true, loader);
            all = registry.getMethod("getHandlers");
            add = registry.getMethod("register", type);
        } catch (ClassNotFoundException e) {
            add = null;
        }
        handlers = all;
        register = add;
        objects = known(OBJECTS.substring(PACKAGE.length()), loader);
        Class<?> registry = objects != null ? known("tracker.ObjectTrackerRegistry", loader) : null;
        addObjects = registry != null ? registry.getMethod("addHandler", objects) : null;
    }

    private static Class<?> known(String name, ClassLoader loader) {
        try {
            return Class.forName(PACKAGE + name, false, loader);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    /** Its code runs. */
    void registerObjects(Object handler) throws ReflectiveOperationException {
        if (addObjects == null)
            throw new ClassNotFoundException(PACKAGE + "tracker.ObjectTrackerRegistry");
        addObjects.invoke(null, handler);
    }

    /** The copy that a loader sees; null: none. Runs the application's code. */
    static Class<?> seenBy(ClassLoader loader) {
        try {
            return Class.forName(TYPE, false, loader);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    List<?> handlers() throws ReflectiveOperationException {
        List<Object> all = new ArrayList<Object>(Anchor.THIS.get(type));
        if (handlers != null)
            all.addAll((List<?>) handlers.invoke(null));
        return all;
    }

    void register(Object handler) throws ReflectiveOperationException {
        if (register != null)
            register.invoke(null, handler);
        else
            Anchor.THIS.get(type).add(handler);
    }

    /** Which metrics the handler wants; its code runs. */
    int required(Object handler) throws ReflectiveOperationException {
        int kinds = 0;
        Set<?> types = (Set<?>) required.invoke(handler);
        if (types != null)
            for (Object each : types)
                kinds |= kindOf(each);
        return kinds;
    }

    private static int kindOf(Object type) {
        String word = type instanceof Enum ? ((Enum<?>) type).name() : "";
        return word.equals("DIRECT_LEAKS") ? HandlersNative.DIRECT : word.equals("HEAP_LEAKS") ? HandlersNative.HEAP : 0;
    }

    void push(Object handler, Flows flows) throws ReflectiveOperationException {
        onMetrics.invoke(handler, snapshot.newInstance(flows.timeMillis, flows.directLosses, flows.heapLosses,
                flows.direct, flows.heap));
    }

    String name(Object handler) throws ReflectiveOperationException {
        return (String) name.invoke(handler);
    }
}
