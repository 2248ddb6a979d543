/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/decode.h"

#include <endian.h>
#include <string.h>

#include "core/safe.h"

/* The seven bits of each byte next to each other. */
static uint64_t squeeze(uint64_t word)
{
    word = (word & UINT64_C(0x007F007F007F007F)) | (word & UINT64_C(0x7F007F007F007F00)) >> 1;
    word = (word & UINT64_C(0x00003FFF00003FFF)) | (word & UINT64_C(0x3FFF00003FFF0000)) >> 2;
    return (word & UINT64_C(0x000000000FFFFFFF)) | (word & UINT64_C(0x0FFFFFFF00000000)) >> 4;
}

static uint64_t get_long_near_end(struct bbf_jfr_cursor *c)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < BBF_JFR_INTEGER_MAX; i++) {
        if (c->at == c->end)
            break;
        uint64_t byte = *c->at++;
        bool is_last = i == BBF_JFR_INTEGER_MAX - 1;
        value |= (is_last ? byte : byte & 0x7F) << (7 * i);
        if (is_last || byte < 0x80)
            return value;
    }
    bbf_jfr_spoil(c);
    return 0;
}

uint64_t bbf_jfr_get_long_slow(struct bbf_jfr_cursor *c)
{
    uint64_t word;

    if (bbf_jfr_left(c) < BBF_JFR_INTEGER_MAX)
        return get_long_near_end(c);
    memcpy(&word, c->at, sizeof word);
    word = le64toh(word);
    uint64_t ends = ~word & UINT64_C(0x8080808080808080);
    if (ends == 0) { /* the ninth byte has eight bits */
        c->at += BBF_JFR_INTEGER_MAX;
        return squeeze(word) | (uint64_t)c->at[-1] << 56;
    }
    uint64_t last = ends & -ends; /* the highest bit of the last byte */
    c->at += __builtin_ctzll(last) / 8 + 1;
    return squeeze(word & (last | (last - 1)));
}

unsigned bbf_jfr_get_byte(struct bbf_jfr_cursor *c)
{
    if (c->at == c->end) {
        bbf_jfr_spoil(c);
        return 0;
    }
    return *c->at++;
}

