// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.tracker.internal;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * Objects of the application in the order in which they came, each held by its own class: the list keeps no
 * class loader alive. By identity: equals() is the application's. Any thread.
 */
public final class Held<T> {
    private final ClassValue<List<Object>> anchor = new Anchor();
    private final List<WeakReference<T>> entries = new ArrayList<WeakReference<T>>(); // under itself

    /** In an object's class: the objects of that class that are in the list. */
    private static final class Anchor extends ClassValue<List<Object>> {
        @Override
        protected List<Object> computeValue(Class<?> type) {
            return new ArrayList<Object>(1);
        }
    }

    /** False: it is in already. */
    public boolean add(T object) {
        if (object == null)
            throw new NullPointerException("handler");
        synchronized (entries) {
            if (indexOf(object) >= 0)
                return false;
            anchor.get(object.getClass()).add(object);
            entries.add(new WeakReference<T>(object));
            return true;
        }
    }

    public void remove(T object) {
        synchronized (entries) {
            int at = indexOf(object);
            if (at < 0)
                return;
            entries.remove(at);
            List<Object> anchored = anchor.get(object.getClass());
            for (int i = anchored.size(); --i >= 0;)
                if (anchored.get(i) == object)
                    anchored.remove(i);
        }
    }

    /** A copy. */
    public List<T> all() {
        List<T> all = new ArrayList<T>();
        synchronized (entries) {
            for (WeakReference<T> entry : entries) {
                T object = entry.get();
                if (object != null)
                    all.add(object);
            }
        }
        return all;
    }

    /** Drops what was unloaded. */
    private int indexOf(T object) {
        for (int i = entries.size(); --i >= 0;)
            if (entries.get(i).get() == null)
                entries.remove(i);
        for (int i = 0; i < entries.size(); i++)
            if (entries.get(i).get() == object)
                return i;
        return -1;
    }
}
