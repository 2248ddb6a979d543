/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/capture.h - scan, then make a report: the weak references are tested, and what is
 * lost, live and released now becomes a snapshot, or file=.
 *
 * Threads: the agent thread, which alone makes and tests weak references (agent/jvm/heap.h).
 */
#ifndef BBF_AGENT_REPORT_CAPTURE_H
#define BBF_AGENT_REPORT_CAPTURE_H

#include <jni.h>
#include <stdint.h>

#include "core/buf.h"
#include "snapshot/snapshot.h"

/* The agent thread has started; `env` is its own. Before the others. */
void bbf_capture_begin(JNIEnv *env);
/* The agent thread dies: no scan comes any more, so empty the slots that it can still reach, which
 * would keep alive what the application has dropped. */
void bbf_capture_abandon(void);

/* Test the weak references, and turn the slots of open lives into weak references. */
void bbf_capture_scan(void);
/* Slots are strong: a collection finds only what was weak before it. So scan, then ask the JVM for
 * a collection. The next scan sees what it found. */
void bbf_capture_collect_garbage(void);

/* Fill an empty snapshot, without a scan. BBF_ENOMEM. */
int bbf_capture_report(JNIEnv *env, struct bbf_snapshot *snapshot);
/* Scan, then bbf_capture_report(). */
int bbf_capture_snapshot(JNIEnv *env, struct bbf_snapshot *snapshot);
/* bbf_capture_report(), then write it to file=. Nothing is written after deadline_ns
 * (CLOCK_MONOTONIC; 0 = none): BBF_ELIMIT. Other errors are those of bbf_report_path() and
 * bbf_report_write(); `why` gets the text. */
int bbf_capture_file(JNIEnv *env, struct bbf_snapshot *snapshot, uint64_t deadline_ns,
                     struct bbf_buf *why);

#endif
