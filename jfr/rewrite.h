/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/rewrite.h - writes a chunk anew from parts of another: the events that are whole, on another
 * clock, under other type ids.
 *
 *   header 68 | metadata | events | checkpoints | header set at the end
 *
 * Why: the JDK's reader takes the first chunk's clock for a whole file, and takes a constant from
 * the previous chunk where type id and key are the same. So chunks of another producer get its
 * first chunk's clock and type ids of their own before they are put behind each other.
 *
 * Threads: one owner at a time. Errors: the buffer's `failed`.
 */
#ifndef BBF_JFR_REWRITE_H
#define BBF_JFR_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "jfr/chunk.h"

struct bbf_jfr_rewrite {
    const struct bbf_jfr_chunk *from;
    uint64_t id_shift;                  /* added to every type id but 0 and 1 */
    const struct bbf_jfr_header *clock; /* ticks become this chunk's; NULL: they stay */
    struct bbf_buf out;                 /* the new chunk; the caller frees it */
    uint64_t checkpoint;                /* offset of the last one in `out`; 0: none */
    uint64_t metadata;
    uint64_t events;
    int64_t last_ticks; /* of the events, in the new clock */
};

/* Begin with room for the header and the metadata event at `metadata` (may be another chunk's).
 * `id`: the metadata's, which a reader takes for "the same types as before". BBF_EFORMAT. */
int bbf_jfr_rewrite_begin(struct bbf_jfr_rewrite *rewrite, const struct bbf_jfr_chunk *from,
                          struct bbf_jfr_cursor metadata, uint64_t id);
void bbf_jfr_rewrite_event(struct bbf_jfr_rewrite *rewrite, const struct bbf_jfr_event *event);
/* The checkpoint event at `offset` of the chunk: its first pools that can be read whole. */
void bbf_jfr_rewrite_checkpoint(struct bbf_jfr_rewrite *rewrite, uint64_t offset);
/* Set the header. `start_ns` may differ from the chunk's: JMC drops a chunk that repeats one. */
int bbf_jfr_rewrite_end(struct bbf_jfr_rewrite *rewrite, uint64_t start_ns, bool is_last);

/* Starts of a file's chunks, each once; all zero is empty. Free starts->used.places. */
struct bbf_jfr_starts {
    struct bbf_jfr_keys used;
    uint64_t moved; /* ns by which the last one was moved */
};

/* `ns`, or the next time that no chunk has; *ok false: no memory. */
uint64_t bbf_jfr_unique_start(struct bbf_jfr_starts *starts, uint64_t ns, bool *ok);

/* Does the event end where its fields do? A reader would fail there if not. */
bool bbf_jfr_is_whole(const struct bbf_jfr_event *event);

#endif
