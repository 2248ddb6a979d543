/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/growth.h - the recent history of the places that lose lives, and of those that hold them:
 * for each of the last `growthKeep` intervals of `growthSeconds`
 *   lost   the lives that scans found lost there in that interval, and their bytes
 *   held   the lives that were there when that interval began and had been open for longer than an
 *          interval, and their bytes; where the agent thread did not look in an interval, what it
 *          saw before
 * A place is a node, a kind of memory and what is lost of it, as in a row of leaks.
 *
 * Invariants: intervals are numbered from the start of the tracker; a ring has the numbers `at` -
 * keep + 1 to `at`, and an older number is never written. At most `maxGrowth` places lose, and as
 * many hold; what has no room is counted (`hit`). A place that has held nothing for all intervals
 * is forgotten; one that lost is kept until a reset.
 *
 * Threads: only the agent thread. Memory: charged to `memory`, together with what a report takes.
 */
#ifndef BBF_TRIE_GROWTH_H
#define BBF_TRIE_GROWTH_H

#include <stdint.h>

#include "snapshot/snapshot.h"

struct bbf_loss;
struct bbf_tracker;

/* New limits. Other lengths or numbers of intervals clear the history. */
void bbf_growth_limit(struct bbf_tracker *t, uint64_t seconds, uint64_t keep, uint64_t most);

/* A life was found lost. */
void bbf_growth_lost(struct bbf_tracker *t, const struct bbf_loss *loss);
/* Bytes that are charged to a loss that bbf_growth_lost() was called for. */
void bbf_growth_lost_bytes(struct bbf_tracker *t, const struct bbf_loss *loss, uint64_t bytes);
/* Look at the open lives, unless that was done in this interval. */
void bbf_growth_look(struct bbf_tracker *t);
/* Forget everything: a reset. */
void bbf_growth_clear(struct bbf_tracker *t);

/* Fill snapshot->history and ->growth; `node` is the tracker's, for bbf_tracker_capture().
 * captured_at_ms is set. BBF_ENOMEM. */
int bbf_growth_fill(struct bbf_tracker *t, struct bbf_snapshot *snapshot);

#endif
