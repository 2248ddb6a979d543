/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree, for a person. The seed's lines (ROOT:, connectors, [ref=, count=], the word LEAK), on
 * every node that lost lives, also inner ones.
 */
#include "render/formats.h"

#include "core/err.h"
#include "render/compact.h"
#include "render/cost.h"
#include "render/diverge_text.h"
#include "render/head.h"
#include "render/leaks.h"
#include "render/misuse.h"
#include "render/reconciled.h"
#include "render/text.h"
#include "render/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A path may be 10,000 steps long. Lines deeper than this say how much deeper they are and show
 * the last levels of their indentation only, else the indentation would grow with the square. */
enum { WINDOW = 60 };

/* Divergence points in front of the tree: the tree itself has every leak. */
enum { DIVERGENCES_SHOWN = 10, MISUSES_SHOWN = 10 };

struct tree {
    struct bbf_buf *out;
    struct bbf_compact compact;
    const struct bbf_snapshot *snapshot; /* of the compact view */
    struct bbf_view *view;               /* the compact one */
    struct bbf_leak_index leaks;
    struct bbf_buf indent; /* "│   " or "    " for each level above the line */
    uint32_t *starts;      /* where each level begins in indent */
    uint32_t *at;          /* by run: the walk's place in order */
};

/* Lives that are at exactly this node, or ended there. */
static uint64_t own_count(const struct bbf_snap_node *node)
{
    return node->released_ + node->live_ + node->leaked_ + node->held_ + node->harmless_ +
           node->unknown_;
}

static void add_node(struct tree *tree, uint32_t i)
{
    const struct bbf_snap_node *node = &tree->snapshot->nodes[i];
    struct bbf_buf *out = tree->out;
    bool root = node->parent == -1;

    bbf_view_name(out, tree->view, i);
    bbf_buf_str(out, " [");
    /* A root normally has one reference; its count is shown where it had another, because two roots
     * may differ only in that. */
    if (!root || node->ref != BBF_REF_1_2) {
        bbf_buf_str(out, "ref=");
        bbf_buf_str(out, bbf_ref_name(node->ref));
        bbf_buf_str(out, ", ");
    }
    bbf_buf_str(out, "count=");
    bbf_text_number(out, root ? node->passed_ : own_count(node));
    bbf_buf_char(out, ']');
    if (node->loop)
        bbf_buf_str(out, " (loop)");
    bbf_leak_marker(out, &tree->leaks, i);
    uint32_t hidden = bbf_forest_hidden(&tree->view->forest, i);
    if (hidden != 0)
        bbf_buf_printf(out, " (+%" PRIu32 " not shown)", hidden);
    bbf_buf_char(out, '\n');
}

static void add_indent(struct tree *tree, size_t depth, bool last)
{
    size_t from = 0;

    if (depth > WINDOW) {
        bbf_buf_printf(tree->out, "(+%zu) ", depth - WINDOW);
        from = tree->starts[depth - WINDOW];
    }
    if (tree->indent.len > from)
        bbf_buf_add(tree->out, tree->indent.data + from, tree->indent.len - from);
    bbf_buf_str(tree->out, last ? "└── " : "├── ");
}

/*
 * Walk without recursion. `run` is the node whose children are being shown, `depth` the levels of
 * indentation: 0 for children of a root.
 */
static void add_nodes(struct tree *tree)
{
    const struct bbf_forest *forest = &tree->view->forest;
    size_t roots = tree->snapshot->n_nodes, run = roots, depth = 0;

    memcpy(tree->at, forest->first, (roots + 1) * sizeof *tree->at);
    for (;;) {
        if (tree->at[run] < forest->end[run]) {
            uint32_t node = forest->order[tree->at[run]++];
            bool last = tree->at[run] == forest->end[run];
            if (run == roots) {
                bbf_buf_str(tree->out, "ROOT: ");
            } else {
                add_indent(tree, depth, last);
                tree->starts[depth++] = (uint32_t)tree->indent.len;
                bbf_buf_str(&tree->indent, last ? "    " : "│   ");
            }
            add_node(tree, node);
            run = node;
        } else if (run == roots) {
            return;
        } else {
            if (depth > 0)
                tree->indent.len = tree->starts[--depth];
            run = forest->parents[run] == BBF_NO_PARENT ? roots : forest->parents[run];
        }
    }
}

/* ", 12 word" for what is not 0. */
static void add_part(struct bbf_buf *out, const char *glue, uint64_t count, const char *word)
{
    if (count != 0)
        bbf_buf_printf(out, "%s%" PRIu64 " %s", glue, count, word);
}

/*
 * "1001 lives: 1000 released, 0 live, 1 leaked (256 B)": the parts of the partition. Those that are
 * 0 are left out, except the three that every reader looks for.
 */
