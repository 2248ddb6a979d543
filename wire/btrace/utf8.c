/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/btrace/utf8.h"

#include <stdbool.h>
#include <string.h>

/* Length of the character (*good) or malformed piece at text[0]. len >= 1. */
static size_t sequence(const uint8_t *text, size_t len, bool *good)
{
    uint8_t lead = text[0];
    uint8_t low = 0x80, high = 0xBF;

    *good = true;
    if (lead < 0x80)
        return 1;
    *good = false;
    if (lead < 0xC2 || lead > 0xF4)
        return 1;
    size_t want = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    /* The second byte's range excludes overlong forms and code points above U+10FFFF. */
    if (lead == 0xE0)
        low = 0xA0;
    else if (lead == 0xF0)
        low = 0x90;
    else if (lead == 0xF4)
        high = 0x8F;
    for (size_t i = 1; i < want; i++) {
        if (i >= len || text[i] < low || text[i] > high)
            return i;
        low = 0x80;
        high = 0xBF;
    }
    *good = lead != 0xED || text[1] < 0xA0; /* an encoded surrogate is one bad piece, as in Java */
    return want;
}

size_t bbf_utf8_valid(const uint8_t *text, size_t len)
{
    size_t pos = 0;

    while (pos < len) {
        pos += bbf_utf8_ascii(text + pos, len - pos);
        if (pos == len)
            break;
        bool good;
        size_t n = sequence(text + pos, len - pos, &good);
        if (!good)
            break;
        pos += n;
    }
    return pos;
}

size_t bbf_utf8_repair(char *to, const uint8_t *text, size_t len)
{
    size_t out = 0;

    for (size_t pos = 0; pos < len;) {
        bool good;
        size_t n = sequence(text + pos, len - pos, &good);
        if (good) {
            memcpy(to + out, text + pos, n);
            out += n;
        } else {
            memcpy(to + out, "\xEF\xBF\xBD", 3);
            out += 3;
        }
        pos += n;
    }
    return out;
}

size_t bbf_utf8_cut(const char *text, size_t len, size_t max)
{
    if (len <= max)
        return len;
    /* A character has at most three bytes after its first. */
    for (size_t n = max; n > 0 && max - n < 4; n--) {
        if (((uint8_t)text[n] & 0xC0) != 0x80)
            return n;
    }
    return max;
}
