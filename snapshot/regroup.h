/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot/regroup.h - the same lives in a smaller tree: rows become one row. A life is counted
 * once, at the row where it ended, before and after; so every sum stays what it was. Only
 * bbf_snapshot_only() leaves lives out.
 *
 * Each function changes the snapshot's rows (nodes, leaks, pins, growth, usage, contexts). Call
 * bbf_snapshot_finish() afterwards: it merges leak rows and computes `passed` and the totals.
 * Errors: BBF_ENOMEM, BBF_EFORMAT as for bbf_snapshot_parents(); the rows are then unchanged.
 *
 * Threads: one owner.
 */
#ifndef BBF_SNAPSHOT_REGROUP_H
#define BBF_SNAPSHOT_REGROUP_H

#include "snapshot/snapshot.h"

/*
 * Make *overlay a snapshot that may be regrouped and finished while `from` stays as it is: it has
 * copies of the rows that these functions change, and borrows all else from `from`, which must
 * outlive it. Free it with bbf_snapshot_overlay_free() only, also after BBF_ENOMEM.
 */
int bbf_snapshot_overlay(struct bbf_snapshot *overlay, const struct bbf_snapshot *from);
void bbf_snapshot_overlay_free(struct bbf_snapshot *overlay); /* all zero is allowed */

/* Merge the rows that have the same parent, site and bucket, from the roots down: each sampling
 * rate has nodes of its own. */
int bbf_snapshot_merge_rates(struct bbf_snapshot *snapshot);

/*
 * Fold loops: a step of a method that is on the way to it already returns to that row, which is
 * marked as a loop. What a life's path loses is how often it went round. Derived lives are folded
 * onto rows behind their derive step only, as their path begins there.
 *
 *     A -> B -> A -> B -> C  LEAK 1         A (loop) -> B -> C  LEAK 1
 *     A -> B -> A  LEAK 2                   A (loop) LEAK 2
 */
int bbf_snapshot_fold_loops(struct bbf_snapshot *snapshot);

/* Keep the first `depth` (from 1) steps of each path; lives that went further are counted at the
 * last of them. */
int bbf_snapshot_cut_depth(struct bbf_snapshot *snapshot, size_t depth);

/* Keep the lives with a step on their path whose site `wanted` accepts, and the steps before it. */
int bbf_snapshot_only(struct bbf_snapshot *snapshot,
                      bool (*wanted)(const struct bbf_snap_site *site, void *ctx), void *ctx);

#endif
