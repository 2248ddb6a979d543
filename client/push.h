/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/push.h - `bbflow push`: sends profiles or metrics of a JVM to a receiver, once or at
 * intervals (docs/fleet.md, ADR 61).
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_PUSH_H
#define BBF_CLIENT_PUSH_H

#include "client/client.h"

/* An exit code; if it is not 0, the reason is printed. With --every it returns when a signal ends
 * it (SIGINT, SIGTERM, SIGHUP: 0 if the last push arrived), the target is gone, or the first push
 * was refused. */
int bbf_verb_push(const struct bbf_command_line *request);

#endif
