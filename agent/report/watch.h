/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/watch.h - the live stream's source. While a client watches: once a second a line for
 * each place where buffers were lost since its last line, with what was added and the total so far;
 * every ten seconds or less often the same for aged buffers, which only a look at all open ones
 * finds. A client that begins gets the totals so far first.
 *
 * Invariants: the tracker numbers the places that it finds (its tombs, trie/tracker.h) from 1; what
 * was told of a place is kept in its tomb, so that all clients hear of the same increments, and the
 * sum of what a client hears of a place is its total. At most LINES lines a second: places that
 * have no turn wait for theirs, nothing is left out.
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
/* A client begins: append a line for each place so far to `text`; *place is where in the live
 * stream it goes on. BBF_ENOMEM. */
int bbf_watch_begin(JNIEnv *env, struct bbf_buf *text, uint64_t *place);
/* After a reset: forget what was told. */
void bbf_watch_reset(void);

#endif
