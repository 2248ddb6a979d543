/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/btrace/v1/javatext.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "wire/btrace/utf8.h"

/* ---- modified UTF-8 ---- */

static inline void put_utf8(struct bbf_buf *out, uint32_t c)
{
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    char *to = bbf_buf_reserve(out, n); /* no more, because v1_plain.c has room for exactly these */

    if (to == NULL)
        return;
    static const uint8_t lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; --i > 0; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3F));
    to[0] = (char)(lead[n] | c);
    out->len += n;
}

/* One char of Java's (a UTF-16 unit); 0 bytes used: malformed. */
static inline size_t java_char(const uint8_t *p, size_t left, uint32_t *c)
{
    if (p[0] < 0x80) {
        *c = p[0];
        return 1;
    }
    if ((p[0] & 0xE0) == 0xC0 && left >= 2 && (p[1] & 0xC0) == 0x80) {
        *c = (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
        return 2;
    }
    if ((p[0] & 0xF0) == 0xE0 && left >= 3 && (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80) {
        *c = (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
        return 3;
    }
    return 0;
}

bool bbf_java_to_utf8(struct bbf_buf *out, const uint8_t *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        uint32_t c, low;
        size_t n;

        if (text[i] < 0x80) {
            n = bbf_utf8_ascii(text + i, len - i);
            bbf_buf_add(out, text + i, n);
            i += n;
            continue;
        }
        n = java_char(text + i, len - i, &c);
        if (n == 0)
            return false;
        i += n;
        if (c >= 0xD800 && c <= 0xDBFF && i < len &&
            (n = java_char(text + i, len - i, &low)) != 0 && low >= 0xDC00 && low <= 0xDFFF) {
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            i += n;
        } else if (c >= 0xD800 && c <= 0xDFFF) {
            c = '?';
        }
        put_utf8(out, c);
    }
    return true;
}

/* Decode the character at text, U+FFFD for invalid bytes. Returns its length. */
static size_t utf8_char(const uint8_t *p, size_t left, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] < 0x80   ? 1
               : p[0] < 0xC2 ? 0
               : p[0] < 0xE0 ? 2
               : p[0] < 0xF0 ? 3
               : p[0] < 0xF5 ? 4
                             : 0;

    *c = 0xFFFD;
    if (n == 0 || n > left)
        return 1;
    uint32_t value = n == 1 ? p[0] : p[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 1;
        value = value << 6 | (p[i] & 0x3F);
    }
    if (value < least[n] || (value >= 0xD800 && value <= 0xDFFF) || value > 0x10FFFF)
        return 1;
    *c = value;
    return n;
}

/* A UTF-16 unit, never as a single NUL byte. */
static void put_java(struct bbf_buf *out, uint32_t unit)
{
    if (unit == 0) {
        bbf_buf_add(out, "\xC0\x80", 2);
        return;
    }
    put_utf8(out, unit);
}

void bbf_utf8_to_java(struct bbf_buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        uint32_t c;
        i += utf8_char((const uint8_t *)text + i, len - i, &c);
        if (c >= 0x10000) {
            c -= 0x10000;
            put_java(out, 0xD800 + (c >> 10));
            put_java(out, 0xDC00 + (c & 0x3FF));
        } else {
            put_java(out, c);
        }
    }
}

/* ---- numbers ---- */

enum { GROUP = 1000000000, GROUP_DIGITS = 9 };

void bbf_java_bigint(struct bbf_buf *out, int signum, const uint8_t *magnitude, size_t len)
{
    /* 2.41 digits per byte: a group of nine for each 3.7 bytes, rounded up generously. */
    size_t room = len / 3 + 2, groups = 0;
    uint32_t *group = calloc(room, sizeof *group);

    if (group == NULL) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < len; i++) {
        uint64_t carry = magnitude[i];
        for (size_t g = 0; g < groups; g++) {
            carry += (uint64_t)group[g] << 8;
            group[g] = (uint32_t)(carry % GROUP);
            carry /= GROUP;
        }
        if (carry != 0)
            group[groups++] = (uint32_t)carry;
    }
    if (groups == 0)
        bbf_buf_char(out, '0');
    else
        bbf_buf_printf(out, "%s%" PRIu32, signum < 0 ? "-" : "", group[groups - 1]);
    for (size_t g = groups; g-- > 1;)
        bbf_buf_printf(out, "%09" PRIu32, group[g - 1]);
    free(group);
}

