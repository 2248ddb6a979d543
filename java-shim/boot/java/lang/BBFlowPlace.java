/* SPDX-License-Identifier: Apache-2.0 */
/* java.lang.BBFlowPlace - a method that the application named to BBFlowApi, and its sites. */
package java.lang;

final class BBFlowPlace {
    final String type, method;
    final int root, step; // 0: at the limit

    BBFlowPlace() {
        this("", "", 0, 0); // the agent looks for it as it initialises the shim's classes
    }

    BBFlowPlace(String type, String method, int root, int step) {
        this.type = type;
        this.method = method;
        this.root = root;
        this.step = step;
    }
}
