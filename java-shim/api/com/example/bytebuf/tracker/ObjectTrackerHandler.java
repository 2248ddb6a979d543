// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.tracker;

/** The name that older versions of the Java tracker have for it. */
public interface ObjectTrackerHandler extends com.example.bytebuf.api.tracker.ObjectTrackerHandler {
}
