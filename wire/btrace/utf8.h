/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/utf8.h - UTF-8 as the wire needs it: checked, repaired, cut between characters.
 *
 * Threads: any. Pure.
 */
#ifndef BBF_WIRE_BTRACE_UTF8_H
#define BBF_WIRE_BTRACE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Length of the longest ASCII prefix. Eight bytes at a time, because nearly all text is ASCII. */
static inline size_t bbf_utf8_ascii(const uint8_t *text, size_t len)
{
    uint64_t eight;
    size_t pos = 0;

    for (; len - pos >= sizeof eight; pos += sizeof eight) {
        memcpy(&eight, text + pos, sizeof eight);
        if ((eight & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    while (pos < len && text[pos] < 0x80)
        pos++;
    return pos;
}

/* Copy a text of 1 to 7 bytes. Returns its bytes, in any order and repeated to fill the word. Most
 * names and numbers are this short, and memcpy() would be a call. */
static inline uint64_t bbf_utf8_copy_short(void *to, const void *from, size_t len)
{
    uint8_t *out = to;
    const uint8_t *in = from;

    if (len >= 4) {
        uint32_t first, last;
        memcpy(&first, in, 4);
        memcpy(&last, in + len - 4, 4);
        memcpy(out, &first, 4);
        memcpy(out + len - 4, &last, 4);
        return (uint64_t)first << 32 | last;
    }
    uint64_t start = in[0], middle = in[len / 2], last = in[len - 1];
    out[0] = (uint8_t)start;
    out[len / 2] = (uint8_t)middle;
    out[len - 1] = (uint8_t)last;
    start |= middle << 8 | last << 16 | start << 24;
    return start | start << 32;
}

/* Are all bytes below 0x80? The last eight are tested together, even if some of them were tested
 * before. */
static inline bool bbf_utf8_is_ascii(const uint8_t *text, size_t len)
{
    uint64_t eight, next, all = 0;
    size_t pos = 0;

    if (len < sizeof eight)
        return bbf_utf8_ascii(text, len) == len;
    /* Eight per round are up to a third slower, depending on the loop's alignment. */
    for (; len - pos > 2 * sizeof eight; pos += 2 * sizeof eight) {
        memcpy(&eight, text + pos, sizeof eight);
        memcpy(&next, text + pos + sizeof eight, sizeof next);
        all |= eight | next;
    }
    if (len - pos > sizeof eight) {
        memcpy(&eight, text + pos, sizeof eight);
        all |= eight;
    }
    memcpy(&eight, text + len - sizeof eight, sizeof eight);
    return ((all | eight) & UINT64_C(0x8080808080808080)) == 0;
}

/* Length of the longest well-formed prefix. */
size_t bbf_utf8_valid(const uint8_t *text, size_t len);

/* Copy with U+FFFD in place of each malformed piece; `to` has room for 3 * len bytes. Returns the
 * number of bytes written. Pieces are those of java.lang.String: Unicode's "maximal subparts"
 * (Unicode 15, 3.9), but an encoded surrogate, or the start of one, is one (compared with JDK 17 on
 * random bytes). */
size_t bbf_utf8_repair(char *to, const uint8_t *text, size_t len);

/* The largest n <= max such that text[0..n) ends between characters; `max` itself if no boundary is
 * near, so that a loop over malformed text still ends. max >= 1. */
size_t bbf_utf8_cut(const char *text, size_t len, size_t max);

#endif
