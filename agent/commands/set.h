/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/commands/set.h - options that change while the JVM runs: SET_PARAMS of a client, all of
 * them or none, and entries of track= that the application registers.
 *
 * Threads: any but the agent thread; one waits for the other, and for the agent thread.
 */
#ifndef BBF_AGENT_COMMANDS_SET_H
#define BBF_AGENT_COMMANDS_SET_H

#include <stddef.h>

#include "core/buf.h"
#include "wire/server/server.h"

/* struct bbf_server_config's set: the new values, or why not, in lines for a person to `answer`.
 * BBF_EREFUSED, BBF_EINVAL, BBF_ELIMIT, BBF_ENOMEM and what bbf_thread_ask() returns. `ctx` is not
 * used. */
int bbf_set(void *ctx, const struct bbf_entry *params, size_t n, struct bbf_buf *answer);

/* Append "Class:method" to track=, if it is not in it, and retransform loaded classes. Objects that
 * are made before it returns may be left out. Errors as bbf_set(); each is also logged. */
int bbf_set_add_track(const char *entry, struct bbf_buf *answer);

#endif
