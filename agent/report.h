/*
 * agent/report.h - a whole snapshot: the tracker's rows, and what only the agent knows (the JVM,
 * the Nettys, the options in force, what was not seen and why).
 *
 * Called by: agent/worker.c (fill), agent/lifecycle.c (file at exit), agent/serve.c (status).
 */
#ifndef BBF_AGENT_REPORT_H
#define BBF_AGENT_REPORT_H

#include <jni.h>

#include "core/buf.h"
#include "trie/snapshot.h"

/* Fill an empty snapshot. Agent thread. BBF_ENOMEM. */
int bbf_report_fill(JNIEnv *env, struct bbf_snapshot *snapshot);
/* The text of `bbflow status`. Any thread. */
void bbf_report_status(struct bbf_buf *out, const struct bbf_snapshot *snapshot);
/* %p, %t and %{ENV} of option `file` (design 4). BBF_EINVAL with why filled. */
int bbf_report_path(struct bbf_buf *out, const char *pattern, char *why, size_t why_size);
/* Render by extension and write atomically (temporary file, rename). BBF_EIO with why filled. */
int bbf_report_write(const struct bbf_snapshot *snapshot, const char *path, char *why,
                     size_t why_size);
/* Find main class and VM version once, at VMInit. */
void bbf_report_init(void);

#endif
