/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot/merge.h - one snapshot of many JVMs: the union of their trees by the names of the steps.
 * Each count is the exact sum: of a node, of a leak row, of a total. What cannot be added is left
 * out, and a note of the result says so (ADR 57).
 *
 *     a:  root ── A.read [5] ── A.drop LEAK 1        root ── A.read [12] ─┬─ A.drop LEAK 3
 *     b:  root ── A.read [7] ─┬─ A.drop LEAK 2   =>                       └─ B.keep LEAK 1
 *                             └─ B.keep LEAK 1
 *
 * Threads: one owner. Errors: BBF_ENOMEM; then nothing more can be added.
 */
#ifndef BBF_SNAPSHOT_MERGE_H
#define BBF_SNAPSHOT_MERGE_H

#include "snapshot/snapshot.h"

struct bbf_merge;

struct bbf_merge *bbf_merge_new(void); /* NULL without memory */
void bbf_merge_free(struct bbf_merge *merge);

/*
 * Add a finished snapshot; it is only read, and not needed afterwards. `name`: its file or JVM, for
 * the notes. BBF_EREFUSED: it is a snapshot that was added already (*of, if not NULL, is that one's
 * name, valid until the next call), nothing was added. BBF_EFORMAT as bbf_snapshot_finish();
 * nothing was added.
 */
int bbf_merge_add(struct bbf_merge *merge, const struct bbf_snapshot *snapshot, const char *name,
                  const char **of);

/* The result, finished; the caller's. Of one snapshot it is that snapshot's sums without a note. */
int bbf_merge_end(struct bbf_merge *merge, struct bbf_snapshot **out);

#endif
