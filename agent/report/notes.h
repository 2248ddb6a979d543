/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/notes.h - the notes of a report: missing data, why the report may be empty, options
 * that match nothing. They are its first lines.
 *
 * Threads: the agent thread.
 */
#ifndef BBF_AGENT_REPORT_NOTES_H
#define BBF_AGENT_REPORT_NOTES_H

#include <jni.h>

#include "core/buf.h"
#include "snapshot/snapshot.h"

/* Have `source` write a note for each report, or nothing. For parts of the agent that make reports
 * themselves (agent/report/oom.h) and that this file does not know. Before the agent thread starts;
 * 16 at most. */
void bbf_notes_add_source(void (*source)(struct bbf_buf *note));

/* Add all notes to a snapshot that is otherwise filled. BBF_ENOMEM. */
int bbf_notes_fill(JNIEnv *env, struct bbf_snapshot *snapshot);
/* Add those that cost next to nothing: no look at the loaded classes. BBF_ENOMEM. */
int bbf_notes_brief(struct bbf_snapshot *snapshot);

#endif
