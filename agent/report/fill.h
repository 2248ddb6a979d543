/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/fill.h - a whole snapshot: the tracker's rows, and what only the agent knows (the
 * JVM, the Nettys, the options in force, what was not seen and why).
 *
 * Threads: the agent thread.
 */
#ifndef BBF_AGENT_REPORT_FILL_H
#define BBF_AGENT_REPORT_FILL_H

#include <jni.h>

#include "snapshot/snapshot.h"

/* Find main class and VM version once, at VMInit or when an attach begins. */
void bbf_report_init(void);
/* Fill an empty snapshot. BBF_ENOMEM. */
int bbf_report_fill(JNIEnv *env, struct bbf_snapshot *snapshot);

#endif
