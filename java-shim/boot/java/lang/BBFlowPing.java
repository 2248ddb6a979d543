/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowPing - does a native of the agent link yet? HotSpot looks into a library that was
 * attached only once Agent_OnAttach has returned, so the agent thread asks until it does.
 */
package java.lang;

import jdk.internal.vm.annotation.Hidden;

final class BBFlowPing {
    private BBFlowPing() {
    }

    @Hidden
    static native void ping();
}
