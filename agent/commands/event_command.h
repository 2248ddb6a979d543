/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/commands/event_command.h - what the server's EVENT commands mean here (design.md: serving),
 * and what a client of the live stream gets first.
 *
 * Threads: the server's; it waits for the agent thread. Errors go to the client.
 */
#ifndef BBF_AGENT_COMMANDS_EVENT_COMMAND_H
#define BBF_AGENT_COMMANDS_EVENT_COMMAND_H

#include <stdint.h>

#include "wire/server/server.h"

/* Answer EVENT `name`: struct bbf_server_config's event. `ctx` is not used. */
void bbf_events_reply(void *ctx, const char *name, struct bbf_reply *reply);
/* A client begins to watch: reply with what was reported so far. Returns its place in the live
 * stream: struct bbf_server_config's begin. `ctx` is not used. */
uint64_t bbf_events_begin(void *ctx, struct bbf_reply *reply);

#endif
