/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/encode.h - how a flight recording writes numbers and text (format: docs/jfr.md).
 *
 * A compressed integer is LEB128 with the low end first and at most nine bytes, the ninth of which
 * carries eight bits. Integers narrower than 64 bits are masked to their width before: JMC returns
 * an @Unsigned int as it was read. Floating-point numbers are big-endian and never compressed.
 *
 * Threads: one owner of the buffer at a time. Errors: the buffer's `failed`.
 */
#ifndef BBF_JFR_ENCODE_H
#define BBF_JFR_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

enum {
    BBF_JFR_INTEGER_MAX = 9, /* bytes of a compressed integer */
    BBF_JFR_SIZE_BYTES = 4   /* of an event's size, which is padded so that it can be set last */
};

/* The encoding byte before a string's body. */
enum bbf_jfr_string {
    BBF_JFR_STRING_NULL,
    BBF_JFR_STRING_EMPTY,
    BBF_JFR_STRING_POOLED, /* a key of the pool java.lang.String */
    BBF_JFR_STRING_UTF8,   /* byte length, UTF-8 */
    BBF_JFR_STRING_CHARS,  /* count, UTF-16 code units as compressed integers */
    BBF_JFR_STRING_LATIN1  /* byte length, ISO 8859-1 */
};

void bbf_jfr_put_long(struct bbf_buf *out, uint64_t value);

static inline void bbf_jfr_put_int(struct bbf_buf *out, int32_t value)
{
    bbf_jfr_put_long(out, (uint32_t)value);
}

static inline void bbf_jfr_put_char(struct bbf_buf *out, uint16_t value)
{
    bbf_jfr_put_long(out, value);
}

/* A boolean or a byte. */
static inline void bbf_jfr_put_byte(struct bbf_buf *out, int value)
{
    bbf_buf_char(out, (char)value);
}

void bbf_jfr_put_float(struct bbf_buf *out, float value);
void bbf_jfr_put_double(struct bbf_buf *out, double value);

/*
 * Text in place: encoding and body. `text` NULL is the null string. ASCII is written as UTF-8,
 * other text as UTF-16 code units, as the JVM writes it; bytes that are not UTF-8 become U+FFFD,
 * and the surrogate pairs of Java's modified UTF-8 stay what they are.
 */
void bbf_jfr_put_text(struct bbf_buf *out, const char *text, size_t len);

/* `value` in the four bytes at `at`, padded; value < 2^28. */
void bbf_jfr_set_size(char *at, uint32_t value);

/* Big-endian, as in the chunk header. */
void bbf_jfr_set_u2(char *at, uint16_t value);
void bbf_jfr_set_u8(char *at, uint64_t value);

#endif
