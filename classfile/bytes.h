/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/bytes.h - big-endian access, and the growing buffer that all files of the rewriter use.
 * Names that begin with cf__ are private to classfile/.
 *
 * Threads: no shared state. Errors: if a buffer cannot grow, it sets `failed` and ignores all later
 * appends, so one check at the end is enough.
 */
#ifndef BBF_CLASSFILE_BYTES_H
#define BBF_CLASSFILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint16_t cf__u2(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t cf__u4(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline int32_t cf__s2(const uint8_t *p)
{
    return (int16_t)cf__u2(p);
}

static inline int32_t cf__s4(const uint8_t *p)
{
    return (int32_t)cf__u4(p);
}

static inline void cf__put2(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

static inline void cf__put4(uint8_t *p, uint32_t value)
{
    cf__put2(p, value >> 16);
    cf__put2(p + 2, value);
}

/* A growing byte buffer. All bytes zero: empty. */
struct cf__out {
    uint8_t *data;
    size_t len, cap;
    bool failed; /* out of memory once: contents incomplete */
};

/* Make room for `more` bytes after data + len and return its address; `len` does not change. NULL:
 * out of memory. */
uint8_t *cf__out_reserve(struct cf__out *out, size_t more);
/* Append. */
void cf__out_put(struct cf__out *out, const void *data, size_t len);
void cf__out_u1(struct cf__out *out, uint32_t value);
void cf__out_u2(struct cf__out *out, uint32_t value);
void cf__out_u4(struct cf__out *out, uint32_t value);
void cf__out_free(struct cf__out *out);

#endif
