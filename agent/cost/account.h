/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/cost/account.h - bbflow's own cost; with budget= and duty= the part of the hooks is
 * measured (agent/cost/gate.h). ADR 24 says how each number is made, and which costs none of
 * them includes.
 *
 * Measured: processor time of the process, of the agent thread and of the server's thread
 * (clock_gettime(2): CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID), the time for class files
 * (CLOCK_MONOTONIC, in any thread that loads classes). Estimated: calls into the agent (each thread
 * times one in 61) and the hooks (what the trie counts, times what a hook costs in a loop like it,
 * agent/cost/model.h). No clock is read in a hook.
 *
 * Threads: the agent thread, except where another is named. Units: nanoseconds; _ps picoseconds;
 * _ppm millionths.
 */
#ifndef BBF_AGENT_COST_ACCOUNT_H
#define BBF_AGENT_COST_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/option.h"
#include "snapshot/snapshot.h"

/* The agent thread has started: start its clock, and measure the cost of a hook (a fraction of a
 * millisecond). */
void bbf_account_begin(void);

/* budgetSeconds= and sample= are these from now on. BBF_ELIMIT: the tracker has no room for the
 * rate. Agent thread, or before there is one. */
int bbf_account_apply(const struct bbf_options *options);

/* Settings that change bbflow's cost have changed: count the cost before this call separately. */
void bbf_account_changed(void);

/* If an interval is over: measure it. */
void bbf_account_poll(void);

/* Into an empty snapshot; changes nothing else. */
void bbf_account_fill(struct bbf_snap_cost *cost);

#endif
