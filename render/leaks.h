/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/leaks.h - what a node's line in the tree says of its lives: the leak rows of the node
 * (bbf_snapshot_finish() sees to it that they name every lost life) and the other columns.
 *
 * Threads: one owner. Errors: BBF_ENOMEM.
 */
#ifndef BBF_RENDER_LEAKS_H
#define BBF_RENDER_LEAKS_H

#include "core/buf.h"
#include "snapshot/snapshot.h"

struct bbf_leak_index {
    const struct bbf_snapshot *snapshot;
    uint32_t *order; /* leak rows by node, verdict, memory; NULL when there are none */
};

int bbf_leak_index_init(struct bbf_leak_index *index, const struct bbf_snapshot *snapshot);
void bbf_leak_index_free(struct bbf_leak_index *index);

/*
 * The order of importance, 0 the worst: proven before aged; memory that is never freed before
 * memory that Netty still counts, and that before memory that the garbage collector frees; direct
 * before other.
 */
unsigned bbf_leak_rank(const struct bbf_snap_leak *leak);

/* Indexes of snapshot->leaks by rank, of one rank in their own order (most bytes first); the
 * caller's to free. NULL: no memory. */
uint32_t *bbf_leak_ranking(const struct bbf_snapshot *snapshot);

/*
 * What a node's line says behind its counts: " 🚨 LEAK 41 (10.2 KiB direct) oldest 90 s by worker-3,
 * held 1", or nothing.
 */
void bbf_leak_marker(struct bbf_buf *out, const struct bbf_leak_index *index, uint32_t node);

#endif
