// SPDX-License-Identifier: Apache-2.0
package io.bbflow.jmx;

import javax.management.Notification;

/** A notification that waits for the thread of the listeners. */
final class Notice implements Runnable {
    private final Tracker tracker;
    private final Notification note;

    Notice(Tracker tracker, Notification note) {
        this.tracker = tracker;
        this.note = note;
    }

    @Override
    public void run() {
        tracker.sendNotification(note);
    }
}
