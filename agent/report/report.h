/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/report.h - the text of `bbflow status`.
 *
 * Threads: any.
 */
#ifndef BBF_AGENT_REPORT_H
#define BBF_AGENT_REPORT_H

#include "core/buf.h"
#include "snapshot/snapshot.h"

void bbf_report_status(struct bbf_buf *out, const struct bbf_snapshot *snapshot);

#endif
