/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/flow.c - the flow lines of the Java tracker that bbflow replaces, for the programs that
 * read its metrics: a line for each path on which lives are or ended (render/flow_lines.h).
 */
#include "core/err.h"
#include "render/flow_lines.h"
#include "render/formats.h"

int bbf_render_flow(struct bbf_buf *out, struct bbf_view *view,
                    const struct bbf_render_options *options)
{
    const struct bbf_snapshot *s = view->snapshot;
    struct bbf_flow_lines lines;
    int err = bbf_flow_lines_init(&lines, view);

    (void)options;
    if (err != BBF_OK)
        return err;
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (bbf_view_has_end(&s->nodes[i]))
            bbf_flow_line(out, &lines, i, s->nodes[i].leaked_);
    err = lines.failed ? BBF_ENOMEM : BBF_OK;
    bbf_flow_lines_free(&lines);
    return err;
}
