/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/pieces.h - bytes to send from several places: short runs are copied, long ones stay
 * where they are, and a socket gathers both (sendmsg).
 *
 *   79 77 05 03 00 00 10 00 7A 00 00 10 00 | code[0..4096) | 77 04 00 00 00 00
 *   copied                                   referred to     copied
 *
 * Invariant: the copied bytes may move while the buffer grows, so their runs have no address in the
 * list before bbf_pieces_end(); the first `listed` bytes are in the list.
 *
 * Threads: one owner. Units: bytes.
 */
#ifndef BBF_WIRE_BTRACE_PIECES_H
#define BBF_WIRE_BTRACE_PIECES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/buf.h"

struct bbf_pieces {
    struct bbf_buf copied; /* the copied runs, one after the other; callers append to it */
    struct bbf_buf list;   /* of struct iovec, in the order of the stream */
    size_t listed;
};

#define BBF_PIECES_INIT                                                                            \
    {                                                                                              \
        BBF_BUF_INIT, BBF_BUF_INIT, 0                                                              \
    }

/* Free the memory; empty and usable again, even after a failure. */
void bbf_pieces_free(struct bbf_pieces *pieces);

/* Empty; the memory is kept. */
static inline void bbf_pieces_clear(struct bbf_pieces *pieces)
{
    pieces->copied.len = pieces->list.len = pieces->listed = 0;
}

/* Append these bytes to the list; NULL if bbf_pieces_end_many() sets their address later. Only for
 * this file and pieces.c. Fails as core/buf.h. */
static inline void bbf_pieces_list(struct bbf_pieces *pieces, const void *bytes, size_t len)
{
    struct iovec *to = (struct iovec *)(void *)bbf_buf_reserve(&pieces->list, sizeof *to);

    if (to == NULL)
        return;
    *to = (struct iovec){(void *)(uintptr_t)bytes, len};
    pieces->list.len += sizeof *to;
}

/* Append bytes that the caller owns and keeps unchanged until all is sent. Fails as core/buf.h. */
void bbf_pieces_refer(struct bbf_pieces *pieces, const void *bytes, size_t len);

/* The slow path of bbf_pieces_end(), if any bytes are referred to. */
bool bbf_pieces_end_many(struct bbf_pieces *pieces);
/* Finish: every run in the list gets its address. False: out of memory. */
static inline bool bbf_pieces_end(struct bbf_pieces *pieces)
{
    if (pieces->list.len > 0)
        return bbf_pieces_end_many(pieces);
    pieces->listed = pieces->copied.len;
    bbf_pieces_list(pieces, pieces->copied.data, pieces->listed);
    return !pieces->copied.failed && !pieces->list.failed;
}

/* After bbf_pieces_end(): the list, which a sender may use up, and its length. */
static inline struct iovec *bbf_pieces_all(struct bbf_pieces *pieces, size_t *n)
{
    *n = pieces->list.len / sizeof(struct iovec);
    return (struct iovec *)(void *)pieces->list.data;
}

#endif
