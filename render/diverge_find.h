/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/diverge_find.h - finds the divergence points of a snapshot (render/diverge.h).
 *
 * Threads: one owner; the snapshot is only read. Errors: BBF_ENOMEM.
 */
#ifndef BBF_RENDER_DIVERGE_FIND_H
#define BBF_RENDER_DIVERGE_FIND_H

#include "render/diverge.h"

/* A row for each bug: branches that lose lives of one origin method, and end in one method or in
 * one loop (render/components.h); `by_method`: of any origin. `parents` is
 * bbf_snapshot_parents()'s. */
int bbf_divergences_init(struct bbf_divergences *divergences, const struct bbf_snapshot *snapshot,
                         const uint32_t *parents, bool by_method);

#endif
