/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/writer.h - writes a flight recording: chunks, each with a header, the metadata event, events
 * and checkpoints with the constants that the events name.
 *
 *   chunk = header 68 | metadata | (events | checkpoint of what is new)* | header set at the end
 *
 * The writer collects events in memory. A flush hands on the events and one checkpoint, so that
 * all that was flushed can be read after a crash: the output's header then says "being written"
 * (state 1 to 254) with the size so far. Where the output cannot be changed afterwards
 * (`patch` NULL) a chunk is handed on whole.
 *
 * Time is in nanoseconds (1e9 ticks a second) with one origin for the file, since the JDK's reader
 * uses the first chunk's clock for all of them. Each chunk's start differs, since JMC drops a chunk
 * that repeats one.
 *
 * Threads: one owner at a time. Errors are sticky: after one every call does nothing, and
 * bbf_jfr_writer_error() has the first.
 */
#ifndef BBF_JFR_WRITER_H
#define BBF_JFR_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "jfr/chunk.h"
#include "jfr/encode.h"
#include "jfr/pool.h"
#include "jfr/schema.h"

enum {
    BBF_JFR_CHUNK_BYTES = 12 << 20, /* default size at which a new chunk begins */
    BBF_JFR_EVENT_MAX = 1 << 27     /* bytes; an event's size has 28 bits */
};

/* Where the recording goes. Both return 0 or BBF_E…; `at` counts from the recording's first byte.
 */
struct bbf_jfr_output {
    int (*append)(void *ctx, const char *data, size_t len);
    int (*patch)(void *ctx, uint64_t at, const char *data, size_t len); /* may be NULL */
    void *ctx;
};

struct bbf_jfr_config {
    struct bbf_jfr_schema schema; /* its tables stay the caller's, and longer than the writer */
    struct bbf_jfr_output output;
    size_t chunk_bytes;   /* 0: BBF_JFR_CHUNK_BYTES */
    uint64_t start_ns;    /* wall clock, since the epoch, at start_ticks */
    uint64_t start_ticks; /* the clock of the events' times, ns */
};

/* The writer's own; declared here for the sake of its size. */
struct bbf_jfr_writer {
    struct bbf_jfr_config config;
    struct bbf_buf pending; /* of the chunk, not handed on yet */
    struct bbf_buf scratch; /* a constant being encoded */
    struct bbf_jfr_pool pools[BBF_JFR_ANNOTATIONS];
    /* Frames' methods as their callers name them, and the keys of those: one look-up for a frame
     * instead of five. Of the chunk. */
    struct bbf_jfr_pool names;
    uint64_t *methods; /* owned; by key in `names`, less 1; as many as there is room */
    size_t methods_room;
    uint64_t file_bytes;  /* handed on before this chunk */
    uint64_t chunk_bytes; /* of this chunk handed on */
    uint64_t checkpoint;  /* offset of the chunk's last checkpoint; 0: none */
    uint64_t begin_ticks, last_ticks, last_start_ns;
    size_t event; /* where in `pending` the open event begins */
    uint64_t events, chunks;
    unsigned generation;
    bool is_open; /* a chunk is */
    int err;
};

/* A method that was on a path. `line` < 0: unknown. Class names with dots or slashes. */
struct bbf_jfr_frame {
    const char *class_name, *method, *descriptor; /* descriptor "": unknown, "()V" is written */
    int line, bytecode_index;
};

/* BBF_ENOMEM; BBF_EINVAL: the schema names a type that is not there. Nothing is written yet. */
int bbf_jfr_writer_init(struct bbf_jfr_writer *writer, const struct bbf_jfr_config *config);
/* Give the memory back; what was not finished is not written. */
void bbf_jfr_writer_free(struct bbf_jfr_writer *writer);
int bbf_jfr_writer_error(const struct bbf_jfr_writer *writer);

/* Begin a chunk at `ticks`, unless one is open. Otherwise the first event does, with its time. */
void bbf_jfr_begin_chunk(struct bbf_jfr_writer *writer, uint64_t ticks);
/*
 * Begin an event of the schema's type `index` that starts at `ticks`; the caller then puts the
 * other fields in their order (jfr/encode.h, the keys below) into the returned buffer and ends it.
 * Keys are of the open chunk: get them between begin and end, or after bbf_jfr_begin_chunk().
 * Never NULL.
 */
struct bbf_buf *bbf_jfr_begin(struct bbf_jfr_writer *writer, size_t index, uint64_t ticks);
void bbf_jfr_end(struct bbf_jfr_writer *writer);

/* Keys of constants, for fields that are pooled; 0: null. */
uint64_t bbf_jfr_symbol(struct bbf_jfr_writer *writer, const char *text, size_t len);
uint64_t bbf_jfr_class(struct bbf_jfr_writer *writer, const char *name);
uint64_t bbf_jfr_stack(struct bbf_jfr_writer *writer, const struct bbf_jfr_frame *frames, size_t n,
                       bool truncated); /* leaf first; n = 0: null */
/* `java_id` 0: not a Java thread. */
uint64_t bbf_jfr_thread(struct bbf_jfr_writer *writer, const char *name, uint64_t os_id,
                        uint64_t java_id, bool is_virtual);
/* A string field: pooled where it has 16 to 128 bytes, in place otherwise. NULL: null. */
void bbf_jfr_text(struct bbf_jfr_writer *writer, const char *text);

/* Hand on what there is, with a checkpoint; needs `patch` (else nothing happens). No open event. */
int bbf_jfr_flush(struct bbf_jfr_writer *writer, uint64_t ticks);
/* End the chunk, if one is open; the next event begins another. `is_last`: the recording's. */
int bbf_jfr_finish_chunk(struct bbf_jfr_writer *writer, uint64_t ticks, bool is_last);
/* End the recording: it has one chunk at least. */
int bbf_jfr_finish(struct bbf_jfr_writer *writer, uint64_t ticks);

/* Bytes that the output has, and those that wait for a flush. */
uint64_t bbf_jfr_written(const struct bbf_jfr_writer *writer);
size_t bbf_jfr_pending(const struct bbf_jfr_writer *writer);
/*
 * The open chunk is given up, with the error there may be, and the next event begins a chunk at
 * `at` of the output: another file (at 0), after a bbf_jfr_finish(); or behind what an output that
 * failed has kept. Keys continue, so that files of one writer can be joined by putting them
 * together.
 */
void bbf_jfr_continue(struct bbf_jfr_writer *writer, uint64_t at);

#endif
