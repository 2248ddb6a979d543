package com.app;

/** What another agent or tool does between the work of Phases: named by -Dbetween=CLASS. */
public interface BetweenPhases {
    /** Phase 1 … n has ended; for n the program is about to. */
    void after(int phase) throws Exception;
}
