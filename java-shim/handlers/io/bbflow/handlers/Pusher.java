// SPDX-License-Identifier: Apache-2.0
package io.bbflow.handlers;

import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;

/**
 * Once an interval: starts a call of each handler that is not busy. Its thread runs none of the
 * application's code.
 */
final class Pusher implements Runnable {
    static final int MAX_HANDLERS = 64, MAX_LOADERS = 256, MAX_SEARCHES = 16;
    private static final int STOP_MS = 1000, MAX_TEXT = 250;
    private static final long DEFAULT_SECONDS = 60, MAX_SECONDS = 86400;
    private static Pusher current; // agent thread

    private final Weak<ClassLoader> loaders = new Weak<ClassLoader>(); // under this, as all below
    private final Weak<Class<?>> copies = new Weak<Class<?>>();
    private final ArrayList<Handler> handlers = new ArrayList<Handler>();
    private final Weak<Class<?>> made = new Weak<Class<?>>(); // handlers' classes that a search took
    private final HashSet<String> seen = new HashSet<String>(), missed = new HashSet<String>(); // metric.handlers
    private final ArrayList<ClassLoader> waiting = new ArrayList<ClassLoader>();
    private final ArrayList<ClassLoader> later = new ArrayList<ClassLoader>(); // an earlier search of it runs
    private long everyMillis, nextNanos;
    private long[] newest; // the base of a handler that is new
    private boolean stopped;
    private final boolean again;
    private int searches;
    private long pushes, failures, skips, refused;
    private byte[] failure;
    private Thread thread;

    private Pusher(long seconds, boolean again) {
        this.again = again;
        setEvery(seconds);
        nextNanos = System.nanoTime() + everyMillis * 1000000;
    }

