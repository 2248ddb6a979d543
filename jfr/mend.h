/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/mend.h - makes a recording that every reader takes out of a damaged one.
 *
 * Chunks that are whole are copied byte for byte. Of the others all events and constants that are
 * whole are written into a new chunk, and each range of bytes that was lost is reported. Damage
 * inside a value cannot be seen: nothing in the format says what it was.
 *
 * Threads: one at a time.
 */
#ifndef BBF_JFR_MEND_H
#define BBF_JFR_MEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/chunk.h"

struct bbf_jfr_loss {
    uint64_t offset, len; /* in the recording; len 0: nothing is lost, something was set right */
    const char *what;     /* constant text */
};

struct bbf_jfr_mend {
    /* The mended recording, piece by piece; not BBF_OK stops it. */
    int (*put)(void *ctx, const char *data, size_t len);
    void (*report)(void *ctx, const struct bbf_jfr_loss *loss);
    void *ctx;
    /* results */
    uint64_t chunks, chunks_mended; /* written; of them anew */
    uint64_t events;                /* in the chunks that were written anew */
    uint64_t losses, bytes_lost;
};

/* BBF_ENOTFOUND: no chunk was found, and nothing was put; BBF_ENOMEM; or what put() returned. */
int bbf_jfr_repair(const unsigned char *bytes, size_t len, struct bbf_jfr_mend *mend);

/* Where a chunk is. */
struct bbf_jfr_extent {
    uint64_t at, len;
    struct bbf_jfr_header header;
    bool is_whole; /* as the format wants it; copied as it is */
};

/* The first chunk at `from` or behind it. False: there is no more. */
bool bbf_jfr_find_chunk(const unsigned char *bytes, size_t len, uint64_t from,
                        struct bbf_jfr_extent *extent);

#endif
