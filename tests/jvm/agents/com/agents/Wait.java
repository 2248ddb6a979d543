package com.agents;

import com.app.BetweenPhases;

/** Waits after the first phases until another process sets `go`: a debugger, an attached agent. */
public final class Wait implements BetweenPhases {
    static volatile boolean go;

    @Override
    public void after(int phase) throws Exception {
        if (phase == 3) {
            return;
        }
        System.out.println("PHASE " + phase);
        while (!go) {
            Thread.sleep(10);
        }
        go = false;
    }
}
