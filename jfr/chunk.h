/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/chunk.h - one chunk of a recording: header, types, constants, events in the file's order.
 *
 * Threads: one thread reads a chunk. The bytes are the caller's and stay until it is closed.
 */
#ifndef BBF_JFR_CHUNK_H
#define BBF_JFR_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/constants.h"
#include "jfr/decode.h"
#include "jfr/types.h"

enum { BBF_JFR_HEADER_BYTES = 68 };

struct bbf_jfr_header {
    unsigned major, minor;
    uint64_t size;       /* bytes, header included */
    uint64_t checkpoint; /* offset of the last one */
    uint64_t metadata;   /* offset of the metadata event */
    uint64_t start_ns;   /* since the epoch */
    uint64_t duration_ns;
    uint64_t start_ticks, ticks_per_second;
    unsigned state; /* 0: finished; 255: being changed; otherwise being written */
    bool is_compressed, is_last;
};

/* False: too short, or no magic number. Nothing else is checked. */
bool bbf_jfr_header_read(const unsigned char *bytes, size_t len, struct bbf_jfr_header *to);

/* BBF_JFR_HEADER_BYTES at `to`. */
void bbf_jfr_header_write(const struct bbf_jfr_header *header, char *to);

/* Hears of damage that a reader could read past. `offset`: in the chunk. `what` is constant text.
 */
struct bbf_jfr_problems {
    void (*report)(void *ctx, uint64_t offset, const char *what);
    void *ctx;
};

struct bbf_jfr_chunk {
    const unsigned char *bytes;
    size_t len;
    struct bbf_jfr_header header;
    struct bbf_jfr_metadata metadata;
    struct bbf_jfr_constants constants;
    const struct bbf_jfr_type *string_type;
};

struct bbf_jfr_event {
    uint64_t offset; /* in the chunk */
    uint64_t size, type_id;
    const struct bbf_jfr_type *type; /* NULL: the chunk does not declare it (0 and 1 neither) */
    struct bbf_jfr_cursor fields;
};

/*
 * Read the types, and with `constants` the pools, of a chunk of `len` bytes whose header was read.
 * A broken chain of checkpoints is reported, and those that a walk over the events finds are taken.
 * BBF_EFORMAT: no metadata (reported); BBF_ENOMEM.
 */
int bbf_jfr_chunk_open(struct bbf_jfr_chunk *chunk, const unsigned char *bytes, size_t len,
                       const struct bbf_jfr_header *header, bool constants,
                       const struct bbf_jfr_problems *problems);
void bbf_jfr_chunk_close(struct bbf_jfr_chunk *chunk);

/*
 * The event at *offset, which moves to the next; begin with BBF_JFR_HEADER_BYTES. False: the end of
 * the chunk, or no event is there (*offset is then below chunk->len).
 */
bool bbf_jfr_next_event(const struct bbf_jfr_chunk *chunk, uint64_t *offset,
                        struct bbf_jfr_event *event);

/* Ticks of this chunk as nanoseconds since the epoch, and as a duration. */
int64_t bbf_jfr_time_ns(const struct bbf_jfr_chunk *chunk, int64_t ticks);
int64_t bbf_jfr_duration_ns(const struct bbf_jfr_chunk *chunk, int64_t ticks);

#endif