static void add_totals(struct bbf_buf *out, const struct bbf_snap_totals *t)
{
    bbf_buf_printf(out, "%" PRIu64 " %s: %" PRIu64 " released, %" PRIu64 " live", t->lives_,
                   t->lives_ == 1 ? "life" : "lives", t->released_, t->live_);
    if (t->live_ != 0) {
        bbf_buf_str(out, " (");
        bbf_text_bytes(out, t->live_bytes_);
        add_part(out, "; of these ", t->aged_, "aged");
        add_part(out, t->aged_ != 0 ? ", " : "; of these ", t->static_, "static");
        bbf_buf_char(out, ')');
    }
    bbf_buf_printf(out, ", %" PRIu64 " leaked", t->leaked_);
    if (t->leaked_ != 0) {
        bbf_buf_str(out, " (");
        bbf_text_bytes(out, t->leaked_bytes_);
        bbf_buf_char(out, ')');
    }
    add_part(out, ", ", t->held_, "held");
    add_part(out, ", ", t->harmless_, "harmless");
    add_part(out, ", ", t->unknown_, "unknown");
    add_part(out, "; ", t->misuse_, t->misuse_ == 1 ? "use after release" : "uses after release");
    add_part(out, "; ", t->steps_after_release_,
             t->steps_after_release_ == 1 ? "step after release" : "steps after release");
    bbf_buf_char(out, '\n');
}

/* Hide all lines but those on the way to the losses that are chosen. */
static int choose_lines(const struct bbf_view *view, struct bbf_view *shown)
{
    const struct bbf_snapshot *s = view->snapshot;
    bool *wanted = calloc(s->n_nodes + 1, sizeof *wanted);

    if (wanted == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < s->n_leaks; i++)
        wanted[s->leaks[i].node] |= bbf_view_shows_leak(view, i);
    int err = bbf_forest_keep(&shown->forest, wanted);
    free(wanted);
    return err;
}

static int tree_init(struct tree *tree, struct bbf_view *view, size_t max_lines)
{
    int err = bbf_view_add_names(view, '\0');

    if (err == 0)
        err = bbf_view_add_divergences(view);
    if (err == 0)
        err = bbf_view_add_owners(view);
    if (err == 0)
        err = bbf_compact_init(&tree->compact, view, view->choice != NULL ? 0 : max_lines);
    if (err == 0 && view->choice != NULL)
        err = choose_lines(view, tree->compact.view);
    if (err != 0)
        return err;
    tree->view = tree->compact.view;
    tree->snapshot = tree->view->snapshot;
    size_t n = tree->snapshot->n_nodes;
    tree->starts = calloc(n + 1, sizeof *tree->starts);
    tree->at = calloc(n + 1, sizeof *tree->at);
    if (tree->starts == NULL || tree->at == NULL)
        return BBF_ENOMEM;
    return bbf_leak_index_init(&tree->leaks, tree->snapshot);
}

static void tree_free(struct tree *tree)
{
    free(tree->at);
    free(tree->starts);
    bbf_buf_free(&tree->indent);
    bbf_leak_index_free(&tree->leaks);
    bbf_compact_free(&tree->compact);
}

static void add_hidden(struct bbf_buf *out, const struct tree *tree)
{
    const struct bbf_forest *forest = &tree->view->forest;

    if (tree->compact.unfolded != 0)
        bbf_buf_printf(out,
                       "(loops are folded: %zu lines became %zu; each life is counted where it "
                       "ended. --all shows every turn)\n",
                       tree->compact.unfolded, tree->snapshot->n_nodes);
    if (forest->hidden_nodes != 0 && tree->view->choice != NULL)
        bbf_buf_printf(out, "(%zu of %zu lines are not on the way to these losses)\n",
                       forest->hidden_nodes, tree->snapshot->n_nodes);
    else if (forest->hidden_nodes != 0)
        bbf_buf_printf(out,
                       "(%zu of %zu leaf lines left out, %zu lines in all; no leak is among "
                       "them: --all shows them)\n",
                       forest->hidden_leaves, forest->leaves, forest->hidden_nodes);
}

int bbf_render_tree(struct bbf_buf *out, struct bbf_view *view,
                    const struct bbf_render_options *options)
{
    const struct bbf_snapshot *snapshot = view->snapshot;
    struct tree tree = {.out = out, .indent = BBF_BUF_INIT};
    int err = tree_init(&tree, view, options->max_lines);

    if (err == 0) {
        bbf_view_choice_note(out, view, "note: ");
        bbf_head_text(out, snapshot, "note: ");
        bbf_divergences_text(out, view, DIVERGENCES_SHOWN);
        bbf_misuse_text(out, snapshot, MISUSES_SHOWN);
        add_totals(out, &snapshot->totals);
        bbf_reconciled_line(out, &snapshot->reconciled);
        bbf_cost_line(out, &snapshot->cost);
        add_nodes(&tree);
        add_hidden(out, &tree);
        if (tree.indent.failed)
            err = BBF_ENOMEM;
    }
    tree_free(&tree);
    return err;
}
