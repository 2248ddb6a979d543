/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/components.h - which steps are one loop: the strongly connected components of the steps of
 * all paths on which lives were lost. Two paths that end in the same component are one bug, however
 * often each went round.
 *
 *     root -> A -> B -> A -> C      edges A>B B>A A>C      components {A B} {C}
 *
 * A derived life's path begins at its derive step, so no edge leads to one.
 *
 * Threads: one owner; the snapshot is only read. Errors: BBF_ENOMEM.
 */
#ifndef BBF_RENDER_COMPONENTS_H
#define BBF_RENDER_COMPONENTS_H

#include "snapshot/snapshot.h"

struct bbf_components {
    uint32_t *of;   /* by index of the site: its component, from 0 */
    uint32_t *size; /* by component: how many steps it has; above 1 it is a loop */
};

/* `parents` is bbf_snapshot_parents()'s. */
int bbf_components_init(struct bbf_components *components, const struct bbf_snapshot *snapshot,
                        const uint32_t *parents);
void bbf_components_free(struct bbf_components *components);

#endif
