/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jvm/threads.h - names of the threads that opened buffers, for reports: names of living
 * threads come from the JVM when a report is made; of ended threads the last BBF_ENDED_THREADS that
 * ever opened a buffer are stored.
 *
 * Threads: ended any, a short lock; fill the agent's.
 */
#ifndef BBF_AGENT_JVM_THREADS_H
#define BBF_AGENT_JVM_THREADS_H

#include <jvmti.h>
#include <stdint.h>

#include "snapshot/snapshot.h"

enum { BBF_ENDED_THREADS = 1024, BBF_THREAD_NAME = 64 };

/* The current thread, which opened buffers, ends. */
void bbf_threads_ended(jthread thread, uint64_t tid);

/* Give the snapshot the names of the threads in its leak rows. A virtual thread appears as its
 * carrier. BBF_ENOMEM. */
int bbf_threads_fill(JNIEnv *env, struct bbf_snapshot *s);

#endif
