/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowShim - the hot path: what instrumented methods call. Defined in the boot loader by
 * the agent (design.md: hot path), so that every class can see it and no call can fail to link.
 *
 * Here are the public hooks alone (those of context=on: BBFlowShimContext): a guard, and a catch. What they do is in the package-private
 * classes beside this one (java-shim/boot/classes.txt has all): the fast path in BBFlowFast, which is inlined, but where windows are seldom
 * (ADR 73): there a hook is its gate and a call, which is not taken while the gate is shut. In front of that call a hook calls no
 * helper, not even idle(): for C2 each inlined method is a dozen nodes, and from 18,000 on it inlines no more of the application.
 *
 * Rules: no method of Netty or of the application is ever called; nothing is thrown, locked or
 * printed; nothing is put on the Java heap but the slot arrays (design.md: garbage detection), in map
 * mode weak references. Records, nodes, stripes and the shared page are native memory that is never
 * unmapped (design.md: address space); their addresses are written into the constant pool before a
 * class is defined (that of the records is on the shared page), so no <clinit> calls a native.
 *
 * The protocol is design.md: memory safety; its numbers are in the comments. The same in C, for TSan:
 * tests/stress/shim_twin.h. The agent thread's half: trie/lives.c. Every order of their steps, and
 * which memory order each needs: tests/model, docs/memory-model.md.
 */
package java.lang;

import static java.lang.BBFlowGuard.*;
import static java.lang.BBFlowHandle.*;
import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowRecords.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

public final class BBFlowShim {
    private static final Unsafe U = Unsafe.getUnsafe();

    private BBFlowShim() {
    }

    // ---- roots ----

    /** At the exit of a concrete allocator's terminal method. meta = site | memory << 16. */
    @ForceInline
    @Hidden
    public static void root(Object o, int size, int meta) {
        if (SELDOM) {
            if (U.getByte(null, ROOT_GATE) >= SHUT_ALONE)
                BBFlowWindows.root(o, size, meta);
            return;
        }
        reserveStack();
        if (o != null && !(WINDOWS && BBFlowWindows.refuseRoots()))
            BBFlowFast.root(o, size, meta);
    }

    /** At the exit of Unpooled's terminals, which nest: an open life is kept. */
    @ForceInline
    @Hidden
    public static void rootKeep(Object o, int size, int meta) {
        if (!WINDOWS || U.getByte(null, ROOT_GATE) >= SHUT_ALONE)
            rootKeepSlow(o, size, meta);
    }

    @DontInline
    @Hidden
    private static void rootKeepSlow(Object o, int size, int meta) {
        reserveStack();
        if (o == null || WINDOWS && (BBFlowWindows.refuseRoots() || BBFlowWindows.isOlder(o)))
            return;
        if (!(slowHooks() && (idle() || BBFlowMap.root(o, size, meta, true))))
            BBFlowRoots.root(o, size, meta, true);
    }

    // ---- views, wrappers, derived buffers (design.md: lives) ----

    /**
     * In the constructor of a view or wrapper: it walks with its owner's handle. Where windows are seldom, the first
     * step in one gives it that (BBFlowRoots.firstSight; ADR 75).
     */
    @ForceInline
    @Hidden
    public static void alias(Object view, Object owner) {
        if (SELDOM)
            return;
        reserveStack();
        BBFlowFast.alias(view, owner);
    }

    /**
     * The same for a WrappedByteBuf, but the handle of a life that is over is not taken. A leak-aware
     * wrapper is built before its buffer's root hook, which meets the wrapper in its place: with the
     * last life's handle it would open the next one for the wrapper alone.
     */
    @ForceInline
    @Hidden
    public static void wrap(Object view, Object owner) {
        if (SELDOM)
            return;
        reserveStack();
        BBFlowFast.wrap(view, owner);
    }

    /** The same where the parameter's type does not say that it is a ByteBuf. */
    @ForceInline
    @Hidden
    public static void aliasObject(Object view, Object owner) {
        if (!SELDOM && !(WINDOWS && U.getByte(null, GATE) < 0) && owner != null)
            aliasObjectSlow(view, owner);
    }

