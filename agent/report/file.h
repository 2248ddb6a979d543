/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/file.h - option file=: the name of the file, and writing a snapshot to it.
 *
 * Threads: any.
 */
#ifndef BBF_AGENT_REPORT_FILE_H
#define BBF_AGENT_REPORT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "render/formats.h"
#include "snapshot/snapshot.h"

/* %p, %t and %{ENV} of option `file` (design.md: names and formats). BBF_EINVAL with why filled. */
int bbf_report_path(struct bbf_buf *out, const char *pattern, char *why, size_t why_size);
/* Render by extension and write by core/file.h: all of it, or the target stays as it was.
 * deadline_ns: CLOCK_MONOTONIC, nothing is written after it (BBF_ETIMEOUT); 0 = none. Its errors,
 * and BBF_ENOMEM; why filled. */
int bbf_report_write(const struct bbf_snapshot *snapshot, const char *path, uint64_t deadline_ns,
                     char *why, size_t why_size);
/* The same in this format. */
int bbf_report_write_as(const struct bbf_snapshot *snapshot, const char *path,
                        enum bbf_format format, uint64_t deadline_ns, char *why, size_t why_size);

#endif
