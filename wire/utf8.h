/*
 * wire/utf8.h - UTF-8 as the wire needs it: checked, repaired, cut between characters.
 *
 * Called by: wire/decode.c, wire/reply.c. Threads: any. Pure.
 */
#ifndef BBF_WIRE_UTF8_H
#define BBF_WIRE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest well-formed prefix. */
size_t bbf_utf8_valid(const uint8_t *text, size_t len);

/* Copy with U+FFFD in place of each malformed piece; `to` holds 3 * len bytes. Returns the bytes
 * written. Pieces are those of java.lang.String: Unicode's "maximal subparts" (Unicode 15, 3.9),
 * but an encoded surrogate, or the start of one, is one (compared with JDK 17 on random bytes). */
size_t bbf_utf8_repair(char *to, const uint8_t *text, size_t len);

/* The largest n <= max such that text[0..n) ends between characters; `max` itself when no boundary
 * is near, so that a loop over malformed text still ends. max >= 1. */
size_t bbf_utf8_cut(const char *text, size_t len, size_t max);

#endif
