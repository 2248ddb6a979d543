/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/owner.h - which method owned a lost buffer: the climb from the last step to its caller,
 * for as long as the step got the buffer as a parameter and only borrowed it (ADR 44). The nest of
 * calls is rebuilt from the steps of a path and from which methods call which:
 *
 *   path   decode -> parse -> parse_return -> decode -> check
 *   nest   [decode] [decode parse] [decode] [decode] [decode check]     owner of check: decode
 *
 * A missing fact ends the climb earlier: then the owner is nearer to the last step, or is it.
 *
 * Threads: one owner; the snapshot is only read. Errors: BBF_ENOMEM. Nodes are indexes into
 * snapshot->nodes.
 */
#ifndef BBF_RENDER_OWNER_H
#define BBF_RENDER_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "snapshot/snapshot.h"

struct bbf_owners {
    uint32_t *method; /* by site: equal for the steps of one method */
    uint32_t *top;    /* by node: the step at which the method that is running then began */
    uint32_t *caller; /* by such a step: that of its caller; BBF_OWNER_NONE */
    bool *lent;       /* by such a step: the caller gave it the buffer as an argument */
};
#define BBF_OWNER_NONE UINT32_MAX

/* Nothing is made, and each node is its own owner, where the snapshot has no facts. `parents` is
 * bbf_snapshot_parents()'s. */
int bbf_owners_init(struct bbf_owners *owners, const struct bbf_snapshot *snapshot,
                    const uint32_t *parents);
void bbf_owners_free(struct bbf_owners *owners);

/* The owner's step on the path of `node`: an ancestor, or `node`. */
uint32_t bbf_owners_of(const struct bbf_owners *owners, const struct bbf_snapshot *snapshot,
                       uint32_t node);

#endif
