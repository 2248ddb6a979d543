/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/aged.h - open lives that a report finds too old: which age is too old at a root, and a row
 * for each node and kind of memory that has such lives (design.md: verdicts).
 *
 * A life is aged if it is open longer than `age=`, or than BBF_AGED_TIMES the longest lifetime that
 * its root has ever seen. The habit speaks once the root has released BBF_AGED_LIVES lives: by the
 * rule of three (Hanley, Lippman-Hand: If nothing goes wrong, is everything all right? JAMA 1983),
 * of a thousand lives none of which was longer, one in 333 or fewer is, with 95 % certainty. What
 * is static, harmless or not judged (foreign counts, lives older than a stop) is never aged.
 *
 * Lifetimes are counted at the close, by the application's thread, and only where the second has
 * changed since the open: 32 log2 buckets a root, as in trie/tomb.h; nothing shorter is seen.
 *
 * Threads: lasted any, lock-free; the rest the agent's. Units: seconds.
 */
#ifndef BBF_TRIE_AGED_H
#define BBF_TRIE_AGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trie/tomb.h"

struct bbf_tracker;

enum { BBF_AGED_TIMES = 8, BBF_AGED_LIVES = 1000 };

/* A life that stood at `node` was released so many seconds after it was opened, at least one. */
void bbf_aged_lasted(struct bbf_tracker *t, uint32_t node, uint32_t seconds);

/* The age from which on a life of that root site is aged, after `released` lives; UINT64_MAX:
 * never. */
uint64_t bbf_aged_limit(const struct bbf_tracker *t, uint32_t site, uint64_t released);

/* The aged lives of one report; zero before the first is added, charged to `memory`. */
struct bbf_aged {
    uint32_t *first;        /* by row: its first of `tombs`, counted from 1; 0 = none */
    struct bbf_tomb *tombs; /* node: the row's index */
    uint32_t n, cap;
    size_t charged;
    bool full; /* no memory: what is not here yet has a row without details */
};

/* Count an aged life in; loss->node is its row's index of `rows`. False: no memory for a row. */
bool bbf_aged_add(struct bbf_aged *aged, struct bbf_tracker *t, size_t rows,
                  const struct bbf_loss *loss);
void bbf_aged_free(struct bbf_aged *aged, struct bbf_tracker *t);

#endif
