/*
 * agent/shim.h - brings the boot shim to life: the bytes compiled into the agent, with names that
 * fit this JDK and the tracker's addresses in their constant pool, defined in the boot loader.
 *
 * Called by: agent/lifecycle.c, once, at VMInit. Threads: that one. Errors: BBF_E…, nothing
 * pending.
 */
#ifndef BBF_AGENT_SHIM_H
#define BBF_AGENT_SHIM_H

#include <jni.h>

/* Define BBFlowKind and BBFlowShim, initialise them, keep references in bbf_agent. */
int bbf_shim_define(JNIEnv *env);

/* gc=exit: register java.lang.BBFlowExit as a shutdown hook. Failure is logged. */
void bbf_shim_hook_exit(JNIEnv *env);

#endif