    @DontInline
    @Hidden
    private static void aliasObjectSlow(Object view, Object owner) {
        reserveStack();
        try {
            if ((kindOf(owner) & KIND_FIELD) != 0)
                alias(view, owner);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Constants such as EmptyByteBuf; its constructor may have shown it already. */
    @DontInline
    @Hidden
    public static void never(Object o) {
        reserveStack();
        reserveStackSlow();
        try {
            if (o != null && !(slowHooks() && BBFlowMap.never(o)))
                BBFlowRoots.never(o);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** At the exit of the adaptive allocator's own methods: its chunks are not buffers (design.md: lives). */
    @DontInline
    @Hidden
    public static void chunk(Object o) {
        never(o);
        if (o != null)
            U.getAndAddLong(null, SHARED + SHARED_UNTRACKED, 1);
    }

    /** Unpooled.unreleasableBuffer: the owner is marked static, the wrapper is not followed. */
    @DontInline
    @Hidden
    public static void unreleasable(Object wrapper, Object owner) {
        reserveStack();
        if (owner == null || slowHooks() && BBFlowMap.unreleasable(wrapper, owner))
            return;
        U.putLong(wrapper, OFF, NEVER);
        reserveStackSlow();
        try {
            makeStatic(current(owner)); // of a view that no step met yet, too
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** At the entry of AbstractPooledDerivedByteBuf.init: a life of its own, linked to its parent's. */
    @ForceInline
    @Hidden
    public static void derive(Object o, Object parent, int site) {
        if (SELDOM) {
            if (U.getByte(null, GATE) >= 0)
                BBFlowWindows.derive(o, parent, site);
            return;
        }
        reserveStack();
        BBFlowFast.derive(o, parent, site);
    }

    // ---- components of composites (design.md: lives) ----

    /** At the entry of newComponent: the composite owns the buffer from here on. */
    @ForceInline
    @Hidden
    public static void adopt(Object composite, Object buffer) {
        if (SELDOM) {
            if (U.getByte(null, GATE) >= 0)
                BBFlowWindows.adopt(composite, buffer);
            return;
        }
        reserveStack();
        BBFlowFast.adopt(composite, buffer);
    }

    @DontInline
    @Hidden
    public static void adoptAll(Object composite, Object components) {
        reserveStack();
        if (!idle() && components instanceof Object[])
            for (Object component : (Object[]) components)
                BBFlowFast.adoptSlow(composite, component);
    }

    /** At the exit of addFlattenedComponents, which makes its components by itself. */
    @DontInline
    @Hidden
    public static void adoptLast(Object composite) {
        reserveStack();
        reserveStackSlow();
        try {
            if (!idle())
                BBFlowComposites.adoptLast(composite);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Components from..to leave an open composite: what survives that is its own again. */
    @DontInline
    @Hidden
    public static void disown(Object composite, int from, int to) {
        reserveStack();
        reserveStackSlow();
        try {
            if (!idle())
                BBFlowComposites.disown(composite, from, to);
        } catch (Throwable t) {
            failed(t);
        }
    }

    // ---- counts and sizes: hints (design.md: record) ----

    /** After retain (delta > 0) and at an intermediate release (delta < 0): moves the refCnt bucket. */
    @ForceInline
    @Hidden
    public static void refs(Object o, int delta) {
        if (SELDOM) {
            if (FIELDS ? U.getInt(o, OFF) > 0 : U.getByte(null, GATE) >= 0)
                BBFlowWindows.refs(o, delta);
            return;
        }
        reserveStack();
        BBFlowFast.refs(o, delta);
    }

    /** At the entry of release(int): handleRelease takes off the last one. */
    @ForceInline
    @Hidden
    public static void releaseN(Object o, int decrement) {
        checkUse(o, USE_RELEASE);
        if (decrement > 1)
            refs(o, 1 - decrement);
    }

    /** At the exit of capacity(int). */
    @ForceInline
    @Hidden
    public static void resized(Object o, int size) {
        if (SELDOM) {
            if (U.getByte(null, GATE) >= 0)
                BBFlowWindows.resized(o, size);
            return;
        }
        reserveStack();
        BBFlowFast.resized(o, size);
    }

    // ---- uses after release ----

    /** Before the throw of AbstractByteBuf.ensureAccessible. */
    @DontInline
    @Hidden
    public static void reportAccess(Object o) {
        reserveStack();
        if (WINDOWS)
            return; // its last life may have begun while the gate was shut
        reserveStackSlow();
        try {
            if (o != null && !(slowHooks() && (idle() || BBFlowMap.reportAccess(o))))
                BBFlowMisuse.access(o);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /**
     * At the entry of retain and release: is there a life in force? If not, Netty is about to throw;
     * but a pool of the application may have brought the object back without a hook, so confirmMisuse()
     * decides.
     */
    @ForceInline
    @Hidden
    public static void checkUse(Object o, int use) {
        if (WINDOWS)
            return;
        reserveStack();
        if (slowHooks() && (idle() || BBFlowMap.checkUse(o, use)))
            return;
        long f = U.getLong(o, OFF), path = U.getLong(recordAt(f) + REC_PATH);
        if ((((path ^ f) >>> 32) != 0 || (int) path == NODE_NONE) && f != IGN)
            checkUseSlow(o, f, use);
    }

    /** With refs=on, at the entry of retain and release: a step named after the method that calls. */
    @DontInline
    @Hidden
    public static void counting(Object o, int use) {
        reserveStack();
        if (WINDOWS && idle())
            return;
        reserveStackSlow();
        try {
            long f = slowHooks() ? BBFlowMap.counted(o) : U.getLong(o, OFF);
            int site = f != 0 && f != IGN && f != NEVER && isOpen(f) ? BBFlowNative.caller(use) : 0;
            if (site != 0)
                BBFlowWalk.stepTo(f, site);
        } catch (Throwable t) {
            failed(t);
        }
    }

    @DontInline
    @Hidden
    private static void checkUseSlow(Object o, long f, int use) {
        reserveStackSlow();
        try {
            if (!isFresh(f) && !inForce(f) && !BBFlowRoots.isSkipped(f))
                BBFlowMisuse.suspect(f, use, kindOf(o));
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** At the end of IllegalReferenceCountException's constructors, which may call each other. */
    @DontInline
    @Hidden
    public static void confirmMisuse() {
        reserveStack();
        reserveStackSlow();
        try {
            BBFlowMisuse.confirm();
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Direct memory ran out: the error that says so was just made. The agent thread reports. */
    @DontInline
    @Hidden
    public static void exhausted() {
        reserveStack();
        try {
            U.getAndAddLong(null, SHARED + SHARED_EXHAUSTED, 1);
            BBFlowNative.wake();
        } catch (Throwable t) {
            failed(t);
        }
    }

    // ---- close (design.md: close protocol) ----

    /** At the entry of AbstractReferenceCountedByteBuf.handleRelease: before any recycling. */
    @ForceInline
    @Hidden
    public static void release(Object o, boolean zero) {
        if (FIELDS) {
            if (U.getInt(o, OFF) > 0)
                BBFlowWindows.drop(o, zero);
            return;
        }
        if (!zero) {
            refs(o, -1);
            return;
        }
        if (SELDOM) {
            // Gate shut, and o has the field: its low half says whether a life may be open.
            if (U.getByte(null, GATE) >= SHUT_ALONE || U.getInt(o, OFF) > 0)
                BBFlowWindows.drop(o, true);
            return;
        }
        reserveStack();
        if (slowHooks() && (WINDOWS ? BBFlowWindows.release(o) : idle() || BBFlowMap.release(o)))
            return;
        BBFlowFast.close(o);
    }

    // ---- pools of the application (ADR 34): with windows no step opens a life, so nothing is marked ----

    /**
     * At the entry of setRefCnt and resetRefCnt. Netty's own pools open a life where they give the
     * buffer; of a class that is not Netty's the next step does.
     */
    @ForceInline
    @Hidden
    public static void recount(Object o, int count) {
        if (!WINDOWS && U.getInt(null, SHARED + SHARED_OWN) != 0 && count > 0)
            recountSlow(o);
    }

    @DontInline
    @Hidden
    private static void recountSlow(Object o) {
        reserveStack();
        reserveStackSlow();
        try {
            BBFlowRoots.again(o);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /**
     * Behind super.clone() of a class that may be a buffer: Object.clone() copies the hidden field, and
     * the copy is not the original's life. A view's copy is a view of the same owner; a copy that a
     * step in between opened a life of keeps that.
     */
    @DontInline
    @Hidden
    public static void copied(Object copy, Object original) {
        reserveStack();
        reserveStackSlow();
        try {
            if (copy != null && copy != original && original != null
                    && (kindOf(copy) & (KIND_FIELD | KIND_VIEW)) == KIND_FIELD
                    && (kindOf(original) & KIND_FIELD) != 0
                    && U.getLong(copy, OFF) == U.getLong(original, OFF))
                U.putLong(copy, OFF, 0);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Behind deallocate(). */
    @ForceInline
    @Hidden
    public static void givenBack(Object o) {
        if (!WINDOWS && U.getInt(null, SHARED + SHARED_OWN) != 0)
            givenBackSlow(o);
    }

    @DontInline
    @Hidden
    private static void givenBackSlow(Object o) {
        reserveStack();
        reserveStackSlow();
        try {
            BBFlowRoots.givenBack(o);
        } catch (Throwable t) {
            failed(t);
        }
    }

    // ---- steps (design.md: step) ----

    /** A ByteBuf is here now: o is null or a ByteBuf by the caller's verified type. */
    @ForceInline
    @Hidden
    public static void step(Object o, int site) {
        if (SELDOM) {
            if (U.getByte(null, GATE) >= 0)
                BBFlowWindows.step(o, site);
            return;
        }
        reserveStack();
        BBFlowFast.step(o, site);
    }

    @ForceInline
    @Hidden
    public static void step2(Object a, Object b, int site) {
        if (SELDOM) {
            if (U.getByte(null, GATE) >= 0)
                BBFlowWindows.step2(a, b, site);
            return;
        }
        step(a, site);
        step(b, site);
    }

    // ---- objects of track= ----

    /** At the end of a constructor whose class track= may mean. */
    @DontInline
    @Hidden
    public static void made(Object o) {
        reserveStack();
        if (WINDOWS && BBFlowWindows.refuseRoots())
            return;
        reserveStackSlow();
        try {
            BBFlowTrack.made(o);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** At the entry of a method that is named as the closing one of these entries. */
    @DontInline
    @Hidden
    public static void closed(Object o, int entries) {
        reserveStack();
        reserveStackSlow();
        try {
            BBFlowTrack.closed(o, entries);
        } catch (Throwable t) {
            failed(t);
        }
    }

    // ---- anything that may be or hold a buffer ----

    /** o may be anything: a ByteBuf of unknown ancestry, a holder (read by field), or neither. */
    @ForceInline
    @Hidden
    public static void stepObject(Object o, int site) {
        if (!(WINDOWS && U.getByte(null, GATE) < 0))
            stepObjectSlow(o, site);
    }

    @DontInline
    @Hidden
    private static void stepObjectSlow(Object o, int site) {
        reserveStack();
        try {
            BBFlowLook.stepAny(o, site, -1, 0);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Before areturn: a step unless the buffer is the parameter p. */
    @ForceInline
    @Hidden
    public static void exit(Object returned, Object p, int site) {
        if (!(WINDOWS && U.getByte(null, GATE) < 0) && returned != null && returned != p)
            BBFlowLook.exitSlow(returned, p, null, site);
    }

    @ForceInline
    @Hidden
    public static void exit2(Object returned, Object p, Object q, int site) {
        if (!(WINDOWS && U.getByte(null, GATE) < 0) && returned != null && returned != p && returned != q)
            BBFlowLook.exitSlow(returned, p, q, site);
    }

    /**
     * Before areturn of a method that overwrites its parameters: no step if the life's path already
     * holds the method's entry (design.md: insertion).
     */
    @ForceInline
    @Hidden
    public static void exitWalk(Object returned, int site, int entry) {
        if (!(WINDOWS && U.getByte(null, GATE) < 0))
            exitWalkSlow(returned, site, entry);
    }

    @DontInline
    @Hidden
    private static void exitWalkSlow(Object returned, int site, int entry) {
        reserveStack();
        try {
            if (!BBFlowLook.isBehind(returned, entry))
                stepObject(returned, site);
        } catch (Throwable t) {
            failed(t);
        }
    }
}
