package com.agents;

import com.sun.tools.attach.VirtualMachine;

/** Attach PID JAR OPTIONS: loads a Java agent into a running JVM, as profilers do. */
public final class Attach {
    private Attach() {
    }

    public static void main(String[] args) throws Exception {
        VirtualMachine jvm = VirtualMachine.attach(args[0]);
        jvm.loadAgent(args[1], args[2]);
        jvm.detach();
    }
}
