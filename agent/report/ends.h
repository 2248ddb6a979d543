/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/ends.h - makes the events LIFE, while a sink wants them: the lives that scans ended
 * (lost, held, harmless, unknown), those of one place and end that were opened in the same second
 * and by the same thread as one event.
 *
 * Released lives end in the application's threads, and have none: an event for each would cost more
 * than following them. The tracker counts them.
 *
 * Invariants: BBF_ENDS_ROOM events between two polls at most; the lives of those that have no room
 * are counted as dropped (agent/events.h). Between two polls there may be several scans.
 *
 * Threads: the agent thread.
 */
#ifndef BBF_AGENT_REPORT_ENDS_H
#define BBF_AGENT_REPORT_ENDS_H

#include <jni.h>

enum { BBF_ENDS_ROOM = 4096 };

/* Once a round, after a scan. */
void bbf_ends_poll(JNIEnv *env);

#endif
