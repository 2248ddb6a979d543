#include "wire/pieces.h"

void bbf_pieces_free(struct bbf_pieces *pieces)
{
    bbf_buf_free(&pieces->copied);
    bbf_buf_free(&pieces->list);
    pieces->listed = 0;
}

bool bbf_pieces_end_many(struct bbf_pieces *pieces)
{
    char *run = pieces->copied.data;
    size_t n;

    bbf_pieces_list_copied(pieces);
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
