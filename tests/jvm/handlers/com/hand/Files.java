package com.hand;

import com.example.bytebuf.api.tracker.ObjectTrackerHandler;

/** By -Dobject.tracker.handlers; closed by another method than close(). */
public final class Files implements ObjectTrackerHandler {
    /** Such an object. */
    public static final class Handle {
        int shut;

        void shut() {
            shut++;
        }
    }

    @Override
    public boolean shouldTrack(Object obj) {
        return obj instanceof Handle;
    }

    @Override
    public int getMetric(Object obj) {
        return 1 - ((Handle) obj).shut;
    }

    @Override
    public String getObjectType() {
        return Handle.class.getName();
    }

    @Override
    public String getReleaseMethod() {
        return "shut";
    }

    static void two() {
        new Handle().shut();
        new Handle();
    }
}
