/* SPDX-License-Identifier: Apache-2.0 */
#include "render/flow_lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/err.h"
#include "render/names.h"
#include "render/text.h"

int bbf_flow_lines_init(struct bbf_flow_lines *lines, struct bbf_view *view)
{
    *lines = (struct bbf_flow_lines){.view = view, .texts = BBF_BUF_INIT};
    lines->names = calloc((size_t)view->snapshot->n_sites + 1, sizeof *lines->names);
    return lines->names != NULL ? BBF_OK : BBF_ENOMEM;
}

void bbf_flow_lines_free(struct bbf_flow_lines *lines)
{
    bbf_buf_free(&lines->texts);
    free(lines->names);
    lines->names = NULL;
}

static void make_name(struct bbf_flow_lines *lines, uint32_t site)
{
    struct bbf_buf name = BBF_BUF_INIT;
    size_t at = lines->texts.len;

    bbf_site_full_name(&name, &lines->view->snapshot->sites[site]);
    bbf_text_safe(&lines->texts, bbf_buf_cstr(&name), '|');
    lines->failed = lines->failed || name.failed || lines->texts.failed;
    bbf_buf_free(&name);
    if (!lines->failed)
        lines->names[site] = (struct bbf_flow_name){.at = at, .len = lines->texts.len - at};
}

static void add_name(struct bbf_buf *out, struct bbf_flow_lines *lines, uint32_t node)
{
    const uint32_t site = lines->view->snapshot->nodes[node].site;

    if (lines->names[site].len == 0)
        make_name(lines, site);
    if (lines->names[site].len > 0)
        bbf_buf_add(out, lines->texts.data + lines->names[site].at, lines->names[site].len);
}

void bbf_flow_line(struct bbf_buf *out, struct bbf_flow_lines *lines, uint32_t node,
                   uint64_t leak_count)
{
    const struct bbf_snapshot *s = lines->view->snapshot;
    const struct bbf_snap_node *last = &s->nodes[node];
    const struct bbf_view_path path = bbf_view_path(lines->view, node);

    bbf_buf_str(out, "root=");
    add_name(out, lines, path.nodes[0]);
    bbf_buf_printf(out, "|final_ref=%s|leak_count=%" PRIu64 "|leak_rate=", bbf_ref_name(last->ref),
                   leak_count);
    bbf_text_percent(out, last->leaked_, last->passed_);
    bbf_buf_str(out, "|path=");
    for (size_t i = 0; i < path.n; i++) {
        bbf_buf_str(out, i > 0 ? " -> " : "");
        add_name(out, lines, path.nodes[i]);
        bbf_buf_str(out, "[ref=");
        bbf_buf_str(out, bbf_ref_name(s->nodes[path.nodes[i]].ref));
        bbf_buf_char(out, ']');
    }
    bbf_buf_char(out, '\n');
}
