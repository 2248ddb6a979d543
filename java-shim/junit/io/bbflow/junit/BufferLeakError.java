/* SPDX-License-Identifier: Apache-2.0 */
package io.bbflow.junit;

/** Netty buffers of a test were lost, or more are open than it may leave behind. */
public final class BufferLeakError extends AssertionError {
    private static final long serialVersionUID = 1;

    BufferLeakError(String message) {
        super(message);
        setStackTrace(new StackTraceElement[0]); // it would have no line of the test
    }
}
