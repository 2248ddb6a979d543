/*
 * java.lang.BBFlowExit - gc=exit: a shutdown hook that lets the agent thread ask for one garbage
 * collection while the collectors still run. Defined only when the user asked for it.
 */
package java.lang;

final class BBFlowExit extends Thread {
    private BBFlowExit() {
        super(null, null, "bbflow exit", 0, false);
    }

    /** Called once, by the agent. */
    static void install() {
        Runtime.getRuntime().addShutdownHook(new BBFlowExit());
    }

    /** Bounded wait for the agent thread. */
    private static native void collect();

    @Override
    public void run() {
        collect();
    }
}
