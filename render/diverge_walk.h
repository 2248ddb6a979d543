/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/diverge_walk.h - what the parts of bbf_divergences_init() share; for render/diverge_*.c
 * only.
 *
 * Threads: one owner.
 */
#ifndef BBF_RENDER_DIVERGE_WALK_H
#define BBF_RENDER_DIVERGE_WALK_H

#include "render/diverge.h"

/* The facts about each node, collected before the leaks are examined. */
struct bbf_diverge_walk {
    const struct bbf_snapshot *snapshot;
    const uint32_t *parents;
    uint64_t *passed, *released; /* at the node and below, derived lives left out */
    uint32_t *origin;
    uint32_t *losing;   /* itself where lives are released at or below, else the branch's first */
    uint32_t *kept;     /* child, not a release, through which most were released */
    uint64_t *there;    /* released at the node itself, on no further step */
    uint32_t *row;      /* by `losing`: its row, from 1 */
    uint32_t *depth;    /* steps from the root, from 1 */
    uint64_t max_depth; /* the option of that name: no step was recorded further down */
    bool by_method;     /* join rows of different origins */
};

/* Did recording stop here? Lives that are lost here may have gone on. */
static inline bool bbf_diverge_is_cut(const struct bbf_diverge_walk *w, uint32_t node)
{
    return w->depth[node] >= w->max_depth;
}

#endif
