/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/cost.h - bbflow's own cost, in each text format. Nothing if it was not measured. Estimates
 * are marked as such; agent/cost/account.h and ADR 24 say how it is made.
 *
 * Threads: any; pure. Errors: those of the buffer (sticky).
 */
#ifndef BBF_RENDER_COST_H
#define BBF_RENDER_COST_H

#include "core/buf.h"
#include "snapshot/snapshot.h"

/* Among what was not seen, a line after `prefix`: that budget= has buffers passed over, since when
 * and why. Returns the number of lines, 0 or 1. */
size_t bbf_cost_head(struct bbf_buf *out, const struct bbf_snap_cost *cost, const char *prefix);
/* tree: one line. */
void bbf_cost_line(struct bbf_buf *out, const struct bbf_snap_cost *cost);
/* summary and status: a line for each part; `heading` before them, NULL: none. */
void bbf_cost_section(struct bbf_buf *out, const struct bbf_snap_cost *cost, const char *heading);
/* llm: a section of name=value rows. */
void bbf_cost_rows(struct bbf_buf *out, const struct bbf_snap_cost *cost);

#endif
