/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/ask.h - a snapshot for a thread of its own client: JMX, handlers.
 *
 * Threads: any but the agent thread and the application's; blocks.
 */
#ifndef BBF_AGENT_REPORT_ASK_H
#define BBF_AGENT_REPORT_ASK_H

#include <stdbool.h>

#include "snapshot/snapshot.h"

/* A new snapshot, the caller's; `gc`: after a garbage collection. NULL: *err, as bbf_thread_ask()
 * or BBF_ENOMEM. */
struct bbf_snapshot *bbf_ask_snapshot(bool gc, unsigned wait_ms, int *err);

#endif
