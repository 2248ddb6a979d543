/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/facts.h - makes the events SETTING, SUMMARY and UNTRACKED, while a sink wants them:
 * all settings when the first sink wants them, then what changes; every summarySeconds= the totals,
 * and each sentence on what is not followed once. A summary is a report without a scan; the longer
 * it took, the later the next, so that summaries take a twentieth of a core at most.
 *
 * Threads: the agent thread.
 */
#ifndef BBF_AGENT_REPORT_FACTS_H
#define BBF_AGENT_REPORT_FACTS_H

#include <jni.h>

#include "core/option.h"

/* Once a second. `options` are those in force. */
void bbf_facts_poll(JNIEnv *env, const struct bbf_options *options);
/* A summary now: a recording ends. */
void bbf_facts_end(JNIEnv *env);

#endif
