/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot/since.h - what a JVM lost between two of its snapshots: for receivers that add up what
 * they get, as a profile store does (ADR 61). Losses are counted since the start or the last reset,
 * so they are subtracted; open and aged buffers are what is open now, and stay as they are.
 *
 * Threads: one owner of `now`.
 */
#ifndef BBF_SNAPSHOT_SINCE_H
#define BBF_SNAPSHOT_SINCE_H

#include "snapshot/snapshot.h"

/*
 * Subtract the losses of `before`, an earlier finished snapshot, from those of `now`, by path,
 * memory and kind of loss: leak rows with the verdict LEAKED, `leaked` of nodes and totals. Other
 * values do not change, but for those that follow from them (`passed`, sums).
 *
 * *restarted: `before` is of another JVM, or the counts began again (a reset, a detached agent);
 * all losses of `now` are new then, and nothing is subtracted. Seen by the pid and the main class,
 * the start of the agent, the time of the last reset where the document has it (usage_of), and by
 * any count that is smaller than before. Errors: BBF_EFORMAT, BBF_ENOMEM; `now` is then unchanged,
 * or can only be freed.
 */
int bbf_snapshot_since(struct bbf_snapshot *now, const struct bbf_snapshot *before,
                       bool *restarted);

#endif
