/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/after_release.h - steps of buffers that had been released before
 * (trie/after_release.h), as rows of misuse: which method received one, after which path it had
 * been released, how often.
 *
 * Threads: the agent's.
 */
#ifndef BBF_AGENT_REPORT_AFTER_RELEASE_H
#define BBF_AGENT_REPORT_AFTER_RELEASE_H

#include "agent/event.h"
#include "snapshot/snapshot.h"

/* Each row that is new is an event MISUSE, if a sink wants it. */
void bbf_after_release_poll(void);
/* Each row as an event: what a new client of the live stream has missed. */
void bbf_after_release_each(void (*take)(void *ctx, const struct bbf_event *event), void *ctx);
/* Add the rows behind the other rows of misuse, largest count first. BBF_ENOMEM. */
int bbf_after_release_fill(struct bbf_snapshot *s);

#endif
