/*
 * tests/unit/wire_streams.h - commands read from streams of v1, and what is written in pieces
 * compared with what is copied, for the tests of the v1 codec.
 */
#ifndef BBF_TESTS_WIRE_STREAMS_H
#define BBF_TESTS_WIRE_STREAMS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "tests/unit/wire_check.h"
#include "tests/unit/wire_flat.h"
#include "wire/btrace/v1/v1.h"

/* The next command of the stream, from exact copies on the heap: with each piece that it asks for.
 * Returns its length. */
static inline size_t read_command(struct bbf_v1_reader *reader, struct bbf_command *c,
                                  const uint8_t *stream, size_t len)
{
    size_t used, have = 1;
    const char *why = NULL;

    for (;;) {
        uint8_t *copy = malloc(have);
        assert_non_null(copy);
        memcpy(copy, stream, have);
        int err = bbf_v1_decode(reader, c, copy, have, &used, &why);
        free(copy);
        if (err == BBF_OK)
            return used;
        if (err != BBF_EMORE)
            fail_msg("%s: %d %s", where, err, why);
        CHECK(used > have && used <= len && c->block == NULL);
        /* Each byte of a small one; a large one would take quadratic time, as in the server. */
        have = have > 4096 && used < have + have / 8 ? have + have / 8 : used;
        if (have > len)
            have = len;
    }
}

/* Equal, by the bytes that v2 makes of them. */
static inline void check_equal(const struct bbf_command *a, const struct bbf_command *b)
{
    struct bbf_buf one = BBF_BUF_INIT, two = BBF_BUF_INIT;

    CHECK(bbf_command_encode(&one, a, SIZE_MAX) == BBF_OK);
    CHECK(bbf_command_encode(&two, b, SIZE_MAX) == BBF_OK);
    CHECK(one.len == two.len && memcmp(one.data, two.data, one.len) == 0);
    bbf_buf_free(&one);
    bbf_buf_free(&two);
}

static inline void check_read_as_equal(const struct bbf_buf *a, const struct bbf_buf *b)
{
    const struct bbf_buf *streams[] = {a, b};
    struct bbf_command commands[2];

    for (int i = 0; i < 2; i++) {
        struct bbf_v1_reader *reader = bbf_v1_reader_new(&bbf_wire_client_limits);
        assert_non_null(reader);
        CHECK(read_command(reader, &commands[i], (const uint8_t *)streams[i]->data,
                           streams[i]->len) == streams[i]->len);
        bbf_v1_reader_free(reader);
    }
    check_equal(&commands[0], &commands[1]);
    bbf_command_free(&commands[0]);
    bbf_command_free(&commands[1]);
}

/* The pieces, put together, are what bbf_v1_encode() writes, but for the blocks of what is referred
 * to. Returns the bytes that were copied. */
static inline size_t check_pieces(const struct bbf_command *c, bool reset)
{
    struct bbf_buf out = BBF_BUF_INIT, flat = BBF_BUF_INIT;
    static struct bbf_pieces pieces = BBF_PIECES_INIT; /* used again, as a connection does */

    CHECK(bbf_v1_encode(&out, c, reset) == BBF_OK);
    CHECK(bbf_v1_encode_pieces(&pieces, c, reset) == BBF_OK);
    flatten(&flat, &pieces);
    size_t copied = pieces.copied.len;
    CHECK(copied < flat.len || (flat.len == out.len && memcmp(flat.data, out.data, out.len) == 0));
    check_read_as_equal(&flat, &out);
    if (copied > 1 << 16)
        bbf_pieces_free(&pieces);
    bbf_buf_free(&flat);
    bbf_buf_free(&out);
    return copied;
}

#endif
