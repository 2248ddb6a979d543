/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/uses.h - uses of a buffer after its release on their way from the thread that did
 * one to the agent thread: a fixed number of places, each owned by one thread at a time.
 *
 *   free ──claim: CAS──> taken, its thread writes ──ready──> ready, the agent reads ──done──> free
 *                          └──────cancel──────> free
 *
 * Invariant: only the thread that made a place `taken` writes it, and the agent reads it only while
 * it is `ready`. ready() and done() publish what their thread did with the place before.
 *
 * Threads: claim, ready and cancel any, without a lock or a wait; next and done the agent's.
 */
#ifndef BBF_AGENT_REPORT_USES_H
#define BBF_AGENT_REPORT_USES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { BBF_USES = 64, BBF_USE_TEXT = 4096 };

struct bbf_use_seen {
    _Atomic uint32_t state;
    uint32_t use, class_number, node, released_tid, used_tid;
    size_t len;
    char used_by[BBF_USE_TEXT]; /* the methods on its stack, innermost first, each with its NUL */
};

/* Claim a place for one use. NULL: the agent thread has not yet read the next place. */
struct bbf_use_seen *bbf_uses_claim(void);
void bbf_uses_ready(struct bbf_use_seen *use);
void bbf_uses_cancel(struct bbf_use_seen *use);

/* The next that is ready, from place *at on (0 to begin with); NULL: no more. */
struct bbf_use_seen *bbf_uses_next(size_t *at);
void bbf_uses_done(struct bbf_use_seen *use);

#endif
