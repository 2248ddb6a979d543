/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/render.h - snapshot -> text; pure functions to a sink. The order of everything is
 * deterministic: equal snapshots give equal bytes.
 *
 * Threads: any; a snapshot is only read. Errors: BBF_ENOMEM, BBF_EFORMAT (a snapshot that
 * bbf_snapshot_finish() would refuse), BBF_EINVAL (no such format); the sink's content is then
 * unfinished.
 */
#ifndef BBF_RENDER_H
#define BBF_RENDER_H

#include "core/buf.h"
#include "render/formats.h"
#include "snapshot/snapshot.h"

/* Append the document to `out`. `options` may be NULL: everything is shown. */
int bbf_render(struct bbf_buf *out, const struct bbf_snapshot *snapshot, enum bbf_format format,
               const struct bbf_render_options *options);

/* Format by the extension of a path or by name; BBF_ENOTFOUND otherwise. */
int bbf_format_of_path(const char *path, enum bbf_format *format);
int bbf_format_of_name(const char *name, enum bbf_format *format);
unsigned bbf_format_flags(enum bbf_format format);
/* ".tree, .txt, .llm, …": every extension that a path may have. */
void bbf_format_extensions(struct bbf_buf *out);

/*
 * Read a bbflow-snapshot/1 document. *out is owned by the caller. Unknown members are ignored (the
 * format may grow). Errors: BBF_EFORMAT (why: where and what, for a person), BBF_EVERSION (another
 * schema), BBF_ENOMEM.
 */
int bbf_snapshot_from_json(struct bbf_snapshot **out, const char *text, size_t len, char *why,
                           size_t why_size);

#endif
