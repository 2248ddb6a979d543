/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jvm/environment.h - JVMTI environments, and the events that they get.
 *
 * Threads: any.
 */
#ifndef BBF_AGENT_JVM_ENVIRONMENT_H
#define BBF_AGENT_JVM_ENVIRONMENT_H

#include <jvmti.h>
#include <stdbool.h>

/* Make an environment with these capabilities and callbacks; no event is enabled. BBF_EVERSION: the
 * JVM has no JVMTI 11. BBF_EREFUSED: it does not offer the capabilities; *out is still to be
 * disposed of. */
int bbf_environment_create(jvmtiEnv **out, const jvmtiCapabilities *capabilities,
                           const jvmtiEventCallbacks *callbacks);
/* *environment is NULL afterwards; it may be before. */
void bbf_environment_dispose(jvmtiEnv **environment);
/* Enable or disable an event in all threads. False: refused, or there is no environment (NULL). */
bool bbf_environment_enable(jvmtiEnv *environment, jvmtiEvent event, bool on);

#endif
