/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/ends.h - makes the events LIFE, while a sink wants them: the lives that scans ended
 * (lost, held, harmless, unknown), those of one place and end that were opened in the same second
 * and by the same thread as one event; and, with `lifeThreshold=`, released lives that were open so
 * long.
 *
 * Released lives end in the application's threads: an event for each would cost more than following
 * them. But a close in another second than the open counts the lifetime (trie/aged.h), and leaves
 * the long ones here: place and age, in one word, which is all that is known there.
 *
 * Invariants: BBF_ENDS_ROOM events between two polls at most, and as many released lives; those
 * that have no room are counted as dropped (agent/events.h). Between two polls there may be several
 * scans. A released life's word is 0 or whole.
 *
 * Threads: bbf_ends_released() any, without a lock or a wait; the rest the agent thread.
 */
#ifndef BBF_AGENT_REPORT_ENDS_H
#define BBF_AGENT_REPORT_ENDS_H

#include <jni.h>
#include <stdint.h>

enum { BBF_ENDS_ROOM = 4096 };

/* A life that was at `node` was released `seconds` after it was opened, at least one. */
void bbf_ends_released(uint32_t node, uint32_t seconds);

/* Once a round, after a scan. */
void bbf_ends_poll(JNIEnv *env);

#endif
