package com.seed;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/** Where buffers are forgotten; knows by itself which of them the collector took. */
final class Lost {
    private final List<WeakReference<Object>> watched = new ArrayList<>();

    void forget(Object buffer) {
        watched.add(new WeakReference<>(buffer));
    }

    int settle() throws InterruptedException {
        int gone = 0;
        for (int i = 0; i < 100 && gone < watched.size(); i++) {
            System.gc();
            Thread.sleep(20);
            gone = 0;
            for (WeakReference<Object> ref : watched) {
                gone += ref.get() == null ? 1 : 0;
            }
        }
        System.gc(); // what outlived its first collection is seen at the next
        Thread.sleep(60);
        return gone;
    }

    void say(int lives, int released) throws InterruptedException {
        Oracle.say("lives", lives, "released", released, "leaked", settle());
    }
}
