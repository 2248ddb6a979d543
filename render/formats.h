/*
 * render/formats.h - the formats behind bbf_render(), a file each. Each appends its whole document
 * to `out`; the caller looks at out->failed.
 *
 * Called by: render/render.c only, after bbf_snapshot_check(). Errors: BBF_ENOMEM; BBF_EFORMAT for
 * parents that do not precede their children. Threads: any; the snapshot is only read.
 */
#ifndef BBF_RENDER_FORMATS_H
#define BBF_RENDER_FORMATS_H

#include "core/buf.h"
#include "trie/snapshot.h"

int bbf_render_tree(struct bbf_buf *out, const struct bbf_snapshot *snapshot, size_t max_leaves);
int bbf_render_llm(struct bbf_buf *out, const struct bbf_snapshot *snapshot);
int bbf_render_summary(struct bbf_buf *out, const struct bbf_snapshot *snapshot);
int bbf_render_json(struct bbf_buf *out, const struct bbf_snapshot *snapshot);

#endif
