/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/watch.h - makes the events LEAK and AGED, while a sink wants them: once a second one
 * for each place where buffers were lost since its last event, with what was added and the total so
 * far; every ten seconds or less often the same for aged buffers, which only a look at all open
 * ones finds. A client of the live stream that begins gets the totals so far first.
 *
 * Invariants: the tracker numbers the places that it finds (its tombs, trie/tomb.h) from 1; what
 * was reported of a place is kept in its tomb. So all sinks get the same increments, and the totals
 * that a client begins with and what it gets later add up. At most 50 events a second: places that
 * have no turn wait for theirs, none is left out.
 *
 * Threads: the agent thread.
 */
#ifndef BBF_AGENT_REPORT_WATCH_H
#define BBF_AGENT_REPORT_WATCH_H

#include <jni.h>
#include <stdint.h>

#include "core/buf.h"

/* After a scan, and once a second. */
void bbf_watch_poll(JNIEnv *env);
/* A client of the live stream begins: append a line for each place and misuse so far to `text`;
 * *place is where in the stream it continues. BBF_ENOMEM. */
int bbf_watch_begin(JNIEnv *env, struct bbf_buf *text, uint64_t *place);
/* Report the losses since the last poll without waiting for the next second, because a recording
 * ends. */
void bbf_watch_end(JNIEnv *env);
/* After a reset: forget what was reported. */
void bbf_watch_reset(void);

#endif
