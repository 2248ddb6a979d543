/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/encode.h"

#include <stdbool.h>

void bbf_jfr_put_long(struct bbf_buf *out, uint64_t value)
{
    char *to = bbf_buf_reserve(out, BBF_JFR_INTEGER_MAX);
    size_t n = 0;

    if (to == NULL)
        return;
    while (value >= 0x80 && n < BBF_JFR_INTEGER_MAX - 1) {
        to[n++] = (char)(value | 0x80);
        value >>= 7;
    }
    to[n++] = (char)value;
    out->len += n;
}

static void put_big_endian(struct bbf_buf *out, uint64_t bits, unsigned bytes)
{
    char text[8];

    for (unsigned i = 0; i < bytes; i++)
        text[i] = (char)(bits >> (8 * (bytes - 1 - i)));
    bbf_buf_add(out, text, bytes);
}

void bbf_jfr_put_float(struct bbf_buf *out, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_big_endian(out, bits, sizeof(bits));
}

void bbf_jfr_put_double(struct bbf_buf *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_big_endian(out, bits, sizeof(bits));
}

/* ---- text ---- */

static bool is_continuation(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

/* The character at *at, which moves on; U+FFFD and one byte where it is not UTF-8. Lone surrogates
 * pass: Java's modified UTF-8 has pairs of them. */
static uint32_t next_character(const unsigned char **at, const unsigned char *end)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = *at;
    unsigned len = *p < 0x80   ? 1
                   : *p < 0xC0 ? 0
                   : *p < 0xE0 ? 2
                   : *p < 0xF0 ? 3
                   : *p < 0xF8 ? 4
                               : 0;
    uint32_t character = len == 1 ? *p : len > 1 ? *p & (0x7Fu >> len) : 0;

    *at = p + 1;
    if (len == 0 || (size_t)(end - p) < len)
        return 0xFFFD;
    for (unsigned i = 1; i < len; i++) {
        if (!is_continuation(p[i]))
            return 0xFFFD;
        character = character << 6 | (p[i] & 0x3Fu);
    }
    bool is_java_zero = len == 2 && character == 0;
    if ((character < least[len] && !is_java_zero) || character > 0x10FFFF)
        return 0xFFFD;
    *at = p + len;
    return character;
}

static size_t put_units(struct bbf_buf *out, const unsigned char *at, const unsigned char *end)
{
    size_t n = 0;

    while (at < end) {
        uint32_t c = next_character(&at, end);
        if (c > 0xFFFF) {
            c -= 0x10000;
            n += 2;
            if (out != NULL) {
                bbf_jfr_put_char(out, (uint16_t)(0xD800 + (c >> 10)));
                bbf_jfr_put_char(out, (uint16_t)(0xDC00 + (c & 0x3FF)));
            }
        } else {
            n++;
            if (out != NULL)
                bbf_jfr_put_char(out, (uint16_t)c);
        }
    }
    return n;
}

static bool is_ascii(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] >= 0x80)
            return false;
    }
    return true;
}

void bbf_jfr_put_text(struct bbf_buf *out, const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text;

    if (text == NULL) {
        bbf_jfr_put_byte(out, BBF_JFR_STRING_NULL);
    } else if (len == 0) {
        bbf_jfr_put_byte(out, BBF_JFR_STRING_EMPTY);
    } else if (is_ascii(text, len)) {
        bbf_jfr_put_byte(out, BBF_JFR_STRING_UTF8);
        bbf_jfr_put_long(out, len);
        bbf_buf_add(out, text, len);
    } else {
        bbf_jfr_put_byte(out, BBF_JFR_STRING_CHARS);
        bbf_jfr_put_long(out, put_units(NULL, at, at + len));
        (void)put_units(out, at, at + len);
    }
}

/* ---- in place ---- */

void bbf_jfr_set_size(char *at, uint32_t value)
{
    for (int i = 0; i < BBF_JFR_SIZE_BYTES; i++)
        at[i] = (char)((value >> (7 * i) & 0x7F) | (i < BBF_JFR_SIZE_BYTES - 1 ? 0x80u : 0));
}

void bbf_jfr_set_u2(char *at, uint16_t value)
{
    at[0] = (char)(value >> 8);
    at[1] = (char)value;
}

void bbf_jfr_set_u8(char *at, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        at[i] = (char)(value >> (56 - 8 * i));
}
