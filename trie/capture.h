/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/capture.h - a snapshot of a tracker while the application goes on.
 *
 * Threads: the agent's.
 */
#ifndef BBF_TRIE_CAPTURE_H
#define BBF_TRIE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "snapshot/snapshot.h"

struct bbf_tracker;

/* The `live` total that a capture would have now; *estimated: sampled lives are among it. */
uint64_t bbf_tracker_live(const struct bbf_tracker *t, bool *estimated);

/* Fill sites, nodes, leaks, limits and the totals the tracker knows; bbf_snapshot_finish() done.
 * What its rows need is charged to `memory` until the snapshot is freed; rows that have no room
 * become part of their parents', the least used first, leaks last (folded_rows). BBF_ENOMEM. The
 * application goes on meanwhile. */
int bbf_tracker_capture(struct bbf_tracker *t, struct bbf_snapshot *snapshot);

#endif
