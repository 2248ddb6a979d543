/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/fill.h - fills a whole snapshot: the tracker's rows, and the facts that only the
 * agent knows (the JVM, the Nettys, the current options, which data are missing and why).
 *
 * Threads: the agent thread.
 */
#ifndef BBF_AGENT_REPORT_FILL_H
#define BBF_AGENT_REPORT_FILL_H

#include <jni.h>
#include <stddef.h>

#include "snapshot/snapshot.h"

/* Find main class and VM version once, at VMInit or when an attach begins. */
void bbf_report_init(void);
/* Fill an empty snapshot. BBF_ENOMEM. */
int bbf_report_fill(JNIEnv *env, struct bbf_snapshot *snapshot);
/* The same for one that is made each second: at most `rows` rows besides the roots, and neither
 * what pins the memory, memory over time, nor the notes that need a look at all classes.
 * BBF_ENOMEM. */
int bbf_report_fill_brief(JNIEnv *env, struct bbf_snapshot *snapshot, size_t rows);
/* The numbers alone, for metrics: all rows, and what is lost over time. BBF_ENOMEM. */
int bbf_report_fill_numbers(JNIEnv *env, struct bbf_snapshot *snapshot);
/* The main class or jar, "" = not known. */
const char *bbf_report_main(void);

#endif
