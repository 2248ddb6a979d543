/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/lifecycle.h - the agent's states and the JVMTI events that move it:
 *
 *   out ── Agent_OnLoad ──> loaded: options, tracker, environment I; no class hook yet, so that
 *                           CDS and AOT caches stay
 *     loaded ── VMInit ──> in: shim, environment F, hooks, loaded classes, agent thread, server
 *   out ── premain of bbflow-javaagent.jar ──> in: both of these at once
 *     in ── VMDeath ──> ended: last scan, file=; memory stays, daemon threads step on
 *
 *   out ── Agent_OnAttach ──> attaching: classes are defined, the agent thread begins
 *     attaching ── natives link ──> in: pause; hooks, retransformation; resume; server
 *     in ── `stop` ──> detaching: pause; rules withdrawn, bodies put back; open lives marked
 *     detaching ──> out: the server goes when its answer is read; the thread when no life is open
 *
 * Between pause and resume no life is opened: while hooks come or go, one might be opened whose
 * release no hook sees. What stays after a stop: the hidden field and environment F's hook for it,
 * the boot classes, the tracker's address space, this library (design.md: address space, design.md:
 * stop).
 */
#ifndef BBF_AGENT_LIFECYCLE_H
#define BBF_AGENT_LIFECYCLE_H

#include <jni.h>
#include <stdbool.h>

/* Make environment I, ask for its capabilities, set the callbacks; F is made with the first events
 * (docs/adr/0015). BBF_EREFUSED. vm_init_comes: whether to begin at VMInit. In a premain that event
 * is being posted, to new environments also, and the caller calls bbf_lifecycle_begin(); at an
 * attach the agent thread begins (agent/attach.h). */
int bbf_lifecycle_install(bool vm_init_comes);
/* What VMInit does: shim, hooks, agent thread, server. Once, in a thread of the JVM's start, before
 * the application's classes are loaded. A failure is logged, and bbflow stays off. */
void bbf_lifecycle_begin(JNIEnv *env);
/* Dispose of both: for an attach that was refused later. No event was ever enabled. */
void bbf_lifecycle_uninstall(void);

#endif
