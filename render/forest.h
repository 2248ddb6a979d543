/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/forest.h - the nodes of a snapshot in the order in which they are shown: children by
 * lives that passed, most first, then by name, bucket and node; roots likewise. And what is shown
 * of them when not all is: every leak with its path, then other paths up to a number of leaves.
 *
 *   nodes      0:A  1:B(0)  2:C(0)  3:D(1)          parents precede children
 *   order      [1 2][3][ ][ ][0]                    children of 0, of 1, of 2, of 3; the roots
 *   first      0    2  3  3  3  4                   n_nodes + 2 entries; end[i] <= first[i + 1]
 *
 * Threads: one owner. Errors: BBF_ENOMEM. Expects what bbf_snapshot_check() looks at to be right.
 */
#ifndef BBF_RENDER_FOREST_H
#define BBF_RENDER_FOREST_H

#include <stdbool.h>

#include "render/names.h"
#include "snapshot/snapshot.h"

struct bbf_forest {
    const struct bbf_snapshot *snapshot;
    const uint32_t *parents; /* by node, not owned: bbf_snapshot_parents()'s */
    uint32_t *order;         /* node indexes, a run for each parent; the roots' is the last */
    uint32_t *first;         /* where the run of node i begins; first[n_nodes]: the roots' */
    uint32_t *end; /* where what is shown of the run of node i ends; end[n_nodes]: the roots' */
    size_t leaves; /* nodes without children */
    size_t hidden_leaves, hidden_nodes;
};

/* `snapshot` and `parents` must outlive the forest. */
int bbf_forest_init(struct bbf_forest *forest, const struct bbf_snapshot *snapshot,
                    const uint32_t *parents, const struct bbf_names *names);
void bbf_forest_free(struct bbf_forest *forest);

/*
 * Keep `max_leaves` lines that have no line below them, more where leaks need more, and, where
 * lives are lost, no root whose lives were all released and no branch that less than a hundredth of
 * its parent's took, all released (of a short tree only such
 * roots). The rest of each run moves to its front, and `end` is set.
 * To be called once. Errors: BBF_ENOMEM.
 */
int bbf_forest_cut(struct bbf_forest *forest, size_t max_leaves);

/* Keep the nodes for which wanted[node], and those on the way to them. Once, instead of the cut. */
int bbf_forest_keep(struct bbf_forest *forest, const bool *wanted);

/* Children of node i that are not shown. */
uint32_t bbf_forest_hidden(const struct bbf_forest *forest, size_t i);

#endif
