/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/sums.h - the values of all counters of a tracker at one moment: the charges of the
 * application's threads, in counters and in the run words and stripes that are not flushed yet. A
 * reset keeps such a sum and subtracts it; a capture makes one.
 *
 * Readers never zero a run word or a stripe table, because their owners are using them (design.md:
 * slow natives). A flush between two reads may hide or double a run for a moment; at rest the sums
 * are exact. A baseline taken at such a moment misses up to 65,535 lives, which then appear as
 * released after it.
 *
 * Threads: agent.
 */
#ifndef BBF_TRIE_SUMS_H
#define BBF_TRIE_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "core/layout.h"

struct bbf_tracker;

struct bbf_sums {
    uint32_t arena, nodes; /* indices 0..nodes-1 of that arena */
    uint64_t *released;    /* by index; NULL: not requested */
    uint32_t *unknown;     /* the same */
    size_t charged;        /* bytes charged to `memory` for these two */
    uint64_t reserved_released[BBF_L_NODE_BEFORE_RESET + 1]; /* by id */
    uint64_t reserved_unknown[BBF_L_NODE_BEFORE_RESET + 1];
    uint64_t tally[BBF_L_TALLIES];
    uint64_t undone, errors, untracked, exhausted, cut;
    uint64_t unsized, hidden, early; /* SHARED_UNSIZED and the next two */
};

/* Read the counters now, with both tables, which are charged to `memory`: 12 B per node. Errors:
 * BBF_ENOMEM, BBF_ELIMIT. */
int bbf_sums_new(struct bbf_tracker *t, struct bbf_sums **out);
void bbf_sums_free(struct bbf_tracker *t, struct bbf_sums *sums); /* NULL is allowed */

/* Read the counters now without the tables; the caller reads `ended` and `unknown` of each node
 * itself, and every run by bbf_sums_runs(). Makes the release rows that runs will need, so that
 * `nodes` covers them. Allocates nothing. */
void bbf_sums_total(struct bbf_tracker *t, struct bbf_sums *sums);
/* Pass each run that is not flushed yet to `add`, with the index of the node where it would be
 * charged now. Runs of other arenas are added to `reserved_released`. */
void bbf_sums_runs(struct bbf_tracker *t, struct bbf_sums *sums,
                   void (*add)(void *ctx, uint32_t index, uint64_t count), void *ctx);

/* Subtract the counters of `base` that are not by node, never below zero. */
void bbf_sums_subtract(struct bbf_sums *sums, const struct bbf_sums *base);

#endif
