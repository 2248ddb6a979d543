/* SPDX-License-Identifier: Apache-2.0 */
#include "render/compact.h"

#include "core/err.h"
#include "snapshot/regroup.h"

static size_t lines(const struct bbf_view *view)
{
    return view->snapshot->n_nodes - view->forest.hidden_nodes;
}

static int add_forest(struct bbf_view *view, size_t max_leaves)
{
    bbf_forest_free(&view->forest);
    int err = bbf_view_add_forest(view);

    return err == BBF_OK && max_leaves != 0 ? bbf_forest_cut(&view->forest, max_leaves) : err;
}

static int fold(struct bbf_compact *c, const struct bbf_snapshot *from)
{
    int err = bbf_snapshot_overlay(&c->snapshot, from);

    if (err == BBF_OK)
        err = bbf_snapshot_fold_loops(&c->snapshot);
    if (err == BBF_OK)
        err = bbf_snapshot_finish(&c->snapshot);
    return err;
}

static int show_folded(struct bbf_compact *c)
{
    int err = bbf_view_init(&c->folded, &c->snapshot);

    c->folded.lines = c->view->lines;
    if (err == BBF_OK)
        err = bbf_view_add_names(&c->folded, '\0');
    if (err == BBF_OK) {
        c->unfolded = c->view->snapshot->n_nodes;
        c->view = &c->folded;
    }
    return err;
}

int bbf_compact_init(struct bbf_compact *c, struct bbf_view *view, size_t max_lines)
{
    size_t leaves = max_lines;

    *c = (struct bbf_compact){.view = view};
    int err = add_forest(view, leaves);

    if (err != BBF_OK || max_lines == 0 || lines(view) <= max_lines)
        return err;
    err = fold(c, view->snapshot);
    if (err == BBF_OK && c->snapshot.n_nodes < view->snapshot->n_nodes)
        err = show_folded(c);
    if (err == BBF_OK && c->view != view)
        err = add_forest(c->view, leaves);
    while (err == BBF_OK && lines(c->view) > max_lines && leaves > 1) {
        leaves = leaves * max_lines / lines(c->view); /* less, and at most by as much as needed */
        err = add_forest(c->view, leaves > 0 ? leaves : 1);
    }
    return err;
}

void bbf_compact_free(struct bbf_compact *c)
{
    bbf_view_free(&c->folded);
    bbf_snapshot_overlay_free(&c->snapshot);
}
