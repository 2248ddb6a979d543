package com.agents;

import com.app.BetweenPhases;

/** The Java side of hookagent.c: it retransforms from a JVMTI environment of its own. */
public final class Native implements BetweenPhases {
    /** Retransforms the classes of Netty and of the probes; changed, failed, not seen. */
    private static native String retransform();

    /** How many of them were loaded. */
    private static native int loads();

    @Override
    public void after(int phase) {
        System.out.println("THEIRS phase=" + phase + " " + retransform());
        if (phase == 3) { // before, threads of Netty's may still load some
            System.out.println("THEIRS loads=" + loads());
        }
    }
}
