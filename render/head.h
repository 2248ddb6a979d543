/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/head.h - the first lines of each text report: what was not seen, and why.
 *
 * Threads: any; pure. Errors: those of the buffer (sticky).
 */
#ifndef BBF_RENDER_HEAD_H
#define BBF_RENDER_HEAD_H

#include "core/buf.h"
#include "snapshot/snapshot.h"

/* A ByteBuf class without the hidden field, "NAME: REASON", and what that means for the reader. */
void bbf_head_mapped(struct bbf_buf *out, const char *text);

/*
 * The missing data, a line each after `prefix`: the notes, buffers without the hidden field, the
 * totals that are not 0 and mean a loss, the limits that were reached. Returns the number of lines.
 */
size_t bbf_head_text(struct bbf_buf *out, const struct bbf_snapshot *snapshot, const char *prefix);

/* The same lines, one call for each; the text is valid during the call. BBF_ENOMEM. */
int bbf_head_each(const struct bbf_snapshot *snapshot, void (*line)(void *ctx, const char *text),
                  void *ctx);

#endif
