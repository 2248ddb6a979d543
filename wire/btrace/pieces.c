/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/btrace/pieces.h"

void bbf_pieces_free(struct bbf_pieces *pieces)
{
    bbf_buf_free(&pieces->copied);
    bbf_buf_free(&pieces->list);
    pieces->listed = 0;
}

/* Append the copied bytes that are not yet in the list. */
static void list_copied(struct bbf_pieces *pieces)
{
    if (pieces->listed == pieces->copied.len)
        return;
    bbf_pieces_list(pieces, NULL, pieces->copied.len - pieces->listed);
    pieces->listed = pieces->copied.len;
}

void bbf_pieces_refer(struct bbf_pieces *pieces, const void *bytes, size_t len)
{
    list_copied(pieces);
    bbf_pieces_list(pieces, bytes, len);
}

bool bbf_pieces_end_many(struct bbf_pieces *pieces)
{
    char *run = pieces->copied.data;
    size_t n;

    list_copied(pieces);
    if (pieces->copied.failed || pieces->list.failed)
        return false;
    struct iovec *all = bbf_pieces_all(pieces, &n);
    for (size_t i = 0; i < n; i++) {
        if (all[i].iov_base != NULL)
            continue;
        all[i].iov_base = run;
        run += all[i].iov_len;
    }
    return true;
}
