/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/commands/endpoint.h - where commands arrive: the server's start and end, with the JVM's
 * pid, its identity and the options in force.
 *
 * Threads: the agent thread, the JVM's start, and VMDeath, which only stops.
 */
#ifndef BBF_AGENT_COMMANDS_ENDPOINT_H
#define BBF_AGENT_COMMANDS_ENDPOINT_H

#include <jni.h>

/* Start the server. A failure is logged; the application runs without a server. `env`: the
 * caller's. */
void bbf_endpoint_start(JNIEnv *env);
/* Stop it, remove socket, token file and, unless `env` is NULL, the properties; waits at most
 * `timeout_ms`. Without a server nothing happens. */
void bbf_endpoint_stop(JNIEnv *env, unsigned timeout_ms);

#endif
