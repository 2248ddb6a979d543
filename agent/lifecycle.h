/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/lifecycle.h - the agent's states and the JVMTI events that move it:
 *
 *   out ── Agent_OnLoad ──> loaded: options, tracker, environment I; no class hook yet, so that
 *                           CDS and AOT caches stay
 *     loaded ── VMInit ──> in: shim, environment F, hooks, loaded classes, agent thread, server
 *     in ── VMDeath ──> ended: last scan, file=; memory stays, daemon threads step on
 *
 *   out ── Agent_OnAttach ──> entering: classes are defined, the agent thread begins
 *     entering ── natives link ──> in: pause; hooks, retransformation; resume; server
 *     in ── `stop` ──> leaving: pause; rules withdrawn, bodies put back; open lives marked
 *     leaving ──> out: the server goes when its answer is read; the thread when no life is open
 *
 * Between pause and resume no life is opened: while hooks come or go, one might be opened whose
 * release nobody sees. What stays after a stop: the hidden field and environment F's hook for it,
 * the boot classes, the tracker's address space, this library (design.md: address space, design.md:
 * stop).
 */
#ifndef BBF_AGENT_LIFECYCLE_H
#define BBF_AGENT_LIFECYCLE_H

#include <jni.h>
#include <stdbool.h>

#include "core/buf.h"

/* Make environment I, ask for its capabilities, set the callbacks; F is made with the first events
 * (docs/adr/0015). BBF_EREFUSED. In the live phase no VMInit comes: the agent thread enters. */
int bbf_lifecycle_install(void);
/* Dispose of both: for an attach that was refused later on. No event was ever enabled. */
void bbf_lifecycle_uninstall(void);

/* Agent thread: begin with the options in force; the phase is `entering`, then `in`. What fails is
 * logged and kept as off_why, which the server tells. */
void bbf_lifecycle_enter(JNIEnv *env);
/* Agent thread: put everything back; what was done, in lines for a person, to `text`. The phase is
 * `out` afterwards. */
void bbf_lifecycle_leave(JNIEnv *env, struct bbf_buf *text);
/* Agent thread, after a stop, until it is true: the server ends once its clients have gone (5 s at
 * most), and classes that were being loaded during the stop are put back. */
bool bbf_lifecycle_clear_up(JNIEnv *env);
/* How long the agent thread may sleep when nothing happens. */
unsigned bbf_lifecycle_tick_ms(void);

/* Ask for the collection of gc=exit and wait for it, bounded. In a thread of the JVM's shutdown. */
void bbf_lifecycle_exit_gc(void);

#endif
