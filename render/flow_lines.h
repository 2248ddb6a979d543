/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/flow_lines.h - the line that the Java tracker's metrics have for a path:
 *
 *     root=a.B.alloc|final_ref=1|leak_count=3|leak_rate=9.38%|path=a.B.alloc[ref=1] -> c.D.d[ref=1]
 *
 * Names are full and safe for a terminal. [ref=N] is the reference count when the buffer left the
 * step, as the least of its bucket; final_ref is that of the last step.
 *
 * Threads: one owner. Errors: those of the buffer, and `failed`: no memory.
 */
#ifndef BBF_RENDER_FLOW_LINES_H
#define BBF_RENDER_FLOW_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "render/view.h"

struct bbf_flow_name {
    size_t at, len; /* in texts; len 0: not made */
};

/* Each site's name is made once, when the first line has it. */
struct bbf_flow_lines {
    struct bbf_view *view;
    struct bbf_buf texts;
    struct bbf_flow_name *names; /* by site */
    bool failed;
};

/* The view must outlive it. After BBF_ENOMEM there is nothing to free. */
int bbf_flow_lines_init(struct bbf_flow_lines *lines, struct bbf_view *view);
void bbf_flow_lines_free(struct bbf_flow_lines *lines);

/* The line of a path that ends at `node`, with a line end. */
void bbf_flow_line(struct bbf_buf *out, struct bbf_flow_lines *lines, uint32_t node,
                   uint64_t leak_count);

#endif
