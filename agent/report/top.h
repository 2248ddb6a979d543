/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/top.h - the table of the largest leaks (render/stock.h) as a message (EVENT top).
 *
 * Threads: the server's. Errors: BBF_ENOMEM, BBF_EFORMAT.
 */
#ifndef BBF_AGENT_REPORT_TOP_H
#define BBF_AGENT_REPORT_TOP_H

#include "snapshot/snapshot.h"
#include "wire/server/server.h"

/* The largest 20 as GRID_DATA "leaks"; its first row names the columns, because stock clients do
 * not show the columns' names. */
int bbf_report_top(struct bbf_reply *reply, const struct bbf_snapshot *snapshot);

#endif
