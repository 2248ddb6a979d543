/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/cost/overhead.h - what bbflow itself takes, and budget=, which has fewer buffers followed
 * while that is too much (agent/cost/pace.h). ADR 24 says how each number is made and what none of
 * them sees.
 *
 * Measured: processor time of the process, of the agent thread and of the server's thread
 * (clock_gettime(2): CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID), the time that class files
 * take (CLOCK_MONOTONIC, in whatever thread loads them). Estimated: calls into the agent (each
 * thread times one in 61) and the hooks (what the trie counts, times what a hook was found to cost
 * in a loop like it, off the application's way). No clock is read in a hook.
 *
 * Threads: the agent thread, but where it says otherwise. Units: nanoseconds; _ps picoseconds; _ppm
 * millionths.
 */
#ifndef BBF_AGENT_COST_OVERHEAD_H
#define BBF_AGENT_COST_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/option.h"
#include "snapshot/snapshot.h"

/* The agent thread has started: its clock begins, and what a hook costs is found out (a fraction of
 * a millisecond). */
void bbf_overhead_begin(void);

/*
 * budget=, budgetSeconds= and sample= are these from now on; `fresh`: hooks have just come, and
 * what an earlier budget had chosen is forgotten. BBF_ELIMIT: the tracker has no place for the
 * rate. Agent thread, or before there is one.
 */
int bbf_overhead_apply(const struct bbf_options *options, bool fresh);

/* Settings that change what bbflow costs are now in force: what it took before is counted
 * separately. */
void bbf_overhead_changed(void);

/* If an interval is over: measure it, and hold the budget. */
void bbf_overhead_poll(void);

/* The agent thread's processor time so far, and what of it went into a scan or a report. */
uint64_t bbf_overhead_clock(void);
void bbf_overhead_scanned(uint64_t since);
void bbf_overhead_reported(uint64_t since);

/* A class file was looked into. Any thread. */
void bbf_overhead_rewritten(uint64_t ns);

/* Around a native: enter() gives leave() what it needs, 0 where this call is not timed. Any thread.
 */
uint64_t bbf_overhead_enter(void);
void bbf_overhead_leave(uint64_t entered);

/* Into an empty snapshot; also ends nothing and changes nothing. */
void bbf_overhead_fill(struct bbf_snap_cost *cost);

#endif
