/* SPDX-License-Identifier: Apache-2.0 */
package io.bbflow.junit;

/** A test, or a class of tests, and the buffers that are opened in it. One thread at a time. */
final class Scope {
    final int number;
    final Agent agent;
    private final Thread thread;
    private final Object before;
    private boolean left;
    String name;
    long maxOpen = -1, maxLeaked;
    /** Lost buffers of which an error was thrown, or that the limit allows. */
    private long told;

    /** This thread enters it. */
    Scope(Agent agent, String name) {
        this.agent = agent;
        this.name = name;
        number = agent.create();
        thread = Thread.currentThread();
        before = agent.enter(number);
    }

    void limit(BufferLimit limit) {
        if (limit != null) {
            maxOpen = limit.maxOpen();
            maxLeaked = limit.maxLeaked();
        }
    }

    /** The thread that entered it is again where it was before; another thread has nothing to leave. */
    void leave() {
        if (!left && Thread.currentThread() == thread)
            agent.leave(before);
        left = true;
    }

    /** What went wrong by now; null: nothing. A collection is requested only if buffers are open. */
    String verdict() {
        long open = agent.open(number);
        String text = null;
        if (open > 0 || agent.lost(number) > 0) {
            String report = agent.report(number, open > 0);
            text = report == null ? null : losses(report);
        }
        if (maxOpen >= 0 && open > maxOpen) {
            String also = name + ": " + Text.buffers(open) + " open at the end, " + maxOpen + " may be\n";
            text = text == null ? also : also + text;
        }
        return text;
    }

    /** May buffers of it be lost later? */
    boolean isOpen() {
        return agent.open(number) > 0;
    }

    /** Leaks that were found since the verdict; null: none. */
    String later() {
        if (agent.lost(number) <= Math.max(told, maxLeaked))
            return null;
        String report = agent.report(number, false);
        return report == null ? null : losses(report);
    }

    /** What it lost by now was reported elsewhere. */
    void tell() {
        told = Math.max(told, agent.lost(number));
    }

    private String losses(String report) {
        int end = report.indexOf('\n');
        long lost = Long.parseLong(report.substring(0, end));
        if (lost <= Math.max(told, maxLeaked))
            return null;
        told = lost;
        String allowed = maxLeaked > 0 ? ", " + maxLeaked + " may be" : "";
        return name + " leaked " + Text.buffers(lost) + allowed + "\n" + report.substring(end + 1);
    }
}
