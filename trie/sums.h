/*
 * trie/sums.h - every counter of a tracker at one moment: what applications' threads have charged,
 * in counters and in the run words and stripes that are not flushed yet. A reset keeps one and
 * subtracts it; a capture makes one.
 *
 * Readers never zero a run word or a stripe table: their owners go on using them (D12.9). A flush
 * between two reads may hide or double a run for a moment; at rest the sums are exact. A baseline
 * taken in such a moment misses up to 65,535 lives, which then show as released after it.
 *
 * Called by: trie/reset.c, trie/capture.c. Threads: agent.
 */
#ifndef BBF_TRIE_SUMS_H
#define BBF_TRIE_SUMS_H

#include "trie/tracker.h"

struct bbf_sums {
    uint32_t arena, nodes;                                   /* indices 0..nodes-1 of that arena */
    uint64_t *released, *unknown;                            /* by index */
    uint64_t reserved_released[BBF_L_NODE_BEFORE_RESET + 1]; /* by id */
    uint64_t reserved_unknown[BBF_L_NODE_BEFORE_RESET + 1];
    uint64_t tally[BBF_L_TALLIES];
    uint64_t undone, errors, untracked;
};

/* The counters now. NULL without memory. */
struct bbf_sums *bbf_sums_new(struct bbf_tracker *t);
void bbf_sums_free(struct bbf_sums *sums); /* NULL is allowed */
/* Take `base` off, never below zero; indices that `base` does not know stay. */
void bbf_sums_subtract(struct bbf_sums *sums, const struct bbf_sums *base);

#endif
