/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/compact.h - a tree that a person can read: if it has too many lines, loops are folded
 * (snapshot/regroup.h), then paths without leaks are left out, from the coldest. Leaks always stay,
 * and each life is counted at the line where it ended.
 *
 * Threads: one owner; the snapshot of `view` is only read and must outlive the compact one.
 * Errors: BBF_ENOMEM, BBF_EFORMAT.
 */
#ifndef BBF_RENDER_COMPACT_H
#define BBF_RENDER_COMPACT_H

#include "render/view.h"

struct bbf_compact {
    struct bbf_view *view; /* to be shown: the caller's own, or `folded`; with names and forest */
    size_t unfolded;       /* nodes before loops were folded; 0: none was */
    struct bbf_view folded;
    struct bbf_snapshot snapshot; /* an overlay of the caller's, or all zero */
};

/* `view` has its names. At most `max_lines` lines, more where leaks need more; 0: all, unfolded. */
int bbf_compact_init(struct bbf_compact *compact, struct bbf_view *view, size_t max_lines);
void bbf_compact_free(struct bbf_compact *compact);

#endif
