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
#include "snapshot/snapshot.h"

enum {
    BBF_FORMAT_EXACT = 1,  /* for programs: never laid out for a terminal */
    BBF_FORMAT_STREAMS = 2 /* flushes its sink piece by piece: need not fit into memory */
};

/* One row for each format: id, name (also its extension), another extension, flags. Its function
 * is bbf_render_NAME() (render/formats.h), in a file of its own. */
#define BBF_FORMATS(XX)                                                                            \
    XX(TREE, tree, "txt", 0)                                                                       \
    XX(LLM, llm, NULL, BBF_FORMAT_EXACT)                                                           \
    XX(SUMMARY, summary, NULL, 0)                                                                  \
    XX(JSON, json, NULL, BBF_FORMAT_EXACT | BBF_FORMAT_STREAMS)                                    \
    XX(FOLDED, folded, "collapsed", BBF_FORMAT_EXACT)

enum bbf_format {
#define XX(id, name, extension, flags) BBF_FORMAT_##id,
    BBF_FORMATS(XX)
#undef XX
};

#define BBF_FORMAT_COMMA_NAME(id, name, extension, flags) ", " #name
/* "tree, llm, …": for messages. */
#define BBF_FORMAT_NAMES (&BBF_FORMATS(BBF_FORMAT_COMMA_NAME)[2])

struct bbf_render_options {
    size_t max_leaves; /* tree: leaf lines shown, more only if leaks need more; 0 = all */
};

/* Append the document to `out`. `options` may be NULL: everything is shown. */
int bbf_render(struct bbf_buf *out, const struct bbf_snapshot *snapshot, enum bbf_format format,
               const struct bbf_render_options *options);

/* Format by the extension of a path or by name; BBF_ENOTFOUND otherwise. */
int bbf_format_of_path(const char *path, enum bbf_format *format);
int bbf_format_of_name(const char *name, enum bbf_format *format);
unsigned bbf_format_flags(enum bbf_format format);

/*
 * Read a bbflow-snapshot/1 document. *out is owned by the caller. Unknown members are ignored (the
 * format may grow). Errors: BBF_EFORMAT (why: where and what, for a person), BBF_EVERSION (another
 * schema), BBF_ENOMEM.
 */
int bbf_snapshot_from_json(struct bbf_snapshot **out, const char *text, size_t len, char *why,
                           size_t why_size);

#endif
