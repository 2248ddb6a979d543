/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/server/converse.h - the BTrace conversation of a session, v2 or v1 (design.md: serving,
 * docs/btrace-wire.md 5): what each command means in which state. The callbacks of the server's
 * config do what the application asks for.
 *
 * Threads: the server's only.
 */
#ifndef BBF_WIRE_SERVER_CONVERSE_H
#define BBF_WIRE_SERVER_CONVERSE_H

#include <stdbool.h>

#include "wire/server/session_io.h"

/* Obey one command. */
void bbf_session_obey(struct bbf_service *service, struct bbf_session *session,
                      struct bbf_command *command);
/* Is the content of such a command used? Others are only skipped. */
bool bbf_session_reads(enum bbf_command_type type);

#endif
