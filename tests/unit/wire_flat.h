/* tests/unit/wire_flat.h - the bytes that a socket makes of pieces. */
#ifndef BBF_TESTS_WIRE_FLAT_H
#define BBF_TESTS_WIRE_FLAT_H

#include "wire/btrace/pieces.h"

/* Append. */
static inline void flatten(struct bbf_buf *out, struct bbf_pieces *pieces)
{
    size_t n;
    const struct iovec *all = bbf_pieces_all(pieces, &n);

    for (size_t i = 0; i < n; i++)
        bbf_buf_add(out, all[i].iov_base, all[i].iov_len);
}

#endif
