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

#include "snapshot/snapshot.h"

/* Find main class and VM version once, at VMInit or when an attach begins. */
void bbf_report_init(void);
/* Fill an empty snapshot. BBF_ENOMEM. */
int bbf_report_fill(JNIEnv *env, struct bbf_snapshot *snapshot);

#endif
