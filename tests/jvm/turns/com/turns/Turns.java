package com.turns;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * Runs programs one after the other, for tests/jvm/sharing.py: Turns FOLDER…. Each line of stdin is
 * one: its main class and arguments, with tabs between. Its classes, from the FOLDERs, are loaded anew,
 * so it finds no statics of the one before; Netty and the JVM are as that one left them. A program has
 * ended when its main thread and all threads that keep a JVM alive have; then "TURN EXIT-CODE" is printed.
 */
public final class Turns {
    private Turns() {
    }

    public static void main(String[] folders) throws Exception {
        URL[] classes = new URL[folders.length];
        for (int i = 0; i < folders.length; i++) {
            classes[i] = new File(folders[i]).toURI().toURL();
        }
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("TURN");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            int code = turn(classes, line.split("\t", -1));
            System.err.flush();
            System.out.println("TURN " + code);
        }
    }

    private static int turn(URL[] classes, String[] words) throws InterruptedException {
        Set<Thread> before = alive();
        int[] code = {0};
        ClassLoader loader = new URLClassLoader(classes, Turns.class.getClassLoader());
        Thread program = new Thread(() -> code[0] = run(loader, words), "main");
        program.setContextClassLoader(loader);
        program.start();
        program.join();
        for (Set<Thread> left = alive(); !before.containsAll(left); left = alive()) {
            left.removeAll(before);
            left.iterator().next().join();
        }
        return code[0];
    }

    /** The threads that a JVM waits for. */
    private static Set<Thread> alive() {
        Set<Thread> found = new HashSet<>(Thread.getAllStackTraces().keySet());
        found.removeIf(Thread::isDaemon);
        return found;
    }

    /** As java does it: a trace on stderr and exit code 1 for what main throws. */
    private static int run(ClassLoader loader, String[] words) {
        try {
            Class.forName(words[0], true, loader).getMethod("main", String[].class)
                .invoke(null, (Object) Arrays.copyOfRange(words, 1, words.length));
            return 0;
        } catch (InvocationTargetException e) {
            e.getCause().printStackTrace();
        } catch (ReflectiveOperationException e) {
            e.printStackTrace();
        }
        return 1;
    }
}
