/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/dot.c - the tree for Graphviz (https://graphviz.org/doc/info/lang.html): the lines that
 * `tree` shows as nodes, red where lives leaked, yellow where they are aged; edges as thick as the
 * share of their root's lives. Graphviz lays out some thousand nodes in a minute, so --all is for
 * small trees.
 */
#include <inttypes.h>

#include "core/err.h"
#include "render/compact.h"
#include "render/formats.h"
#include "render/text.h"
#include "render/view.h"

/* Widths of an edge, in tenths of a point. */
enum { WIDTH_LEAST = 5, WIDTH_MOST = 60 };

/* A text in quotes: backslashes begin escapes there. */
static void add_quoted(struct bbf_buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\')
            bbf_buf_char(out, '\\');
        bbf_buf_char(out, text[i]);
    }
}

static void add_count(struct bbf_buf *out, const char *word, uint64_t count, uint64_t bytes)
{
    if (count == 0)
        return;
    bbf_buf_printf(out, "\\n%s ", word);
    bbf_text_grouped(out, count);
    if (bytes == 0)
        return;
    bbf_buf_str(out, ", ");
    bbf_text_bytes(out, bytes);
}

static void add_node(struct bbf_buf *out, const struct bbf_view *view, uint32_t i)
{
    const struct bbf_snap_node *node = &view->snapshot->nodes[i];
    const struct bbf_name *name = &view->names.names[node->site];
    const char *colour = node->leaked_ != 0 ? "#ffcccc" : node->aged_ != 0 ? "#ffffcc" : NULL;

    bbf_buf_printf(out, "  n%" PRIu32 " [label=\"", i);
    add_quoted(out, name->text, name->len);
    bbf_buf_str(out, node->loop ? " (loop)" : "");
    if (node->parent == -1)
        add_count(out, "lives", node->passed_, 0);
    add_count(out, "LEAK", node->leaked_, node->leaked_bytes_);
    add_count(out, "live", node->live_, node->live_bytes_);
    add_count(out, "aged", node->aged_, 0);
    add_count(out, "released", node->released_, 0);
    uint32_t hidden = bbf_forest_hidden(&view->forest, i);
    if (hidden != 0)
        bbf_buf_printf(out, "\\n+%" PRIu32 " not shown", hidden);
    bbf_buf_char(out, '"');
    if (colour != NULL)
        bbf_buf_printf(out, ", style=filled, fillcolor=\"%s\"", colour);
    bbf_buf_str(out, "];\n");
}

static uint64_t root_passed(const struct bbf_view *view, uint32_t node)
{
    while (view->parents[node] != BBF_NO_PARENT)
        node = view->parents[node];
    return view->snapshot->nodes[node].passed_;
}

static void add_edge(struct bbf_buf *out, const struct bbf_view *view, uint32_t from, uint32_t to)
{
    const uint64_t passed = view->snapshot->nodes[to].passed_, all = root_passed(view, to);
    const double share = all != 0 ? (double)passed / (double)all : 0;
    const unsigned width = WIDTH_LEAST + (unsigned)(share * (WIDTH_MOST - WIDTH_LEAST));

    bbf_buf_printf(out, "  n%" PRIu32 " -> n%" PRIu32 " [label=\"", from, to);
    bbf_text_grouped(out, passed);
    bbf_buf_printf(out, "\", penwidth=%u.%u];\n", width / 10, width % 10);
}

static void add_graph(struct bbf_buf *out, const struct bbf_view *view)
{
    const struct bbf_forest *forest = &view->forest;
    const size_t roots = view->snapshot->n_nodes;

    bbf_buf_str(out, "digraph bbflow {\n"
                     "  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
                     "  edge [fontname=\"sans-serif\", fontsize=8];\n");
    /* A run has the children of a node; of a hidden node it is empty. */
    for (size_t run = 0; run <= roots; run++)
        for (uint32_t at = forest->first[run]; at < forest->end[run]; at++)
            add_node(out, view, forest->order[at]);
    for (size_t run = 0; run < roots; run++)
        for (uint32_t at = forest->first[run]; at < forest->end[run]; at++)
            add_edge(out, view, (uint32_t)run, forest->order[at]);
    if (forest->hidden_nodes != 0)
        bbf_buf_printf(out, "  label=\"%zu nodes are not shown\";\n", forest->hidden_nodes);
    bbf_buf_str(out, "}\n");
}

int bbf_render_dot(struct bbf_buf *out, struct bbf_view *view,
                   const struct bbf_render_options *options)
{
    struct bbf_compact compact;
    int err = bbf_view_add_names(view, '\0');

    if (err != BBF_OK)
        return err;
    err = bbf_compact_init(&compact, view, options->max_lines);
    if (err == BBF_OK)
        add_graph(out, compact.view);
    bbf_compact_free(&compact);
    return err;
}
