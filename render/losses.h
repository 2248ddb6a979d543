/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/losses.h - what was lost since an earlier snapshot, by path, as the flow lines of the Java
 * tracker's metrics (render/flow_lines.h). leak_count is of the time since that snapshot; leak_rate
 * of all buffers that came to the last step.
 *
 * Threads: any; pure.
 */
#ifndef BBF_RENDER_LOSSES_H
#define BBF_RENDER_LOSSES_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "snapshot/snapshot.h"

/* A set of kinds has these bits. */
enum bbf_loss_kind { BBF_LOSS_DIRECT = 1, BBF_LOSS_OTHER = 2 };
enum { BBF_LOSS_KINDS = 2 };

/* One path's count: the base of a later comparison. */
struct bbf_loss {
    uint64_t key; /* of node and kind */
    uint64_t count;
};

struct bbf_losses {
    struct bbf_loss *base; /* by key */
    size_t n;
    uint64_t added[BBF_LOSS_KINDS];       /* lives: direct, other */
    struct bbf_buf flows[BBF_LOSS_KINDS]; /* lines; what lost most is first */
};

/*
 * Compare with `base`, which is of the same tracker and has had no reset since; n = 0: all losses
 * are new. The new base is of all kinds, lines and counts of those that are asked for. At most
 * `most` lines a kind; `added` has all. Names are safe for a terminal. BBF_ENOMEM, BBF_EFORMAT;
 * free `out` in any case.
 */
int bbf_losses_since(struct bbf_losses *out, const struct bbf_snapshot *snapshot, unsigned kinds,
                     const struct bbf_loss *base, size_t n, size_t most);
void bbf_losses_free(struct bbf_losses *losses);

#endif
