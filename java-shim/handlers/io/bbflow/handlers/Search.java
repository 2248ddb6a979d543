// SPDX-License-Identifier: Apache-2.0
package io.bbflow.handlers;

import java.util.Iterator;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** Looks for handlers in one loader, in a thread of its own, because loaders and constructors are the application's. */
final class Search implements Runnable {
    private static final int MAX_BROKEN = 100; // entries of META-INF/services
    private static final String METRICS = "metric.handlers", OBJECTS = "object.tracker.handlers",
            OBJECT = "object.tracker.handler";

    private final Pusher pusher;
    private final ClassLoader loader;

    Search(Pusher pusher, ClassLoader loader) {
        this.pusher = pusher;
        this.loader = loader;
    }

    @Override
    public void run() {
        try {
            Class<?> type = Copy.seenBy(loader);
            if (type != null)
                search(loader, Copies.THIS.get(type));
        } catch (Throwable e) {
            pusher.failed("a class loader", e);
        } finally {
            pusher.searched(loader);
        }
    }

    private void search(ClassLoader where, Copy copy) {
        pusher.add(copy.type);
        for (String property : new String[] {METRICS, OBJECTS, OBJECT})
            for (String name : System.getProperty(property, "").split(","))
                if (!name.trim().isEmpty())
                    makeNamed(property, name.trim(), where, copy);
        int broken = 0;
        Iterator<? extends ServiceLoader.Provider<?>> services = ServiceLoader.load(copy.type, where).stream().iterator();
        for (boolean more = true; more && broken < MAX_BROKEN && !pusher.isStopped();) {
            try {
                more = services.hasNext();
                if (more)
                    offer(services.next(), copy);
            } catch (ServiceConfigurationError e) {
                broken++;
                pusher.failed("META-INF/services/" + Copy.TYPE, e);
            }
        }
    }

    private void makeNamed(String property, String name, ClassLoader where, Copy copy) {
        Class<?> wanted = property == METRICS ? copy.type : copy.objects;
        try {
            Class<?> type = Class.forName(name, true, where);
            pusher.sawNamed(property + ": " + name);
            if (wanted == null || !wanted.isAssignableFrom(type))
                throw new ClassCastException("it does not implement "
                        + (property == METRICS ? Copy.TYPE : Copy.OBJECTS) + " as its loader sees it");
            if (property != METRICS && pusher.isFirst(type))
                copy.registerObjects(type.getConstructor().newInstance());
            else if (property == METRICS && isNew(type, copy))
                copy.register(type.getConstructor().newInstance());
        } catch (ClassNotFoundException e) {
            pusher.missedNamed(property + ": " + name); // another loader may have it
        } catch (Throwable e) {
            pusher.failed(property + ": " + name, e);
        }
    }

    private void offer(ServiceLoader.Provider<?> provider, Copy copy) {
        try {
            if (isNew(provider.type(), copy))
                copy.register(provider.get());
        } catch (Throwable e) {
            pusher.failed(provider.type().getName(), e);
        }
    }

    /** Once for each class: several loaders see what is in a common parent, and bbflow may have been here before. */
    private boolean isNew(Class<?> type, Copy copy) throws ReflectiveOperationException {
        if (!pusher.isFirst(type))
            return false;
        for (Object each : copy.handlers())
            if (each.getClass() == type)
                return false;
        return true;
    }
}
