// SPDX-License-Identifier: Apache-2.0

/** LoadAgent PID JAR OPTIONS: what a tool does that attaches a Java agent; prints "loaded" or the exception's name. */
public class LoadAgent {
    public static void main(String[] args) throws Exception {
        com.sun.tools.attach.VirtualMachine vm = com.sun.tools.attach.VirtualMachine.attach(args[0]);
        try {
            vm.loadAgent(args[1], args[2]);
            System.out.println("loaded");
        } catch (Exception error) {
            System.out.println(error.getClass().getSimpleName());
        } finally {
            vm.detach();
        }
    }
}
