/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/usage.h - which paths take most memory over time, and of which most was not written, in
 * the text renders. Bytes times seconds are shown as a mean: bytes that were open at a random
 * moment since the start or the last reset. Nothing is written for a snapshot that has no such
 * sums.
 *
 * Threads: any; pure, but for memory while rows are ordered. Errors: BBF_ENOMEM, and those of the
 * buffer (sticky). Paths are named by the view's names.
 */
#ifndef BBF_RENDER_USAGE_H
#define BBF_RENDER_USAGE_H

#include "core/buf.h"
#include "render/view.h"

/*
 * why: two lists of at most `most` paths, each row behind `indent`:
 *     over 12 min 412.0 MiB were open on average:
 *           290.1 MiB direct (70.42%) at AuditLog.flush, after AuditLog.offer
 *     of the released ones 280.0 MiB on average were not written, by the writerIndex at the
 * release: 280.0 MiB direct at A.b, after B.c: 64.0 KiB asked, 3.00% of it written (mean of 1204
 * buffers)
 */
int bbf_usage_text(struct bbf_buf *out, const struct bbf_view *view, const char *indent,
                   size_t most);
/* summary: a section with the same. */
int bbf_usage_section(struct bbf_buf *out, const struct bbf_view *view, size_t most);
/* llm: a section of rows. */
void bbf_usage_rows(struct bbf_buf *out, const struct bbf_view *view);

#endif
