/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowExit - gc=exit: a shutdown hook that lets the agent thread ask for one garbage
 * collection while the collectors still run. Defined only when the user asked for it.
 */
package java.lang;

final class BBFlowExit extends Thread {
    private static BBFlowExit installed;

    private BBFlowExit() {
        super(null, null, "bbflow exit", 0, false);
    }

    /** Called by the agent, which calls nothing here twice at once. */
    static void install() {
        if (installed == null) {
            BBFlowExit hook = new BBFlowExit();
            Runtime.getRuntime().addShutdownHook(hook);
            installed = hook;
        }
    }

    /** At a stop. */
    static void remove() {
        if (installed != null)
            Runtime.getRuntime().removeShutdownHook(installed);
        installed = null;
    }

    @Override
    public void run() {
        BBFlowNative.collect();
    }
}
