/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/commands/port.h - option port=: the token that TCP clients need, the system properties by
 * which they find the port, and the state of the port.
 *
 * Threads: open, opened and close one at a time (the JVM's start, the agent thread, VMDeath);
 * served any.
 */
#ifndef BBF_AGENT_COMMANDS_PORT_H
#define BBF_AGENT_COMMANDS_PORT_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/server/server.h"

/* Before the server starts: fill in its `tcp`, `port` and `token`, with a token by option auth=.
 * What fails is logged; then there is no TCP. */
void bbf_port_open(JNIEnv *env, struct bbf_server_config *config);
/* The server has started, or could not: `port` is its TCP port, 0 for none, and `why` says why not.
 * Sets the properties. */
void bbf_port_opened(JNIEnv *env, uint16_t port, const char *why);
/* The server is about to stop: remove the token's file and, unless `env` is NULL, the properties.
 */
void bbf_port_close(JNIEnv *env);

/* Is port= wanted? The port that is served, or 0 and why there is none. */
bool bbf_port_served(uint16_t *port, char *why, size_t why_size);

#endif
