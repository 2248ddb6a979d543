/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/leaks.h - the leaks of a snapshot for stock clients: one line each, or a table of
 * the largest (EVENT leaks, top).
 *
 * Threads: the server's. Errors: BBF_ENOMEM, BBF_EFORMAT.
 */
#ifndef BBF_AGENT_REPORT_LEAKS_H
#define BBF_AGENT_REPORT_LEAKS_H

#include "core/buf.h"
#include "snapshot/snapshot.h"
#include "wire/server/server.h"

/* Every leak, most bytes first: verdict, memory, counts, the path. */
int bbf_leaks_text(struct bbf_buf *out, const struct bbf_snapshot *snapshot);
/* The largest 20 as GRID_DATA "leaks"; its first row says what the columns are, because stock
 * clients do not show the columns' names. */
int bbf_leaks_top(struct bbf_reply *reply, const struct bbf_snapshot *snapshot);

#endif
