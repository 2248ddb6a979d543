/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/bare_roots.h - rootCallers=: the methods for which a root allocates whose buffers
 * leak without a step, as those that Netty allocates inside itself (ADR 49).
 *
 * Once a scan has found such a leak the root's lives take the shim's slow way, which calls
 * bbf_bare_roots_opened(); one in N, chosen at random, gives its stack, from which the nearest
 * followed method is counted, and its handle is kept: if that life leaks at the bare root, it is
 * counted there as well. A round ends after BBF_BARE_STACKS stacks or BBF_BARE_LEAKS such leaks;
 * the next begins when the root has lost twice as many buffers.
 *
 * Bounds: BBF_BARE_ROOTS roots, BBF_BARE_CALLERS methods each (further ones are counted together),
 * 4,096 sampled lives whose end is not known yet (a newer one takes the place of an older one,
 * which then never counts as leaked).
 *
 * Threads: the agent's, unless a function says otherwise. Counts: lives, not scaled by sample=.
 */
#ifndef BBF_AGENT_REPORT_BARE_ROOTS_H
#define BBF_AGENT_REPORT_BARE_ROOTS_H

#include <jni.h>
#include <stdint.h>

#include "core/buf.h"
#include "snapshot/snapshot.h"

enum { BBF_BARE_ROOTS = 64, BBF_BARE_CALLERS = 15, BBF_BARE_STACKS = 1024, BBF_BARE_LEAKS = 64 };

/* The calling thread opened the life of `handle` at the root `site`. Any thread, in a hook: takes
 * no stack unless the site is asked for, and waits for no thread to take one. */
void bbf_bare_roots_opened(JNIEnv *env, uint64_t handle, uint32_t site);

/* Begin and end rounds. One stack in `every`; 0: off. */
void bbf_bare_roots_poll(uint64_t every);
/* A reset: what was counted goes. */
void bbf_bare_roots_reset(void);
/* Fill snapshot->callers, whose sites are the tracker's until bbf_tracker_capture(). BBF_ENOMEM. */
int bbf_bare_roots_fill(struct bbf_snapshot *snapshot);
/* Roots that are not asked for because there are too many. */
void bbf_bare_roots_note(struct bbf_buf *note);

#endif
