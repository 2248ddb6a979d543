// SPDX-License-Identifier: Apache-2.0
package io.bbflow.javaagent;

import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;

/**
 * The agent class of bbflow-javaagent.jar (docs/java-agent.md): -javaagent:, Launcher-Agent-Class, and attach by any
 * tool. It is for Java 8, so that an older JVM gets a sentence; all the rest is for Java 11. What it does is done by
 * classes in a loader of their own: java.lang is opened to them, and must not be opened to the application.
 */
public final class Agent {
    private static final String START = "io.bbflow.javaagent.Start";
    private static ClassLoader loader;

    private Agent() {}

    /** Exits with 1 if the options are wrong, as -agentpath does: throwing would abort the JVM with a core dump. */
    public static void premain(String options, Instrumentation instrumentation) {
        int result = call("premain", options, instrumentation);
        if (result != 0)
            System.exit(result > 0 ? 0 : 1);
    }

    /** @throws IllegalStateException if bbflow could not be started: the tool that attaches learns it by this alone */
    public static void agentmain(String options, Instrumentation instrumentation) {
        if (isLauncher())
            premain(options, instrumentation);
        else if (call("agentmain", options, instrumentation) != 0)
            throw new IllegalStateException("bbflow was not started; the line before, or the file of log=, has the reason");
    }

    /** Launcher-Agent-Class: main comes next, and no tool waits for an answer. */
    private static boolean isLauncher() {
        for (StackTraceElement frame : Thread.currentThread().getStackTrace())
            if (frame.getClassName().equals("sun.launcher.LauncherHelper"))
                return true;
        return false;
    }

    private static int call(String method, String options, Instrumentation instrumentation) {
        String version = System.getProperty("java.specification.version", "");
        boolean old = version.startsWith("1.") || version.equals("9") || version.equals("10");
        try {
            if (old)
                return refuse(method, options, "this JVM runs Java " + version + "; bbflow needs HotSpot 11 or newer");
            return (Integer) loader().loadClass(START)
                .getMethod(method, String.class, Instrumentation.class).invoke(null, options, instrumentation);
        } catch (Throwable error) {
            Throwable cause = error instanceof InvocationTargetException ? error.getCause() : error;
            return refuse(method, options, "the Java agent failed: " + cause);
        }
    }

    private static synchronized ClassLoader loader() {
        if (loader == null)
            loader = new Private();
        return loader;
    }

    /** Logs why bbflow stays off, and returns what that is for the caller. */
    static int refuse(String method, String options, String why) {
        boolean stop = !method.equals("premain") || Settings.stops(options);
        log(stop ? why : why + "; bbflow stays off; the application continues");
        return stop ? -1 : 0;
    }

    /** One line on stderr, past System.err, which the application may have replaced. */
    static void log(String text) {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.err));
        out.print("[bbflow] error: " + text.replace('\n', ' ') + "\n");
        out.flush();
    }

    /** Defines this package's classes once more, from the same place, in an unnamed module of its own. */
    private static final class Private extends ClassLoader {
        Private() {
            super(getSystemClassLoader().getParent()); // the platform's
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            String file = name.replace('.', '/') + ".class";
            if (!name.startsWith("io.bbflow.javaagent."))
                throw new ClassNotFoundException(name);
            try (InputStream in = Agent.class.getResourceAsStream("/" + file)) {
                if (in == null)
                    throw new ClassNotFoundException(name);
                byte[] bytes = read(in);
                return defineClass(name, bytes, 0, bytes.length, Agent.class.getProtectionDomain());
            } catch (IOException error) {
                throw new ClassNotFoundException(name, error);
            }
        }

        @Override
        public InputStream getResourceAsStream(String name) {
            return Agent.class.getResourceAsStream("/" + name);
        }

        private static byte[] read(InputStream in) throws IOException {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] part = new byte[8192];
            for (int n; (n = in.read(part)) > 0;)
                out.write(part, 0, n);
            return out.toByteArray();
        }
    }
}
