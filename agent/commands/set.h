/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/commands/set.h - SET_PARAMS: options that a client changes while the JVM runs. All of them
 * are changed, or none.
 *
 * Threads: the server's; it waits for the agent thread.
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

#endif
