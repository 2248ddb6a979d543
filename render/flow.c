/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/flow.c - the flow lines of the Java tracker that bbflow replaces, for the programs that
 * read its metrics: a line for each path on which lives are or ended.
 *
 *     root=A.alloc|final_ref=1|leak_count=3|leak_rate=9.38%|path=A.alloc->B.read->C.keep
 */
#include <inttypes.h>

#include "core/err.h"
#include "render/formats.h"
#include "render/text.h"
#include "render/view.h"

int bbf_render_flow(struct bbf_buf *out, struct bbf_view *view,
                    const struct bbf_render_options *options)
{
    const struct bbf_snapshot *s = view->snapshot;
    int err = bbf_view_add_names(view, '|');

    (void)options;
    for (uint32_t i = 0; err == BBF_OK && i < s->n_nodes; i++) {
        const struct bbf_snap_node *node = &s->nodes[i];
        if (!bbf_view_has_end(node))
            continue;
        const struct bbf_view_path path = bbf_view_path(view, i);
        bbf_buf_str(out, "root=");
        bbf_view_name(out, view, path.nodes[0]);
        bbf_buf_printf(out,
                       "|final_ref=%s|leak_count=%" PRIu64 "|leak_rate=", bbf_ref_name(node->ref),
                       node->leaked_);
        bbf_text_percent(out, node->leaked_, node->passed_);
        bbf_buf_str(out, "|path=");
        bbf_view_join(out, view, path.nodes, path.n, "->");
        bbf_buf_char(out, '\n');
    }
    return err;
}
