/* SPDX-License-Identifier: Apache-2.0 */
package io.bbflow.junit;

final class Text {
    private Text() {
    }

    static String buffers(long n) {
        return n == 1 ? "1 buffer" : n + " buffers";
    }
}