void bbf_java_magnitude(struct bbf_buf *out, const char *digits, size_t len)
{
    /* Little-endian; a group of digits adds one at most. */
    uint32_t *words = malloc((len / GROUP_DIGITS + 1) * sizeof *words);
    size_t count = 0;

    if (words == NULL) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < len;) {
        size_t end = len - i < GROUP_DIGITS ? len : i + GROUP_DIGITS;
        uint64_t carry = 0, scale = 1;
        for (; i < end; i++, scale *= 10)
            carry = carry * 10 + (uint64_t)(digits[i] - '0');
        for (size_t w = 0; w < count; w++) {
            carry += scale * words[w];
            words[w] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry != 0)
            words[count++] = (uint32_t)carry;
    }
    size_t bytes = 4 * count;
    while (bytes > 0 && words[(bytes - 1) / 4] >> 8 * ((bytes - 1) % 4) == 0)
        bytes--;
    while (bytes-- > 0)
        bbf_buf_char(out, (char)(words[bytes / 4] >> 8 * (bytes % 4)));
    free(words);
}

void bbf_java_bigdec(struct bbf_buf *out, const char *unscaled, size_t len, int32_t scale)
{
    if (len > 0 && unscaled[0] == '-') {
        bbf_buf_char(out, '-');
        unscaled++;
        len--;
    }
    int64_t exponent = (int64_t)len - 1 - scale;
    if (scale >= 0 && exponent >= -6) {
        size_t point = (size_t)scale; /* digits behind it */
        if (point >= len) {
            bbf_buf_str(out, point > 0 ? "0." : "");
            for (size_t i = len; i < point; i++)
                bbf_buf_char(out, '0');
            bbf_buf_add(out, unscaled, len);
        } else {
            bbf_buf_add(out, unscaled, len - point);
            if (point > 0) {
                bbf_buf_char(out, '.');
                bbf_buf_add(out, unscaled + len - point, point);
            }
        }
        return;
    }
    bbf_buf_add(out, unscaled, len > 0 ? 1 : 0);
    if (len > 1) {
        bbf_buf_char(out, '.');
        bbf_buf_add(out, unscaled + 1, len - 1);
    }
    if (exponent != 0)
        bbf_buf_printf(out, "E%+" PRId64, exponent);
}

bool bbf_java_bigdec_parse(struct bbf_buf *unscaled, int32_t *scale, const char *text, size_t len)
{
    size_t i = 0, digits = 0;
    int64_t behind = 0, exponent = 0;
    bool point = false;

    if (i < len && (text[i] == '-' || text[i] == '+')) {
        if (text[i] == '-')
            bbf_buf_char(unscaled, '-');
        i++;
    }
    for (; i < len && (text[i] == '.' ? !point : text[i] >= '0' && text[i] <= '9'); i++) {
        if (text[i] == '.') {
            point = true;
            continue;
        }
        bbf_buf_char(unscaled, text[i]);
        digits++;
        behind += point;
    }
    if (digits == 0)
        return false;
    if (i < len && (text[i] == 'e' || text[i] == 'E')) {
        bool negative = i + 1 < len && text[i + 1] == '-';
        i += i + 1 < len && (text[i + 1] == '-' || text[i + 1] == '+') ? 2 : 1;
        if (i == len)
            return false;
        for (; i < len && text[i] >= '0' && text[i] <= '9' && exponent <= INT32_MAX; i++)
            exponent = exponent * 10 + (text[i] - '0');
        exponent = negative ? -exponent : exponent;
    }
    behind -= exponent;
    *scale = (int32_t)behind;
    return i == len && behind >= INT32_MIN && behind <= INT32_MAX;
}
