// SPDX-License-Identifier: Apache-2.0
package io.bbflow.handlers;

import java.lang.ref.WeakReference;

/**
 * A handler of the application, and its snapshots. Each is made and delivered in a thread of its own, so a
 * handler that hangs keeps one thread and nothing else.
 */
final class Handler implements Runnable {
    private final Pusher pusher;
    private final WeakReference<Object> handler;
    private final WeakReference<Class<?>> type;
    private final String className;
    private Thread thread; // under this; null: no call
    private Object called; // under this; keeps the handler during the call
    private long[] base;   // the thread's, and the pusher's while there is none

    Handler(Pusher pusher, Object handler, Class<?> type, long[] base) {
        this.pusher = pusher;
        this.handler = new WeakReference<Object>(handler);
        this.type = new WeakReference<Class<?>>(type);
        this.base = base;
        className = handler.getClass().getName();
    }

    /** Null: unloaded. */
    Object object() {
        return handler.get();
    }

    /** False: its last call has not returned. */
    synchronized boolean begin() {
        Object target = handler.get();
        if (thread != null || target == null)
            return thread == null;
        if (!HandlersNative.enter(target))
            return false;
        called = target;
        thread = Pusher.thread(this, "bbflow-handler", target.getClass().getClassLoader());
        try {
            thread.start();
        } catch (Throwable e) { // the process may have no more threads
            end();
            pusher.failed(className, e);
        }
        return true;
    }

    private synchronized void end() {
        HandlersNative.leave(called);
        thread = null;
        called = null;
    }

    synchronized boolean isBusy() {
        return thread != null;
    }

    synchronized void interrupt() {
        if (thread != null)
            thread.interrupt();
    }

    @Override
    public void run() {
        try {
            push();
        } catch (Throwable e) { // the application's, also errors
            pusher.failed(className, e);
        } finally {
            end();
        }
    }

    private void push() throws ReflectiveOperationException {
        Object target = handler.get();
        Class<?> api = type.get();
        if (target == null || api == null)
            return;
        Copy copy = Copies.THIS.get(api);
        int kinds = copy.required(target);
        if (kinds == 0 || pusher.isStopped())
            return;
        Flows flows = Flows.since(base, kinds);
        if (flows == null || pusher.isStopped())
            return;
        base = flows.base; // before the call: what a handler threw away does not come again
        pusher.collected(base);
        copy.push(target, flows);
        pusher.pushed();
    }
}
