/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/callers.h - for whom a root allocates whose buffers leak without a step: the methods on
 * the stacks of sampled allocations (rootCallers=). Counts of samples, with how many there were:
 * never of all buffers. Of the samples that leaked themselves, or, while none has, of all of them.
 *
 * Threads: any; pure. Errors: those of the buffer (sticky). Nothing is written where `node` (an
 * index into nodes) is no bare root, or nothing was sampled there.
 */
#ifndef BBF_RENDER_CALLERS_H
#define BBF_RENDER_CALLERS_H

#include "core/buf.h"
#include "render/view.h"

/* A line: "   allocated for A.send (12 of 14 sampled leaks), B.send (2 of 14)". */
void bbf_callers_text(struct bbf_buf *out, const struct bbf_view *view, uint32_t node);
/* "|allocated_for=A.send 12/14, B.send 2/14|allocated_for_sample=leaked" */
void bbf_callers_field(struct bbf_buf *out, const struct bbf_view *view, uint32_t node);

#endif
