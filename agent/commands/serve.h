/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/commands/serve.h - what the server's commands mean here (design.md: serving): EVENT names
 * and SET_PARAMS; where it listens, the token, the properties by which it is found.
 *
 * Threads: start and stop the agent thread; the commands run in the server's thread.
 */
#ifndef BBF_AGENT_COMMANDS_SERVE_H
#define BBF_AGENT_COMMANDS_SERVE_H

#include <jni.h>

#include "core/buf.h"

/* Start the server. Failure is logged; the application goes on without one. `env`: the caller's. */
void bbf_serve_start(JNIEnv *env);
/* Stop it, remove socket, token file and, unless `env` is NULL, the properties; waits at most
 * `timeout_ms`. */
void bbf_serve_stop(JNIEnv *env, unsigned timeout_ms);
/* What became of port=: " (127.0.0.1:N is served)", or why it is not; nothing with port=off. */
void bbf_serve_port(struct bbf_buf *out);

#endif
