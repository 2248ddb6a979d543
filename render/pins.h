/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/pins.h - chunks of Netty's pools that small buffers pin, and the paths of these buffers,
 * in the text renders. Nothing is written for a snapshot that has none.
 *
 * Threads: any; pure. Errors: those of the buffer (sticky). Paths are named by the view's names.
 */
#ifndef BBF_RENDER_PINS_H
#define BBF_RENDER_PINS_H

#include "core/buf.h"
#include "render/view.h"

/* Pinned chunks of one pool and memory, or, summed, of all of one memory. */
struct bbf_pinned {
    uint64_t chunks, bytes, free, by; /* by: how many buffers pin them */
};
/* BBF_MEM_DIRECT or BBF_MEM_HEAP. */
struct bbf_pinned bbf_pins_sum(const struct bbf_snapshot *snapshot, enum bbf_memory memory);

/*
 * why: two lines and more, each behind `indent`: "103 chunks, 412.0 MiB of 520.0 MiB reserved,
 * kept by 118 open buffers; 411.9 MiB of it is free", then at most `most` paths of that memory:
 * "115 of 118 at Http2Outbound.queue, 40 B to 200 B each: 100 chunks, 400.0 MiB".
 */
void bbf_pins_text(struct bbf_buf *out, const struct bbf_view *view, enum bbf_memory memory,
                   const char *indent, size_t most);
/* summary: a section for direct and heap memory. */
void bbf_pins_section(struct bbf_buf *out, const struct bbf_view *view, size_t most);
/* llm: a section of rows. */
void bbf_pins_rows(struct bbf_buf *out, const struct bbf_view *view);

#endif
