/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/set.h - changes options of a running agent, for `bbflow set` and for commands that need
 * another setting for a while.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_SET_H
#define BBF_CLIENT_SET_H

#include "client/client.h"
#include "client/connect.h"
#include "core/buf.h"

/* Set the request's parameters, name=value, which are cut in place. `answer`: what the agent says,
 * the caller frees it. An exit code; if it is not 0, the reason was printed. */
int bbf_set(const struct bbf_command_line *request, struct bbf_buf *answer, char who[BBF_WHO]);

#endif
