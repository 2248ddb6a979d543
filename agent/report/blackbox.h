/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/blackbox.h - option blackbox=: the newest state is in a file, for after a kill. Each
 * second a snapshot is made and rendered, and a thread of its own writes it (box_file.h). It takes
 * at most a hundredth of one core, however large the tree is: then it is made less often, and the
 * file says of which time it is.
 *
 * Threads: the agent thread; check: any.
 */
#ifndef BBF_AGENT_REPORT_BLACKBOX_H
#define BBF_AGENT_REPORT_BLACKBOX_H

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/option.h"

/* Begin or end the file, as `options` have it now (NULL: end it). BBF_EINVAL and the errors
 * of bbf_box_file_open(), which are logged once and tried again each ten seconds: `why`. */
int bbf_blackbox_apply(const struct bbf_options *options, char *why, size_t why_size);
/* Could this `blackbox=` be written now? Nothing is left there. Errors as above. */
int bbf_blackbox_check(const char *pattern, char *why, size_t why_size);
/* If it is time: make a snapshot and hand it to the writer. */
void bbf_blackbox_poll(JNIEnv *env, const struct bbf_options *options);
/* Make one in the next round: the cgroup's memory runs out. */
void bbf_blackbox_hurry(void);
/* The cgroup's memory, for the file. limit 0: none is known. */
void bbf_blackbox_memory(uint64_t used, uint64_t limit);
/* The JVM ends: write the last state, wait for the disk, `timeout_ms` at most. */
void bbf_blackbox_end(JNIEnv *env, unsigned timeout_ms);
/* For a report: why nothing is written, and states that had no room; nothing if all is well. */
void bbf_blackbox_note(struct bbf_buf *out);

#endif
