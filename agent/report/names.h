/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/names.h - the names of the threads that events have: asked of the JVM once for all
 * of them.
 *
 * Threads: the agent thread.
 */
#ifndef BBF_AGENT_REPORT_NAMES_H
#define BBF_AGENT_REPORT_NAMES_H

#include <jni.h>
#include <stddef.h>

#include "agent/event.h"

/* Set the events' thread_name; the names belong to `names`, an empty snapshot. BBF_ENOMEM. */
int bbf_names_of_threads(JNIEnv *env, struct bbf_event *events, size_t n,
                         struct bbf_snapshot *names);

#endif
