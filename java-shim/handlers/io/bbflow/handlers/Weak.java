// SPDX-License-Identifier: Apache-2.0
package io.bbflow.handlers;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Iterator;

/** Objects of the application by identity, none of which is kept alive. One thread at a time. */
final class Weak<T> {
    private final ArrayList<WeakReference<T>> entries = new ArrayList<WeakReference<T>>();

    /** False: it is in, or `most` others are. */
    boolean add(T object, int most) {
        if (contains(object) || entries.size() >= most)
            return false;
        entries.add(new WeakReference<T>(object));
        return true;
    }

    boolean contains(T object) {
        boolean found = false;
        for (Iterator<WeakReference<T>> i = entries.iterator(); i.hasNext();) {
            T other = i.next().get();
            found |= other == object;
            if (other == null)
                i.remove();
        }
        return found;
    }

    ArrayList<T> all() {
        ArrayList<T> all = new ArrayList<T>(entries.size());
        for (WeakReference<T> entry : entries) {
            T object = entry.get();
            if (object != null)
                all.add(object);
        }
        return all;
    }
}