    static Thread thread(Runnable work, String name, ClassLoader loader) {
        Thread thread = new Thread(null, work, name, 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(loader);
        return thread;
    }

    // ---- the agent thread ----

    /** seconds: 0 = of the property. again: what was lost up to now is of an earlier start. */
    static void start(long seconds, boolean again) {
        current = new Pusher(seconds, again);
        current.thread = thread(current, "bbflow-metrics", Pusher.class.getClassLoader());
        current.thread.start();
    }

    static void found(Object[] foundLoaders) {
        Pusher to = current;
        if (to != null)
            to.enqueue(foundLoaders);
    }

    static void every(long seconds) {
        Pusher to = current;
        if (to != null)
            to.setEvery(seconds);
    }

    /** Waits a second at most, and not for handlers. */
    static void stop() throws InterruptedException {
        Pusher last = current;
        current = null;
        if (last == null)
            return;
        last.end();
        last.thread.join(STOP_MS);
    }

    private synchronized void enqueue(Object[] found) {
        for (Object loader : found) {
            if (loader == null)
                break; // the array is longer
            if (loaders.add((ClassLoader) loader, MAX_LOADERS))
                waiting.add((ClassLoader) loader);
            else if (!loaders.contains((ClassLoader) loader))
                refused++;
        }
        notifyAll();
    }

    private synchronized void setEvery(long seconds) {
        long old = everyMillis;
        everyMillis = 1000 * (seconds > 0 ? seconds : ofProperty());
        nextNanos += (everyMillis - old) * 1000000;
        notifyAll();
    }

    private static long ofProperty() {
        try {
            long seconds = Long.parseLong(System.getProperty("bytebuf.metrics.pushInterval", "").trim());
            return seconds < 1 || seconds > MAX_SECONDS ? DEFAULT_SECONDS : seconds;
        } catch (RuntimeException e) {
            return DEFAULT_SECONDS;
        }
    }

    private synchronized void end() {
        stopped = true;
        for (Handler handler : handlers)
            handler.interrupt();
        waiting.clear();
        later.clear();
        notifyAll();
    }

    // ---- the thread ----

    @Override
    public void run() {
        try {
            Flows before = again ? Flows.since(null, 0) : null;
            if (before != null)
                collected(before.base);
            while (round())
                report();
        } catch (Throwable e) {
            failed("the thread of the handlers ends", e);
        }
        synchronized (this) {
            for (Class<?> type : copies.all()) { // else they keep bbflow's loader
                Copies.THIS.remove(type);
                Anchor.THIS.remove(type);
            }
        }
    }

    private synchronized boolean round() throws ReflectiveOperationException {
        while (!stopped && waiting.isEmpty()) {
            long left = nextNanos - System.nanoTime();
            if (left <= 0)
                break;
            try {
                wait(left / 1000000 + 1);
            } catch (InterruptedException e) {
                continue; // an interrupt is the application's
            }
        }
        if (stopped)
            return false;
        while (!waiting.isEmpty() && searches < MAX_SEARCHES)
            search(waiting.remove(waiting.size() - 1));
        if (!waiting.isEmpty()) {
            refused += waiting.size();
            waiting.clear();
        }
        if (nextNanos - System.nanoTime() <= 0) {
            push();
            waiting.addAll(later);
            later.clear();
        }
        return true;
    }

    private void search(ClassLoader loader) {
        if (!HandlersNative.enter(loader)) {
            later.add(loader);
            return;
        }
        searches++;
        try {
            thread(new Search(this, loader), "bbflow-handlers", loader).start();
        } catch (Throwable e) {
            searches--;
            HandlersNative.leave(loader);
            failed("the search for handlers", e);
        }
    }

    private void push() throws ReflectiveOperationException {
        long step = everyMillis * 1000000, late = System.nanoTime() - nextNanos;
        nextNanos += (1 + late / step) * step;
        missed.removeAll(seen);
        for (String name : missed)
            failed(name, new ClassNotFoundException("no loader with Netty or the API has it"));
        missed.clear();
        refresh();
        for (Handler handler : handlers)
            if (!handler.begin())
                skips++;
    }

    /** The handlers that are registered now. */
    private void refresh() throws ReflectiveOperationException {
        ArrayList<Handler> now = new ArrayList<Handler>();
        for (Class<?> type : copies.all()) {
            for (Object each : Copies.THIS.get(type).handlers()) {
                Handler known = find(each);
                if (now.size() < MAX_HANDLERS)
                    now.add(known != null ? known : new Handler(this, each, type, newest));
                else
                    refused++;
            }
        }
        handlers.clear();
        handlers.addAll(now);
    }

    private Handler find(Object object) {
        for (Handler handler : handlers)
            if (handler.object() == object)
                return handler;
        return null;
    }

    // ---- any thread ----

    synchronized boolean isStopped() {
        return stopped;
    }

    synchronized void add(Class<?> type) {
        if (!stopped)
            copies.add(type, MAX_LOADERS);
    }

    synchronized boolean isFirst(Class<?> type) {
        return !stopped && made.add(type, MAX_LOADERS);
    }

    synchronized void sawNamed(String name) {
        seen.add(name);
    }

    synchronized void missedNamed(String name) {
        missed.add(name);
    }

    synchronized void searched(ClassLoader loader) {
        HandlersNative.leave(loader);
        searches--;
        report();
    }

    synchronized void collected(long[] base) {
        newest = base;
    }

    synchronized void pushed() {
        pushes++;
        report();
    }

    /** The throwable may be of the application's own class, whose methods throw. */
    void failed(String what, Throwable e) {
        String text;
        try {
            Throwable cause = e instanceof InvocationTargetException && e.getCause() != null ? e.getCause() : e;
            text = what + ": " + cause;
        } catch (Throwable again) {
            text = what + ": a throwable whose text cannot be had";
        }
        synchronized (this) {
            failures++;
            failure = (text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) : text).getBytes(StandardCharsets.UTF_8);
            report();
        }
    }

    private synchronized void report() {
        if (stopped)
            return;
        long busy = 0;
        for (Handler handler : handlers)
            busy += handler.isBusy() ? 1 : 0;
        HandlersNative.counted(new long[] {handlers.size(), copies.all().size(), pushes, failures, skips, busy, refused}, failure);
    }
}
