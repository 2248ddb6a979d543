// SPDX-License-Identifier: Apache-2.0
package io.bbflow.jmx;

import java.lang.management.ManagementFactory;
import java.util.TreeMap;
import javax.management.InstanceNotFoundException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Registers the MBeans and takes them out again. Both in threads of their own: making the platform server
 * takes a fifth of a second, and listeners of the server's delegate are the application's code.
 */
final class Registration implements Runnable {
    private static final int STOP_MS = 1000;
    private static Registration current; // agent thread

    private final boolean compat;
    private final Tracker tracker;
    private final ObjectName name, compatName;
    private volatile MBeanServer server; // null: the platform's, to be made
    private volatile boolean stopped;
    private boolean registered, compatRegistered; // under this

    private Registration(MBeanServer server, boolean compat, String version) throws Exception {
        this.server = server;
        this.compat = compat;
        name = new ObjectName("io.bbflow:type=Tracker");
        compatName = new ObjectName("com.example:type=ByteBufFlowTracker");
        tracker = new Tracker(name, version);
    }

    static Thread thread(Runnable work, String name) {
        Thread thread = new Thread(null, work, name, 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(Registration.class.getClassLoader());
        return thread;
    }

    /** Agent thread. server: null = make the platform's. */
    static void start(Object server, boolean compat, byte[] version) throws Exception {
        current = new Registration((MBeanServer) server, compat, new String(version, "US-ASCII"));
        thread(current, "bbflow-jmx").start();
    }

    /** Agent thread: take them out; waits a second at most. */
    static void stop() throws InterruptedException {
        Registration last = current;
        current = null;
        if (last == null)
            return;
        last.stopped = true;
        last.tracker.end();
        Thread thread = thread(last, "bbflow-jmx");
        thread.start();
        thread.join(STOP_MS);
    }

    /** Agent thread: false = no room. */
    static boolean offer(byte[] type, byte[] line, long timeMillis, byte[] memory, long[] numbers) {
        Registration to = current;
        if (to == null)
            return false;
        TreeMap<String, Object> data = new TreeMap<String, Object>();
        data.put("count", numbers[0]);
        data.put("bytes", numbers[1]);
        data.put("added", numbers[2]);
        data.put("addedBytes", numbers[3]);
        if (numbers[4] != 0)
            data.put("fingerprint", String.format("%016x", numbers[4]));
        if (memory.length > 0)
            data.put("memory", text(memory));
        return to.tracker.offer(text(type), text(line), timeMillis, data);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, java.nio.charset.StandardCharsets.UTF_8);
    }

    @Override
    public synchronized void run() {
        if (stopped) {
            unregister();
            return;
        }
        byte[] why = null;
        try {
            register();
        } catch (Throwable e) { // nothing of bbflow's reaches the application's handlers
            why = Native.bytes(e.toString());
            unregister();
        }
        Native.registered(why);
    }

    private void register() throws Exception {
        if (server == null)
            server = ManagementFactory.getPlatformMBeanServer();
        if (stopped)
            return;
        server.registerMBean(tracker, name);
        registered = true;
        if (compat) {
            server.registerMBean(new ByteBufFlowTracker(tracker), compatName);
            compatRegistered = true;
        }
        if (stopped)
            unregister();
    }

    private void unregister() {
        if (compatRegistered)
            unregister(compatName);
        if (registered)
            unregister(name);
        registered = compatRegistered = false;
    }

    private void unregister(ObjectName what) {
        try {
            server.unregisterMBean(what);
        } catch (InstanceNotFoundException e) {
            return; // the application took it out
        } catch (Exception e) {
            Native.registered(Native.bytes(e.toString()));
        }
    }
}
