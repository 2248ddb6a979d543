/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/report.h - a whole snapshot: the tracker's rows, and what only the agent knows (the
 * JVM, the Nettys, the options in force, what was not seen and why).
 *
 * Threads: the agent thread.
 */
#ifndef BBF_AGENT_REPORT_H
#define BBF_AGENT_REPORT_H

#include <jni.h>

#include "core/buf.h"
#include "snapshot/snapshot.h"

/* Fill an empty snapshot. Agent thread. BBF_ENOMEM. */
int bbf_report_fill(JNIEnv *env, struct bbf_snapshot *snapshot);
/* %p, %t and %{ENV} of option `file` (design.md: names and formats). BBF_EINVAL with why filled. */
int bbf_report_path(struct bbf_buf *out, const char *pattern, char *why, size_t why_size);
/* Render by extension and write by core/file.h: all of it, or the target stays as it was.
 * deadline_ns: CLOCK_MONOTONIC, nothing is written after it (BBF_ETIMEOUT); 0 = none. Its errors,
 * and BBF_ENOMEM; why filled. */
int bbf_report_write(const struct bbf_snapshot *snapshot, const char *path, uint64_t deadline_ns,
                     char *why, size_t why_size);
/* Find main class and VM version once, at VMInit. */
void bbf_report_init(void);

#endif
