/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/aged.h - open lives that a report considers too old: the age limit of each root, and a row
 * for each node and kind of memory that has such lives (design.md: verdicts).
 *
 * A life is aged if it is open longer than `age=`, or than BBF_AGED_TIMES the longest lifetime that
 * its root has ever seen. The second limit applies once the root has released BBF_AGED_LIVES lives.
 * By the rule of three (Hanley, Lippman-Hand: If nothing goes wrong, is everything all right? JAMA
 * 1983), if none of a thousand lives was longer, then at most one life in 333 is, with 95 %
 * certainty. Lives that are static, harmless or not judged (foreign counts, lives older than a
 * stop) are never aged.
 *
 * The application's thread counts a lifetime at the close, and only if the clock's second has
 * changed since the open; shorter lifetimes are not counted. Each root has 32 log2 buckets, as in
 * trie/tomb.h.
 *
 * Threads: bbf_aged_lasted() any, lock-free; the rest only the agent thread. Units: seconds.
 */
#ifndef BBF_TRIE_AGED_H
#define BBF_TRIE_AGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trie/tomb.h"

struct bbf_tracker;

enum { BBF_AGED_TIMES = 8, BBF_AGED_LIVES = 1000 };

/* Count a life that was at `node` and was released `seconds` after it was opened, at least one. */
void bbf_aged_lasted(struct bbf_tracker *t, uint32_t node, uint32_t seconds);

/* The age at which a life of this root site becomes aged, after `released` lives; UINT64_MAX:
 * never. */
uint64_t bbf_aged_limit(const struct bbf_tracker *t, uint32_t site, uint64_t released);

/* The aged lives of one report. All zero before the first is added; charged to `memory`. */
struct bbf_aged {
    uint32_t *first;        /* by row: its first of `tombs`, counted from 1; 0 = none */
    struct bbf_tomb *tombs; /* node: the row's index */
    uint32_t n, cap;
    size_t charged;
    bool full; /* no memory: later lives are in rows without details */
};

/* Add an aged life; loss->node is the index of its row in `rows`. False: no memory for a row. */
bool bbf_aged_add(struct bbf_aged *aged, struct bbf_tracker *t, size_t rows,
                  const struct bbf_loss *loss);
void bbf_aged_free(struct bbf_aged *aged, struct bbf_tracker *t);

#endif
