/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/effort.h - how much the hooks had to do, from what the trie counts anyway: no counter is
 * written where a buffer makes a step (a written line costs 16-37 ns at two threads, design.md:
 * trie).
 *
 * Threads: the application goes on meanwhile.
 */
#ifndef BBF_TRIE_EFFORT_H
#define BBF_TRIE_EFFORT_H

#include <stdint.h>

struct bbf_tracker;

/*
 * Since the nodes in force were begun (a `reset nodes` begins them anew). `lives`: followed, open
 * or ended. `steps`: those of their paths, each counted once, so what goes round a loop again and
 * what a refCnt bucket changes is not there: a lower bound. `passed_*`: the same of the lives that
 * sampling passed over, as the ones that were drawn stand for them.
 */
struct bbf_effort {
    uint64_t lives, steps, passed_lives, passed_steps;
};

/* One walk over nodes, records and stripes. Agent thread. */
void bbf_effort_sum(struct bbf_tracker *t, struct bbf_effort *effort);

#endif