static uint64_t get_big_endian(struct bbf_jfr_cursor *c, unsigned bytes)
{
    uint64_t value = 0;

    if (bbf_jfr_left(c) < bytes) {
        bbf_jfr_spoil(c);
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | *c->at++;
    return value;
}

float bbf_jfr_get_float(struct bbf_jfr_cursor *c)
{
    uint32_t bits = (uint32_t)get_big_endian(c, sizeof(bits));
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

double bbf_jfr_get_double(struct bbf_jfr_cursor *c)
{
    uint64_t bits = get_big_endian(c, sizeof(bits));
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

size_t bbf_jfr_get_count(struct bbf_jfr_cursor *c)
{
    uint64_t count = bbf_jfr_get_long(c);

    if (count > bbf_jfr_left(c)) {
        bbf_jfr_spoil(c);
        return 0;
    }
    return (size_t)count;
}

/* Almost all text is; it is then the same in each encoding but for its length. */
static bool is_ascii(const unsigned char *at, size_t len)
{
    uint64_t word, seen = 0;

    for (; len >= sizeof word; at += sizeof word, len -= sizeof word) {
        memcpy(&word, at, sizeof word);
        seen |= word;
    }
    for (; len > 0; len--)
        seen |= *at++;
    return (seen & UINT64_C(0x8080808080808080)) == 0;
}

struct bbf_jfr_text bbf_jfr_get_text(struct bbf_jfr_cursor *c)
{
    struct bbf_jfr_text text = {.encoding = (enum bbf_jfr_string)bbf_jfr_get_byte(c),
                                .bytes = c->at};

    switch (text.encoding) {
    case BBF_JFR_STRING_NULL:
    case BBF_JFR_STRING_EMPTY:
        break;
    case BBF_JFR_STRING_POOLED:
        text.key = bbf_jfr_get_long(c);
        break;
    case BBF_JFR_STRING_UTF8:
    case BBF_JFR_STRING_LATIN1:
        text.len = bbf_jfr_get_count(c);
        text.bytes = c->at;
        bbf_jfr_skip_bytes(c, text.len);
        text.is_ascii = !c->bad && is_ascii(text.bytes, text.len);
        break;
    case BBF_JFR_STRING_CHARS: {
        size_t n = bbf_jfr_get_count(c);
        text.bytes = c->at;
        if (n <= bbf_jfr_left(c) && is_ascii(c->at, n)) {
            c->at += n;
            n = 0;
            text.is_ascii = true;
        }
        while (n-- > 0 && !c->bad)
            (void)bbf_jfr_get_long(c);
        text.len = (size_t)(c->at - text.bytes);
        break;
    }
    default:
        bbf_jfr_spoil(c);
    }
    if (c->bad)
        text = (struct bbf_jfr_text){.encoding = BBF_JFR_STRING_NULL, .bytes = c->at};
    return text;
}

void bbf_jfr_skip_text(struct bbf_jfr_cursor *c)
{
    unsigned encoding = c->at < c->end ? *c->at : BBF_JFR_STRING_CHARS;

    if (encoding == BBF_JFR_STRING_UTF8 || encoding == BBF_JFR_STRING_LATIN1) {
        c->at++;
        bbf_jfr_skip_bytes(c, bbf_jfr_get_count(c));
    } else {
        (void)bbf_jfr_get_text(c);
    }
}

/* ---- to UTF-8 ---- */

static void add_character(struct bbf_buf *out, uint32_t c)
{
    char bytes[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3F));
    bytes[0] = (char)(n == 1 ? c : (0xF00u >> n & 0xF0) | c);
    bbf_buf_add(out, bytes, n);
}

static bool is_surrogate(uint32_t unit, uint32_t first)
{
    return (unit & 0xFC00) == first;
}

static void add_units(struct bbf_buf *out, const struct bbf_jfr_text *text)
{
    struct bbf_jfr_cursor c = bbf_jfr_cursor(text->bytes, text->len);

    while (c.at < c.end) {
        uint32_t unit = (uint16_t)bbf_jfr_get_long(&c);
        struct bbf_jfr_cursor next = c;
        uint32_t low =
            is_surrogate(unit, 0xD800) && c.at < c.end ? (uint16_t)bbf_jfr_get_long(&next) : 0;
        if (is_surrogate(low, 0xDC00)) {
            add_character(out, 0x10000 + ((unit & 0x3FF) << 10) + (low & 0x3FF));
            c = next;
        } else {
            add_character(out,
                          is_surrogate(unit, 0xD800) || is_surrogate(unit, 0xDC00) ? 0xFFFD : unit);
        }
    }
}

/* The half of a surrogate pair that the JVM wrote as three bytes (modified UTF-8); 0: none. */
static uint32_t half_at(const char *at, const char *end, uint32_t first)
{
    if (end - at < 3 || (unsigned char)at[0] != 0xED || ((unsigned char)at[2] & 0xC0) != 0x80)
        return 0;
    uint32_t unit = 0xD000u | ((unsigned char)at[1] & 0x3Fu) << 6 | ((unsigned char)at[2] & 0x3Fu);
    return is_surrogate(unit, first) ? unit : 0;
}

/* Bytes that are not UTF-8 become U+FFFD; the others are as they were, and pairs one character. */
static void add_utf8(struct bbf_buf *out, const char *at, const char *end)
{
    while (at < end) {
        uint32_t code, high = half_at(at, end, 0xD800);
        uint32_t low = high != 0 ? half_at(at + 3, end, 0xDC00) : 0;
        size_t n = low != 0 ? 6 : bbf_utf8_next(at, end, &code);
        if (low != 0)
            add_character(out, 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF));
        else if (code == BBF_UTF8_BAD && n == 1)
            add_character(out, code);
        else
            bbf_buf_add(out, at, n);
        at += n;
    }
}

void bbf_jfr_add_text(struct bbf_buf *out, const struct bbf_jfr_text *text)
{
    if (text->is_ascii) {
        bbf_buf_add(out, text->bytes, text->len);
        return;
    }
    switch (text->encoding) {
    case BBF_JFR_STRING_UTF8:
        add_utf8(out, (const char *)text->bytes, (const char *)text->bytes + text->len);
        break;
    case BBF_JFR_STRING_CHARS:
        add_units(out, text);
        break;
    case BBF_JFR_STRING_LATIN1:
        for (size_t i = 0; i < text->len; i++)
            add_character(out, text->bytes[i]);
        break;
    case BBF_JFR_STRING_NULL:
    case BBF_JFR_STRING_EMPTY:
    case BBF_JFR_STRING_POOLED:
        break;
    }
}

int64_t bbf_jfr_whole(double number)
{
    if (number != number)
        return 0;
    if (number >= 0x1p63)
        return INT64_MAX;
    return number <= -0x1p63 ? INT64_MIN : (int64_t)number;
}

uint16_t bbf_jfr_u2(const unsigned char *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

uint64_t bbf_jfr_u8(const unsigned char *at)
{
    uint64_t value = 0;

    for (int i = 0; i < 8; i++)
        value = value << 8 | at[i];
    return value;
}
