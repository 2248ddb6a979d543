/* A session daemon's side of the JUL domain, as bytes, written from the protocol (docs/lttng.md)
 * and not with the codec that is tested. */
#ifndef LTTNG_BYTES_H
#define LTTNG_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LTTNG_BYTES_MAX = 128 * 1024 };

struct lttng_bytes {
    uint8_t at[LTTNG_BYTES_MAX];
    size_t len;
};

static inline void add_number(struct lttng_bytes *b, uint64_t value, size_t size)
{
    for (size_t i = size; i > 0; i--)
        b->at[b->len++] = (uint8_t)(value >> 8 * (i - 1));
}

static inline void add_bytes(struct lttng_bytes *b, const void *bytes, size_t len)
{
    memcpy(b->at + b->len, bytes, len);
    b->len += len;
}

static inline void add_header(struct lttng_bytes *b, bool old, uint64_t size, uint32_t number)
{
    add_number(b, size, 8);
    add_number(b, number, old ? 8 : 4);
    add_number(b, 0, old ? 8 : 4);
}

static inline void add_name(struct lttng_bytes *b, const char *name, size_t size)
{
    memset(b->at + b->len, 0, size);
    memcpy(b->at + b->len, name, strlen(name));
    b->len += size;
}

static inline void add_enable(struct lttng_bytes *b, const char *name, int32_t level, uint32_t type,
                              const char *filter)
{
    size_t size = filter != NULL ? strlen(filter) + 1 : 0;

    add_header(b, false, 268 + size, 2);
    add_number(b, (uint32_t)level, 4);
    add_number(b, type, 4);
    add_name(b, name, 256);
    add_number(b, size, 4);
    if (size > 0)
        add_bytes(b, filter, size);
}

static inline void add_disable(struct lttng_bytes *b, const char *name)
{
    add_header(b, false, 256, 3);
    add_name(b, name, 256);
}

#endif
