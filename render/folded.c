/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/folded.c - collapsed stacks, as flame graph tools read them: "root;step;step N", a line
 * for each path on which lives were lost or are aged, N of them. Paths are in the order of the
 * nodes.
 */
#include <stdlib.h>

#include "core/err.h"
#include "render/formats.h"
#include "render/names.h"

struct folded {
    const struct bbf_snapshot *snapshot;
    struct bbf_names names;
    uint32_t *parents; /* by node */
    uint32_t *path;    /* room for the longest one */
    uint64_t *lost;    /* by node */
};

static void add_path(struct bbf_buf *out, const struct folded *f, uint32_t node)
{
    size_t n = 0;
    for (; node != BBF_NO_PARENT; node = f->parents[node])
        f->path[n++] = node;
    while (n-- > 0) {
        const struct bbf_name *name = &f->names.names[f->snapshot->nodes[f->path[n]].site];
        bbf_buf_add(out, name->text, name->len);
        bbf_buf_char(out, n > 0 ? ';' : ' ');
    }
}

static int fill(struct folded *f)
{
    size_t n = f->snapshot->n_nodes;
    f->parents = calloc(n + 1, sizeof *f->parents);
    f->path = calloc(n + 1, sizeof *f->path);
    f->lost = calloc(n + 1, sizeof *f->lost);
    if (f->parents == NULL || f->path == NULL || f->lost == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < f->snapshot->n_leaks; i++)
        f->lost[f->snapshot->leaks[i].node] += f->snapshot->leaks[i].count;
    return bbf_snapshot_parents(f->snapshot, f->parents, NULL);
}

int bbf_render_folded(struct bbf_buf *out, const struct bbf_snapshot *snapshot,
                      const struct bbf_render_options *options)
{
    struct folded f = {.snapshot = snapshot};
    (void)options;
    int err = bbf_names_init(&f.names, snapshot, ';');
    if (err == BBF_OK)
        err = fill(&f);
    for (size_t i = 0; err == BBF_OK && i < snapshot->n_nodes; i++)
        if (f.lost[i] > 0) {
            add_path(out, &f, (uint32_t)i);
            bbf_buf_printf(out, "%llu\n", (unsigned long long)f.lost[i]);
        }
    bbf_names_free(&f.names);
    free(f.parents);
    free(f.path);
    free(f.lost);
    return err;
}
