/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/commands/event_command.h - what the server's EVENT commands mean here (design.md: serving),
 * and what a client of the live stream gets first.
 *
 * Threads: the server's; it waits for the agent thread. Errors go to the client.
 */
#ifndef BBF_AGENT_COMMANDS_EVENT_COMMAND_H
#define BBF_AGENT_COMMANDS_EVENT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "wire/server/server.h"

/* Answer EVENT `name`: struct bbf_server_config's event. `ctx` is not used. */
void bbf_event_command_reply(void *ctx, const char *name, struct bbf_reply *reply);
/* A client begins to watch: reply with what was reported so far. Returns its place in the live
 * stream: struct bbf_server_config's begin. `ctx` is not used. */
uint64_t bbf_event_command_watch(void *ctx, struct bbf_reply *reply);

/* "WHAT: why": what keeps the agent thread from an answer; `err`: of bbf_thread_ask(). Any thread.
 */
void bbf_event_command_failure(struct bbf_buf *text, const char *what, int err);
/* What a reset did, a line. */
const char *bbf_event_command_reset_text(bool nodes);

#endif
