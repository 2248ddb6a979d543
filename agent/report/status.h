/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/status.h - the data of `status` beside a snapshot: the agent's own counters, which
 * render/status.h turns into text.
 *
 * Threads: the server's.
 */
#ifndef BBF_AGENT_REPORT_STATUS_H
#define BBF_AGENT_REPORT_STATUS_H

#include "core/buf.h"
#include "snapshot/snapshot.h"

/* The text of `bbflow status`. */
void bbf_report_status(struct bbf_buf *out, const struct bbf_snapshot *snapshot);

#endif
