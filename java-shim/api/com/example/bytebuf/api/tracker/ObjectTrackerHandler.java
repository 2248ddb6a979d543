// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.api.tracker;

/**
 * A kind of the application's own objects that bbflow follows beside buffers, from the end of the
 * constructor to the method that closes them.
 *
 * <p>bbflow asks {@link #getObjectType} and {@link #getReleaseMethod} once, in the thread that registers the
 * handler. It never asks the other two: what it inserts into methods calls nothing of the application.
 */
public interface ObjectTrackerHandler {
    /** For the application: is this such an object? */
    boolean shouldTrack(Object obj);

    /** For the application: what {@code ByteBufFlowTracker.recordMethodCall} gets; 0 is closed. */
    int getMetric(Object obj);

    /** The full name of the class or interface. */
    String getObjectType();

    /** The name of the method that closes such an object. The Java tracker has no such question. */
    default String getReleaseMethod() {
        return "close";
    }
}
