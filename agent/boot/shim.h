/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/boot/shim.h - brings the boot shim to life: the bytes compiled into the agent, with names
 * that fit this JDK and the tracker's addresses in their constant pool, defined in the boot loader.
 *
 * Errors: BBF_E…, nothing pending.
 */
#ifndef BBF_AGENT_BOOT_SHIM_H
#define BBF_AGENT_BOOT_SHIM_H

#include <jni.h>
#include <stdbool.h>

/* Look up all that the shim's classes refer to, define and initialise them, keep references in
 * bbf_agent. BBF_EREFUSED (logged): the JVM lacks one of these methods, or another build of bbflow
 * has defined its own classes before. */
int bbf_shim_define(JNIEnv *env);

/* Agent thread: wait until the natives link, which in an attached library is after Agent_OnAttach
 * has returned. False after `timeout_ms`. */
bool bbf_shim_wait(JNIEnv *env, unsigned timeout_ms);

/* Set whether there is a track= list: java.lang.BBFlowTrack then determines again which classes it
 * names. False: the JVM has no memory for it. Call it before the first rules are published, and
 * after later ones. */
bool bbf_shim_track(JNIEnv *env, bool on);

/* Have the shim ask again what each class is (java.lang.BBFlowKind). False: no memory; then a class
 * that it asked about already keeps its answer. */
bool bbf_shim_forget_kinds(JNIEnv *env);

/* How an object's class is recognised (docs/adr/0031): the offset of the class in its header, 4
 * with compact headers, 0 if that is unknown. *known: classes that are. Any thread. */
int bbf_shim_kinds(unsigned *known);

/* gc=exit: register java.lang.BBFlowExit as a shutdown hook. Failure is logged. */
void bbf_shim_hook_exit(JNIEnv *env);
/* Remove it, if it was registered. */
void bbf_shim_unhook_exit(JNIEnv *env);

#endif
