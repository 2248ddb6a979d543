/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/reconciled.h - our numbers beside Netty's own, in the text renders. Nothing is written for
 * a snapshot that has none.
 *
 * Threads: any; pure. Errors: those of the buffer (sticky).
 */
#ifndef BBF_RENDER_RECONCILED_H
#define BBF_RENDER_RECONCILED_H

#include "core/buf.h"
#include "snapshot/snapshot.h"

/* tree: one line, how much of what Netty has in use is explained; a line for each cause. */
void bbf_reconciled_line(struct bbf_buf *out, const struct bbf_snap_reconciled *reconciled);
/* "Netty agrees: 99.98% of bytes."; nothing where nothing was compared. */
void bbf_reconciled_agrees(struct bbf_buf *out, const struct bbf_snap_reconciled *reconciled);
/* The causes of a difference, a line each. */
void bbf_reconciled_causes(struct bbf_buf *out, const struct bbf_snap_reconciled *reconciled,
                           const char *prefix);
/* summary: a section with each pool. */
void bbf_reconciled_section(struct bbf_buf *out, const struct bbf_snap_reconciled *reconciled);
/* llm: a section of name=value rows. */
void bbf_reconciled_rows(struct bbf_buf *out, const struct bbf_snap_reconciled *reconciled);

#endif
