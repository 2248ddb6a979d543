package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.io.File;
import java.io.FileWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanServer;
import javax.management.MBeanServerConnection;
import javax.management.Notification;
import javax.management.NotificationListener;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXConnectorServerFactory;
import javax.management.remote.JMXServiceURL;

/**
 * jmx [compat]: a client of bbflow's MBeans by JMX's RMI connector, in the same JVM. Loses three buffers,
 * waits for the notification, and prints what it read as "JMX name=value". With "gone": it prints
 * when the MBeans of jmx=compat have come and when both have gone.
 */
final class Jmx {
    private static final BlockingQueue<Notification> NOTES = new LinkedBlockingQueue<>();
    private static MBeanServerConnection at;
    private static ObjectName name;

    private Jmx() {
    }

    private static void say(String key, Object value) {
        System.out.println("JMX " + key + "=" + value);
    }

    private static Object call(String operation, Object... args) throws Exception {
        String[] types = new String[args.length];
        for (int i = 0; i < args.length; i++)
            types[i] = args[i] instanceof Boolean ? "boolean" : "java.lang.String";
        try {
            return at.invoke(name, operation, args, types);
        } catch (javax.management.RuntimeMBeanException e) {
            return "!" + e.getCause().getMessage();
        }
    }

    private static void lose() {
        for (int i = 0; i < 3; i++) {
            ByteBuf buffer = UnpooledByteBufAllocator.DEFAULT.heapBuffer(64);
            Steps.leaky(buffer);
        }
    }

    private static void waitForLeak() throws Exception {
        for (int i = 0; i < 60; i++) {
            System.gc();
            Notification note = NOTES.poll(300, TimeUnit.MILLISECONDS);
            if (note == null || !note.getType().equals("io.bbflow.leak"))
                continue;
            Map<?, ?> data = (Map<?, ?>) note.getUserData();
            say("note", data.get("count") + " " + data.get("bytes") + " " + data.get("memory"));
            say("line", note.getMessage());
            return;
        }
        say("note", "none came");
    }

    private static void files() throws Exception {
        File folder = Files.createTempDirectory("bbf-jmx").toFile();
        File report = new File(folder, "x.json"), other = new File(folder, "precious");
        try (FileWriter out = new FileWriter(other)) {
            out.write("mine");
        }
        say("export", call("exportToFile", report.getPath(), "").equals(report.getPath()));
        say("exported", new String(Files.readAllBytes(report.toPath()), "UTF-8").startsWith("{"));
        say("again", call("exportToFile", report.getPath(), "tree").equals(report.getPath()));
        say("refused", ((String) call("exportToFile", other.getPath(), "tree")).startsWith("!bbflow: " + other));
        say("kept", new String(Files.readAllBytes(other.toPath()), "UTF-8"));
        say("unknown", call("exportToFile", report.getPath(), "word"));
        for (File file : folder.listFiles())
            file.delete();
        folder.delete();
    }

    private static void compat() throws Exception {
        ObjectName old = new ObjectName("com.example:type=ByteBufFlowTracker");
        say("compat", at.isRegistered(old));
        if (!at.isRegistered(old))
            return;
        say("ActiveFlowCount", at.getAttribute(old, "ActiveFlowCount"));
        say("RootCount", at.getAttribute(old, "RootCount"));
        say("Summary", ((String) at.getAttribute(old, "Summary")).split("\n")[0]);
        say("TreeView", ((String) at.getAttribute(old, "TreeView")).contains("Steps.leaky"));
        say("LLMView", ((String) at.getAttribute(old, "LLMView")).contains("\nLEAKS:\nMODERATE_LEAK|root="));
        at.invoke(old, "reset", null, null);
        say("compat reset", at.getAttribute(old, "RootCount"));
    }

    private static void waitUntil(MBeanServer server, boolean registered, String word) throws Exception {
        ObjectName old = new ObjectName("com.example:type=ByteBufFlowTracker");
        for (int i = 0; i < 400; i++) {
            if (server.isRegistered(name) == registered && server.isRegistered(old) == registered) {
                System.out.println(word);
                return;
            }
            Thread.sleep(50);
        }
    }

    static void run(String[] args) throws Exception {
        name = new ObjectName("io.bbflow:type=Tracker");
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        if (args.length > 0 && args[0].equals("gone")) {
            waitUntil(server, true, "REGISTERED");
            waitUntil(server, false, "GONE");
            return;
        }
        for (int i = 0; i < 200 && !server.isRegistered(name); i++)
            Thread.sleep(50);
        JMXConnectorServer connector = JMXConnectorServerFactory.newJMXConnectorServer(
            new JMXServiceURL("service:jmx:rmi://"), null, server);
        connector.start();
        try (JMXConnector client = JMXConnectorFactory.connect(connector.getAddress())) {
            at = client.getMBeanServerConnection();
            NotificationListener listener = (note, handback) -> NOTES.add(note);
            at.addNotificationListener(name, listener, null, null);
            lose();
            waitForLeak();
            for (String attribute : Arrays.asList("LeakedBuffers", "LeakedBytes", "Lives", "ActiveFlows", "RootCount", "LeakPaths"))
                say(attribute, at.getAttribute(name, attribute));
            say("Formats", Arrays.asList((String[]) at.getAttribute(name, "Formats")).contains("json"));
            say("tree", ((String) call("tree")).contains("Steps.leaky"));
            say("json", ((String) call("report", "json", true)).startsWith("{"));
            say("binary", call("report", "pprof", false));
            say("Status", ((String) at.getAttribute(name, "Status")).contains("registered as io.bbflow:type=Tracker"));
            files();
            if (args.length > 0)
                compat();
            else
                say("compat", at.isRegistered(new ObjectName("com.example:type=ByteBufFlowTracker")));
            say("reset", ((String) call("reset")).trim());
            say("LeakedBuffers after", at.getAttribute(name, "LeakedBuffers"));
            at.removeNotificationListener(name, listener);
        }
        connector.stop();
        say("done", "yes");
    }
}
