/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/html.h - the page of the format html in pieces, and its live form, which `bbflow ui`
 * serves: the same page without data, and a script that fetches the data again and again.
 *
 * Threads: any; pure. Errors: those of the buffer (sticky).
 */
#ifndef BBF_RENDER_HTML_H
#define BBF_RENDER_HTML_H

#include <stdbool.h>

#include "core/buf.h"

/* In the page's order. What goes between: more of the policy; the report; the snapshot; a script.
 */
enum bbf_html_piece {
    BBF_HTML_TOP,
    BBF_HTML_HEAD,
    BBF_HTML_BETWEEN,
    BBF_HTML_END,
    BBF_HTML_BOTTOM
};
void bbf_html_add(struct bbf_buf *out, enum bbf_html_piece first, enum bbf_html_piece last);

/* The live form. */
void bbf_html_live(struct bbf_buf *out);

/* Make of a page that bbf_render() wrote what its live form fetches: the report, BBF_HTML_MARK, the
 * snapshot. False: it is no such page, and is unchanged. */
#define BBF_HTML_MARK '\x1e'
bool bbf_html_data(struct bbf_buf *page);

#endif
