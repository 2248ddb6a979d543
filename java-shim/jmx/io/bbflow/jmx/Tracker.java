// SPDX-License-Identifier: Apache-2.0
package io.bbflow.jmx;

import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.MBeanNotificationInfo;
import javax.management.Notification;
import javax.management.NotificationBroadcasterSupport;
import javax.management.NotificationFilter;
import javax.management.NotificationListener;
import javax.management.ObjectName;

/**
 * The MBean io.bbflow:type=Tracker. Listeners and their filters are the application's code: they run in a
 * thread of their own, which ends after ten idle seconds, behind a queue of QUEUE notifications.
 */
public final class Tracker extends NotificationBroadcasterSupport implements TrackerMXBean, ThreadFactory {
    private static final int QUEUE = 1000;
    private static final long NUMBERS_NS = 1_000_000_000L;

    private final ObjectName name;
    private final String version;
    private final ThreadPoolExecutor notifier;
    private final AtomicLong sequence = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();
    private long[] numbers; // of numbersAt; under this
    private long numbersAt;

    Tracker(ObjectName name, String version) {
        super(new MBeanNotificationInfo(
                new String[] {"io.bbflow.leak", "io.bbflow.aged", "io.bbflow.misuse", "io.bbflow.oom",
                              "io.bbflow.oomReport", "io.bbflow.nearLimit"},
                Notification.class.getName(), "what happened to buffers, as a line; user data: its numbers"));
        this.name = name;
        this.version = version;
        notifier = new ThreadPoolExecutor(1, 1, 10, TimeUnit.SECONDS, new ArrayBlockingQueue<Runnable>(QUEUE), this);
        notifier.allowCoreThreadTimeOut(true);
    }

    @Override
    public Thread newThread(Runnable work) {
        return Registration.thread(work, "bbflow-notifier");
    }

    @Override
    public void addNotificationListener(NotificationListener listener, NotificationFilter filter, Object handback) {
        super.addNotificationListener(listener, filter, handback);
        Native.listened();
    }

    /** Agent thread: queue a notification; false: no room. */
    boolean offer(String type, String line, long timeMillis, TreeMap<String, Object> data) {
        Notification note = new Notification("io.bbflow." + type, name, sequence.incrementAndGet(), timeMillis, line);
        note.setUserData(data);
        try {
            notifier.execute(new Notice(this, note));
            return true;
        } catch (RejectedExecutionException e) {
            dropped.incrementAndGet();
            return false;
        }
    }

    void end() {
        notifier.shutdownNow();
    }

    private synchronized long number(int i) {
        if (numbers == null || System.nanoTime() - numbersAt > NUMBERS_NS) {
            numbers = Native.needNumbers();
            numbersAt = System.nanoTime();
        }
        return numbers[i];
    }

    private synchronized void forgetNumbers() {
        numbers = null;
    }

    private static String report(String format) {
        return Native.text(Native.report(Native.bytes(format), false));
    }

    @Override
    public String getVersion() {
        return version;
    }

    @Override
    public long getLives() {
        return number(0);
    }

    @Override
    public long getReleased() {
        return number(1);
    }

    @Override
    public long getActiveFlows() {
        return number(2);
    }

    @Override
    public long getActiveBytes() {
        return number(3);
    }

    @Override
    public long getLeakedBuffers() {
        return number(4);
    }

    @Override
    public long getLeakedBytes() {
        return number(5);
    }

    @Override
    public long getAgedBuffers() {
        return number(6);
    }

    @Override
    public long getUsesAfterRelease() {
        return number(7);
    }

    @Override
    public long getDroppedSteps() {
        return number(8);
    }

    @Override
    public long getDroppedLives() {
        return number(9);
    }

    @Override
    public long getRootCount() {
        return number(10);
    }

    @Override
    public long getLeakPaths() {
        return number(11);
    }

    @Override
    public long getSample() {
        return number(12);
    }

    @Override
    public long getDroppedNotifications() {
        return dropped.get();
    }

    @Override
    public String[] getFormats() {
        return report("formats").split(" ");
    }

    @Override
    public String getSummary() {
        return report("summary");
    }

    @Override
    public String getStatus() {
        return report("status");
    }

    @Override
    public String tree() {
        return report("tree");
    }

    @Override
    public String llm() {
        return report("llm");
    }

    @Override
    public String report(String format, boolean collectFirst) {
        return Native.text(Native.report(Native.bytes(format), collectFirst));
    }

    @Override
    public String reset() {
        return reset(false);
    }

    @Override
    public String resetNodes() {
        return reset(true);
    }

    private String reset(boolean nodes) {
        String done = Native.text(Native.reset(nodes));
        forgetNumbers();
        return done;
    }

    @Override
    public String exportToFile(String path, String format) {
        Native.checkWrite(path);
        return Native.text(Native.export(Native.bytes(path), Native.bytes(format)));
    }
}
