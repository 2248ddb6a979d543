// SPDX-License-Identifier: Apache-2.0
package java.lang;

/**
 * Where bbflow-javaagent.jar enters libbbflow.so (agent/agent.c). It is defined in the boot loader, because the
 * library belongs to that loader, and because linking natives of any other loader warns from Java 24 on.
 */
final class BBFlowStart {
    /** The library that was loaded for this class; null: none, the JVM has bbflow by -agentpath. */
    static String library;

    private BBFlowStart() {}

    /** 0: the JVM continues; 1: help or version was printed; negative: the JVM must end. */
    static native int premain(byte[] options, byte[] jar);

    /** 0: bbflow follows this JVM; 1: failed; 2: the options; 5: refused. */
    static native int agentmain(byte[] options);
}
