/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowGuard - what keeps a hook from harming its caller: room on the stack is asked for
 * before anything is changed (ADR 18), and no throwable leaves a hook, but one that is not its own.
 */
package java.lang;

import static java.lang.BBFlowLayout.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowGuard {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** What Thread.stop() makes another thread throw, up to JDK 19. Null: there is no such class. */
    private static final Class<?> STOP = stop();

    private BBFlowGuard() {
    }

    private static Class<?> stop() {
        try {
            return Class.forName("java.lang.ThreadDeath", false, null);
        } catch (ClassNotFoundException gone) {
            return null;
        }
    }

    // ---- the end of the stack ----

    /**
     * The first thing in every hook: nearly 2 KiB of stack, or a StackOverflowError before anything
     * was changed. The application sees it as its own; it could have gone 2 KiB deeper.
     * (@ReservedStackAccess would let the hook finish, but then the JVM prints a warning that names
     * us, and gives the application's error another message.) In the interpreter each call below
     * would be a place to overflow: this one's frame, dead locals, is as large as all of them. In
     * compiled code it is inlined to nothing, and the hit path calls nothing.
     */
    @Hidden
    @ForceInline
    static void reserveStack() {
        long a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D,
                E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae;
        reserveBelow();
    }

    @Hidden
    @ForceInline
    private static void reserveBelow() {
        long a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D,
                E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae;
    }

    /**
     * The same off the hit path, where compiled code also makes calls: a compiled method with calls
     * requires at its entry as much stack as its frame would have in the interpreter.
     */
    @Hidden
    @DontInline
    static void reserveStackSlow() {
        long a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D,
                E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae;
        nothing();
    }

    @Hidden
    @DontInline
    private static void nothing() {
    }

    // ---- throwables ----

    @DontInline
    @Hidden
    static void failed(Throwable cause) {
        if (cause.getClass() == STOP) // passStop(), without a call that could overflow the stack
            throw (Error) cause;
        try {
            U.getAndAddLong(null, SHARED + SHARED_ERRORS, 1);
        } catch (Throwable stackOverflow) { // no room to count it either: still nothing is thrown
            if (stackOverflow.getClass() == STOP)
                throw (Error) stackOverflow;
        }
    }

    /**
     * A thread that the application stops may be in a hook at that moment, and must end
     * nevertheless: this one throwable is not the hook's, and is thrown on.
     */
    @Hidden
    static void passStop(Throwable cause) {
        if (cause.getClass() == STOP)
            throw (Error) cause;
    }
}
