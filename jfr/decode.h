/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/decode.h - reads the numbers and the text that jfr/encode.h describes.
 *
 * A cursor never passes its end: a read that would fails, gives 0, and makes the cursor `bad`,
 * which stays. So a caller decodes a whole structure and asks once.
 *
 * Threads: one owner of the cursor at a time. The bytes stay the caller's.
 */
#ifndef BBF_JFR_DECODE_H
#define BBF_JFR_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "jfr/encode.h"

struct bbf_jfr_cursor {
    const unsigned char *at, *end;
    bool bad;
};

static inline struct bbf_jfr_cursor bbf_jfr_cursor(const unsigned char *at, size_t len)
{
    return (struct bbf_jfr_cursor){at, at + len, false};
}

static inline size_t bbf_jfr_left(const struct bbf_jfr_cursor *c)
{
    return (size_t)(c->end - c->at);
}

/* Nothing more can be read. */
static inline void bbf_jfr_spoil(struct bbf_jfr_cursor *c)
{
    c->bad = true;
    c->at = c->end;
}

static inline void bbf_jfr_skip_bytes(struct bbf_jfr_cursor *c, uint64_t len)
{
    if (len > bbf_jfr_left(c))
        bbf_jfr_spoil(c);
    else
        c->at += len;
}

/* The rest of bbf_jfr_get_long(): three bytes or more, or near the end. */
uint64_t bbf_jfr_get_long_slow(struct bbf_jfr_cursor *c);

/* A compressed integer, which may be padded. */
static inline uint64_t bbf_jfr_get_long(struct bbf_jfr_cursor *c)
{
    if (c->at < c->end && c->at[0] < 0x80)
        return *c->at++;
    if (c->end - c->at > 1 && c->at[1] < 0x80) {
        c->at += 2;
        return (uint64_t)c->at[-1] << 7 | (c->at[-2] & 0x7F);
    }
    return bbf_jfr_get_long_slow(c);
}

unsigned bbf_jfr_get_byte(struct bbf_jfr_cursor *c);
float bbf_jfr_get_float(struct bbf_jfr_cursor *c);
double bbf_jfr_get_double(struct bbf_jfr_cursor *c);

/* A count of things that take a byte each at least; more than can be there makes the cursor bad. */
size_t bbf_jfr_get_count(struct bbf_jfr_cursor *c);

/* Text as it is stored. `bytes` is in the recording. */
struct bbf_jfr_text {
    enum bbf_jfr_string encoding;
    bool is_ascii; /* the bytes are the text, and are all below 0x80 */
    union {
        uint64_t key; /* POOLED: of java.lang.String */
        const unsigned char *bytes;
    };
    size_t len; /* bytes; of CHARS also */
};

struct bbf_jfr_text bbf_jfr_get_text(struct bbf_jfr_cursor *c);
/* The same, and the text is not looked at. */
void bbf_jfr_skip_text(struct bbf_jfr_cursor *c);
/* Append it as UTF-8: nothing for NULL and POOLED; lone surrogates and invalid bytes as U+FFFD. */
void bbf_jfr_add_text(struct bbf_buf *out, const struct bbf_jfr_text *text);

/* The number without its fraction, and the nearest end of the range outside of it; 0 for NaN. */
int64_t bbf_jfr_whole(double number);

/* Big-endian numbers of the chunk header. */
uint16_t bbf_jfr_u2(const unsigned char *at);
uint64_t bbf_jfr_u8(const unsigned char *at);

#endif
