/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/capture.h - makes a snapshot of a tracker while the application runs.
 *
 * Threads: the agent's.
 */
#ifndef BBF_TRIE_CAPTURE_H
#define BBF_TRIE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "snapshot/snapshot.h"

struct bbf_tracker;

/* The `live` total that a capture would have now; *estimated: sampled lives are among it. */
uint64_t bbf_tracker_live(const struct bbf_tracker *t, bool *estimated);

/* Fill sites, nodes, leaks, limits and the totals the tracker knows; bbf_snapshot_finish() done.
 * The memory of its rows is charged to `memory` until the snapshot is freed; rows without room
 * become part of their parents', the least used first, leaks last (folded_rows). Errors:
 * BBF_ENOMEM. The application runs concurrently. */
int bbf_tracker_capture(struct bbf_tracker *t, struct bbf_snapshot *snapshot);
/* The same with `most` rows at most, besides the roots. */
int bbf_tracker_capture_most(struct bbf_tracker *t, struct bbf_snapshot *snapshot, size_t most);

#endif
