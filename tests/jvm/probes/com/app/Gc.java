package com.app;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/** The probes' own view of what was collected: weak references to the lost buffers. */
final class Gc {
    private final List<WeakReference<Object>> watched = new ArrayList<>();

    synchronized void watch(Object o) {
        watched.add(new WeakReference<>(o));
    }

    synchronized int collected() {
        int n = 0;
        for (WeakReference<Object> ref : watched) {
            if (ref.get() == null) {
                n++;
            }
        }
        return n;
    }

    synchronized int size() {
        return watched.size();
    }

    /** Collects until everything watched is gone (at most 5 s), then four times more: a tracker
     * may need a second look at what survived its first. */
    int settle() throws InterruptedException {
        for (int i = 0; i < 100 && collected() < size(); i++) {
            System.gc();
            Thread.sleep(50);
        }
        for (int i = 0; i < 4; i++) {
            System.gc();
            Thread.sleep(60);
        }
        return collected();
    }
}
