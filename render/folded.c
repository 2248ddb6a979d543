/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/folded.c - collapsed stacks, as flame graph tools read them: "root;step;step N", a line
 * for each path on which lives were lost or are aged, N of them. Paths are in the order of the
 * nodes.
 */
#include <stdlib.h>

#include "core/err.h"
#include "render/formats.h"
#include "render/view.h"

int bbf_render_folded(struct bbf_buf *out, struct bbf_view *view,
                      const struct bbf_render_options *options)
{
    const struct bbf_snapshot *snapshot = view->snapshot;
    uint64_t *lost = calloc(snapshot->n_nodes + 1, sizeof *lost); /* by node */
    int err = lost != NULL ? bbf_view_add_names(view, ';') : BBF_ENOMEM;

    (void)options;
    for (size_t i = 0; err == BBF_OK && i < snapshot->n_leaks; i++)
        lost[snapshot->leaks[i].node] += snapshot->leaks[i].count;
    for (size_t i = 0; err == BBF_OK && i < snapshot->n_nodes; i++)
        if (lost[i] > 0) {
            struct bbf_view_path path = bbf_view_path(view, (uint32_t)i);
            bbf_view_join(out, view, path.nodes, path.n, ";");
            bbf_buf_printf(out, " %llu\n", (unsigned long long)lost[i]);
        }
    free(lost);
    return err;
}
