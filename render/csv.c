/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/csv.c - a table for spreadsheets and data frames: a row for each node at which lives are
 * or ended. RFC 4180 but for the line ends, which are a newline alone: a text has no control
 * character. The columns are the snapshot's; `id` is the leak's, where it lost some. A cell that a
 * spreadsheet would take for a formula begins with an apostrophe.
 */
#include <inttypes.h>
#include <string.h>

#include "core/err.h"
#include "render/fingerprint.h"
#include "render/formats.h"
#include "render/json_names.h"
#include "render/text.h"
#include "render/view.h"

/* Steps of a path that are written, at its ends. */
enum { HEAD = 10, TAIL = 20 };

static void add_cell(struct bbf_buf *out, const char *text, size_t len)
{
    bbf_buf_char(out, '"');
    if (len > 0 && strchr("=+-@", text[0]) != NULL)
        bbf_buf_char(out, '\'');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            bbf_buf_char(out, '"');
        bbf_buf_char(out, text[i]);
    }
    bbf_buf_char(out, '"');
}

static void add_value(struct bbf_buf *out, struct bbf_buf *spare, const char *text)
{
    spare->len = 0;
    bbf_text_safe(spare, text, '\0');
    add_cell(out, spare->data, spare->len);
    bbf_buf_char(out, ',');
}

static void add_path(struct bbf_buf *out, struct bbf_buf *spare, struct bbf_view *view,
                     uint32_t node)
{
    const struct bbf_view_path path = bbf_view_ends(view, node, HEAD + TAIL, TAIL);

    spare->len = 0;
    for (size_t i = 0; i < path.n; i++) {
        bbf_buf_str(spare, i > 0 ? " -> " : "");
        if (i == HEAD && path.left_out > 0)
            bbf_buf_printf(spare, "[%zu steps left out] -> ", path.left_out);
        bbf_view_name(spare, view, path.nodes[i]);
    }
    add_cell(out, spare->data, spare->len);
}

static void add_row(struct bbf_buf *out, struct bbf_buf *spare, struct bbf_view *view, uint32_t i)
{
    const struct bbf_snap_node *node = &view->snapshot->nodes[i];
    const struct bbf_snap_site *site = &view->snapshot->sites[node->site];

    bbf_text_number(out, node->id);
    bbf_buf_char(out, ',');
    if ((node->leaked_ | node->aged_) != 0)
        bbf_fingerprint_text(out, bbf_fingerprint_leak(view, i));
    bbf_buf_char(out, ',');
    add_value(out, spare, site->class_name);
    add_value(out, spare, site->method);
    bbf_text_number(out, site->line);
    bbf_buf_char(out, ',');
    bbf_buf_str(out, bbf_json_refs[node->ref]);
    bbf_buf_char(out, ',');
#define XX(name)                                                                                   \
    bbf_text_number(out, node->name##_);                                                           \
    bbf_buf_char(out, ',');
    BBF_NODE_COLUMNS(XX)
#undef XX
    bbf_text_number(out, (uint64_t)view->depths[i] + 1);
    bbf_buf_char(out, ',');
    add_path(out, spare, view, i);
    bbf_buf_char(out, '\n');
}

int bbf_render_csv(struct bbf_buf *out, struct bbf_view *view,
                   const struct bbf_render_options *options)
{
    struct bbf_buf spare = BBF_BUF_INIT;
    int err = bbf_view_add_names(view, '\0');

    (void)options;
    if (err == BBF_OK)
        err = bbf_view_add_ends(view, HEAD);
    if (err != BBF_OK)
        return err;
#define XX(name) "," #name
    bbf_buf_str(out, "node,id,class,method,line,ref" BBF_NODE_COLUMNS(XX) ",steps,path\n");
#undef XX
    for (uint32_t i = 0; i < view->snapshot->n_nodes && !out->failed; i++)
        if (bbf_view_has_end(&view->snapshot->nodes[i]))
            add_row(out, &spare, view, i);
    bool failed = spare.failed;
    bbf_buf_free(&spare);
    return failed ? BBF_ENOMEM : BBF_OK;
}
