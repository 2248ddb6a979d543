package com.hand;

import com.example.bytebuf.tracker.ByteBufFlowTracker;

import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.management.MBeanServer;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXConnectorServerFactory;
import javax.management.remote.JMXServiceURL;

/** A listener of bbflow's MBean that hangs for ever, and texts of more than a mebibyte over RMI. */
public final class Beans {
    private static final int LONG_NAMES = 2500;
    private static final AtomicInteger HUNG = new AtomicInteger(), HEARD = new AtomicInteger();

    private Beans() {
    }

    private static void hang() {
        HUNG.incrementAndGet();
        for (;;) {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                continue;
            }
        }
    }

    private static void await(MBeanServer server, ObjectName name, boolean there) throws Exception {
        if (!Main.until(() -> server.isRegistered(name) == there))
            System.out.println("WRONG: registered: " + !there);
    }

    /** Lost ones, each at a name of its own: leaks, so that no report leaves them out. */
    private static void longNames() {
        StringBuilder name = new StringBuilder("com.user.");
        while (name.length() < 480)
            name.append('x');
        for (int i = 0; i < LONG_NAMES; i++) {
            Object lost = new StringBuilder(i);
            ByteBufFlowTracker.getInstance().recordMethodCall(lost, name + "N" + i, "lose", 1);
        }
    }

    private static void read(MBeanServerConnection at, ObjectName name) throws Exception {
        String llm = (String) at.invoke(name, "llm", null, null);
        String[] lines = llm.split("\n");
        System.out.println("LLM " + (llm.length() > 1000000 && llm.length() < (1 << 20) + 200) + " "
                + lines[lines.length - 1].replaceAll("[0-9]+", "N"));
        try {
            at.invoke(name, "report", new Object[] {"json", false}, new String[] {"java.lang.String", "boolean"});
            System.out.println("WRONG: json");
        } catch (RuntimeMBeanException e) {
            System.out.println("JSON " + e.getCause().getMessage());
        }
        System.out.println("SUMMARY " + ((String) at.getAttribute(name, "Summary")).contains("Total Root Methods:"));
    }

    public static void main(String[] args) throws Exception {
        ObjectName name = new ObjectName("io.bbflow:type=Tracker");
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        await(server, name, true);
        server.addNotificationListener(name, (note, handback) -> hang(), null, null);
        server.addNotificationListener(name, (note, handback) -> HEARD.incrementAndGet(), note -> {
            throw new IllegalStateException("the filter");
        }, null);
        Main.loseHeap(3);
        System.out.println("HUNG " + Main.until(() -> HUNG.get() == 1));
        longNames();
        Main.until(() -> ByteBufFlowTracker.getInstance().getActiveFlowCount() == 0);
        JMXConnectorServer connector = JMXConnectorServerFactory.newJMXConnectorServer(
            new JMXServiceURL("service:jmx:rmi://"), null, server);
        connector.start();
        try (JMXConnector client = JMXConnectorFactory.connect(connector.getAddress())) {
            read(client.getMBeanServerConnection(), name);
        }
        connector.stop();
        System.out.println("READY");
        await(server, name, false);
        System.out.println("GONE");
        await(server, name, true);
        server.addNotificationListener(name, (note, handback) -> HEARD.incrementAndGet(), null, null);
        Main.loseHeap(2);
        System.out.println("HEARD " + Main.until(() -> HEARD.get() > 0) + " " + HUNG.get());
        while (System.in.read() >= 0)
            continue;
    }
}
