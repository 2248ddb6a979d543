/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowScopes - scopes=on: in which scope (a test) a life is opened. trie/scopes.h has what
 * is noted; docs/adr/0069 the order in which the sources are asked, and why none names a wrong test.
 *
 * An event loop knows by hooks what it has in hand: the channel it reads for, or the task it runs.
 * The scope of these is that of what made the channel or queued the task. It is kept in the words of
 * the carrier thread's stripe (STRIPE_SCOPE), with the thread's id, because a stripe changes hands.
 */
package java.lang;

import static java.lang.BBFlowHandle.*;
import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowRecords.*;

import java.util.concurrent.ForkJoinWorkerThread;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowScopes {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final int CHANNELS = 0, TASKS = 1;

    /** Where a Thread has its Runnable: in itself, or (JDK 19) behind another field. 0: not asked yet. */
    private static long target, holder;

    private BBFlowScopes() {
    }

    @ForceInline
    @Hidden
    static boolean on() {
        return (U.getInt(SHARED + SHARED_SLOW_HOOKS) & SLOW_SCOPES) != 0;
    }

    // ---- the words of a record ----

    /** 0: scopes= is off, or there is no memory. */
    @Hidden
    private static long scopeAt(long f) {
        long base = U.getLongVolatile(null, SHARED + SHARED_SCOPES), record = f & LOW & RECORD_MASK;
        if (base == 0)
            return 0;
        if (record < U.getLongVolatile(null, SHARED + SHARED_SCOPES_END)
                || BBFlowNative.scopeReach((int) record))
            return base + record * SCOPE_SIZE;
        U.getAndAddLong(null, SHARED + SHARED_SCOPE_DROPPED, 1);
        return 0;
    }

    /** The scope of an open life; 0: it has no scope. */
    @Hidden
    private static int scopeOf(long f) {
        long base = U.getLongVolatile(null, SHARED + SHARED_SCOPES), record = f & LOW & RECORD_MASK;
        if (base == 0 || record >= U.getLongVolatile(null, SHARED + SHARED_SCOPES_END))
            return 0;
        long word = U.getLong(base + record * SCOPE_SIZE + SCOPE_OF);
        return ((word ^ f) >>> 32) == 0 ? (int) word : 0;
    }

    /** A life was opened, or was already: then its scope is known. parent: it was derived from that. */
    @Hidden
    static void opened(long f, long parent) {
        if (isFresh(f) || f == IGN || f == NEVER || !isOpen(f))
            return;
        long at = scopeAt(f);
        if (at == 0 || ((U.getLong(at + SCOPE_OF) ^ f) >>> 32) == 0)
            return;
        int number = resolve(parent);
        U.putLong(at + SCOPE_DURING, f & HIGH | U.getInt(SHARED + SHARED_SCOPE_ONLY));
        U.putLongRelease(null, at + SCOPE_OF, f & HIGH | number);
    }

    // ---- what this thread is doing ----

    /** Virtual threads run on it, and its stripe says nothing of them. */
    @Hidden
    private static boolean isCarrier(Thread t) {
        return t instanceof ForkJoinWorkerThread
                && t.getClass().getName().equals("jdk.internal.misc.CarrierThread");
    }

    /** A thread of its starter's own: the next task of a pool's thread may be another's. */
    @Hidden
    private static boolean isPlain(Thread t) {
        if (t.getClass() != Thread.class)
            return false;
        if (target == 0)
            findTarget(t);
        Object of = holder > 0 ? U.getReference(t, holder) : t;
        Object task = of != null && target > 0 ? U.getReference(of, target) : null;
        String name = task != null ? task.getClass().getName() : "";
        return task != null && !name.startsWith("java.util.concurrent.")
                && !name.endsWith("netty.util.concurrent.FastThreadLocalRunnable");
    }

    @Hidden
    private static void findTarget(Thread t) {
        long at = BBFlowKind.offset(Thread.class, "target", "Ljava/lang/Runnable;");
        long behind = BBFlowKind.offset(Thread.class, "holder", "Ljava/lang/Thread$FieldHolder;");
        Object of = behind > 0 ? U.getReference(t, behind) : null;
        holder = behind;
        target = of != null ? BBFlowKind.offset(of.getClass(), "task", "Ljava/lang/Runnable;") : at;
    }

    /** Did no other test run since this one began, or no other class of tests? */
    @Hidden
    private static boolean isAlone(int number) {
        return number != 0 && (number == U.getInt(SHARED + SHARED_SCOPE_ONLY)
                || number == U.getInt(SHARED + SHARED_SCOPE_CLASS));
    }

    /** The scope of a life that is opened now; 0: that cannot be said. */
    @Hidden
    private static int resolve(long parent) {
        int[] mine = BBFlowScope.CURRENT.get();
        if (mine != null && mine[1] == BBFlowScope.OWN && mine[0] != 0)
            return mine[0];
        int number = parent != 0 && parent != IGN && parent != NEVER && isOpen(parent) ? scopeOf(parent) : 0;
        if (number != 0)
            return number;
        Thread carrier = Thread.currentThread();
        boolean virtual = isCarrier(carrier);
        long stripe = virtual ? 0 : stripe(), word = stripe != 0 ? U.getLong(stripe + STRIPE_SCOPE) : 0;
        if ((int) (word >>> 32) == (int) tid()) {
            boolean loop = (word & SCOPE_LOOP) != 0;
            long seen = U.getLong(stripe + STRIPE_SEEN);
            number = seen != 0 && isOpen(seen) ? scopeOf(seen) : 0;
            if (number != 0 && (loop || isAlone(number)))
                return number;
            number = (int) word & SCOPE_NUMBER;
            if (loop)
                return number != 0 ? number : U.getInt(SHARED + SHARED_SCOPE_CLASS);
        }
        number = mine != null ? mine[0] : 0;
        if (number != 0 && (virtual || isPlain(carrier) || isAlone(number)))
            return number;
        return U.getInt(SHARED + SHARED_SCOPE_CLASS);
    }

    /** An open life was here. */
    @Hidden
    static void seen(Object o) {
        long f = BBFlowLook.handleOf(o);
        if (isFresh(f) || f == IGN || f == NEVER || !isOpen(f) || isCarrier(Thread.currentThread()))
            return;
        long stripe = stripe(), tid = tid();
        if (stripe == 0)
            return;
        if ((int) (U.getLong(stripe + STRIPE_SCOPE) >>> 32) != (int) tid)
            U.putLong(stripe + STRIPE_SCOPE, tid << 32);
        U.putLong(stripe + STRIPE_SEEN, f);
    }

    /** This thread enters or leaves a scope: what it did before says nothing of what follows. */
    @Hidden
    static void forget() {
        long stripe = stripe();
        if (stripe != 0) {
            U.putLong(stripe + STRIPE_SCOPE, 0);
            U.putLong(stripe + STRIPE_SEEN, 0);
        }
    }

    // ---- event loops ----

    /** This thread is an event loop, and has this in hand from now on. */
    @Hidden
    private static void begins(int number, int bits) {
        long stripe = stripe();
        if (stripe == 0 || isCarrier(Thread.currentThread()))
            return;
        U.putLong(stripe + STRIPE_SCOPE, tid() << 32 | SCOPE_LOOP | bits | number);
        U.putLong(stripe + STRIPE_SEEN, 0);
    }

    @Hidden
    private static long keyOfChannel(Object channel) {
        return BBFlowContext.idOf(channel) & HIGH | System.identityHashCode(channel) & LOW;
    }

    @Hidden
    private static long keyOfTask(Object task) {
        return (long) System.identityHashCode(task.getClass()) << 32 | System.identityHashCode(task) & LOW;
    }

    @Hidden
    static void madeChannel(Object channel) {
        int number = on() && channel != null ? resolve(0) : 0;
        if (number != 0)
            BBFlowNative.scopeMark(CHANNELS, keyOfChannel(channel), number);
    }

    /** The id is set before the pipeline is made: the key is the same then and later. */
    @Hidden
    private static int scopeOfChannel(Object channel) {
        return BBFlowNative.scopeMarked(CHANNELS, keyOfChannel(channel), false);
    }

    @Hidden
    static void reads(Object of) {
        Object channel = on() ? BBFlowContext.channelBehind(of) : null;
        if (channel != null)
            begins(scopeOfChannel(channel), 0);
    }

    /**
     * An event of a channel: its read, or one within something else's. The latter may return to what
     * it is within, which no hook sees; so with another scope than the one in hand none is in hand.
     */
    @Hidden
    static void fires(Object pipeline) {
        long stripe = on() ? stripe() : 0, word = stripe != 0 ? U.getLong(stripe + STRIPE_SCOPE) : 0;
        int number = (int) word & SCOPE_NUMBER;
        if (number == 0 || (word & SCOPE_LOOP) == 0 || (int) (word >>> 32) != (int) tid())
            return;
        Object channel = BBFlowContext.channelOfPipeline(pipeline);
        if (channel == null || scopeOfChannel(channel) != number) {
            U.putLong(stripe + STRIPE_SCOPE, word & ~(long) SCOPE_NUMBER);
            U.putLong(stripe + STRIPE_SEEN, 0);
        }
    }

    @Hidden
    static void queues(Object task) {
        if (on() && task != null)
            BBFlowNative.scopeMark(TASKS, keyOfTask(task), resolve(0));
    }

    /** outer: of a method that calls the one with the other hook, if that is there. */
    @Hidden
    static void runs(Object task, boolean outer) {
        if (!on() || task == null)
            return;
        long stripe = stripe(), word = stripe != 0 ? U.getLong(stripe + STRIPE_SCOPE) : 0;
        if (!outer && (word & SCOPE_BEGUN) != 0 && (int) (word >>> 32) == (int) tid()) {
            U.putLong(stripe + STRIPE_SCOPE, word & ~(long) SCOPE_BEGUN);
            return;
        }
        // One that repeats comes again without being queued.
        boolean again = task.getClass().getName().endsWith("netty.util.concurrent.ScheduledFutureTask");
        begins(BBFlowNative.scopeMarked(TASKS, keyOfTask(task), !again), outer ? SCOPE_BEGUN : 0);
    }
}
