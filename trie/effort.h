/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/effort.h - how much work the hooks had, computed from the trie's other counters. A step
 * itself writes no counter, because a written cache line costs 16-37 ns at two threads (design.md:
 * trie).
 *
 * Threads: the agent's; the application runs concurrently.
 */
#ifndef BBF_TRIE_EFFORT_H
#define BBF_TRIE_EFFORT_H

#include <stdint.h>

struct bbf_tracker;

/*
 * Counts since the current range of nodes began (`reset nodes` begins a new one). `lives`:
 * followed, open or ended. `steps`: the steps of their paths, each counted once; a lower bound,
 * because further rounds of a loop and changes of the refCnt bucket are not counted. `passed_*`:
 * the same for lives that sampling passed over, extrapolated from those that it drew.
 */
struct bbf_effort {
    uint64_t lives, steps, passed_lives, passed_steps;
};

/* Compute the counts in one walk over nodes, records and stripes. Agent thread. */
void bbf_effort_sum(struct bbf_tracker *t, struct bbf_effort *effort);

#endif
