/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/pool.h - one constant pool of a chunk: values of one type, each stored once.
 *
 * A value is its encoded bytes. Its key is a number that the file never uses twice for that type:
 * the JDK's reader takes a key that an earlier chunk had from there, and skips the new value.
 * Key 0 is null.
 *
 * Threads: one owner at a time.
 */
#ifndef BBF_JFR_POOL_H
#define BBF_JFR_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

struct bbf_jfr_constant {
    uint64_t hash;
    size_t at, len; /* in `bytes` */
};

/* All zero is an empty pool. */
struct bbf_jfr_pool {
    struct bbf_buf bytes;
    struct bbf_jfr_constant *constants; /* owned; key = first_key + index + 1 */
    size_t n, room;
    uint32_t *slots; /* owned; open addressing, index + 1; a power of two of them */
    size_t n_slots;
    uint64_t first_key; /* keys that earlier chunks used */
    size_t written;     /* constants that a checkpoint of this chunk has already */
};

void bbf_jfr_pool_free(struct bbf_jfr_pool *pool);
/* The next chunk: no constants, and keys that continue. */
void bbf_jfr_pool_clear(struct bbf_jfr_pool *pool);
/* The key of the value, which is added if it is new; 0 if there is no memory for it. */
uint64_t bbf_jfr_pool_key(struct bbf_jfr_pool *pool, const void *value, size_t len);
/* Constants that no checkpoint has yet. */
static inline size_t bbf_jfr_pool_new(const struct bbf_jfr_pool *pool)
{
    return pool->n - pool->written;
}
/* Write these as `type count { key value }*`, and count them as written. */
void bbf_jfr_pool_put(struct bbf_buf *out, struct bbf_jfr_pool *pool, uint32_t type_id);
/* Bytes that the pool has of the heap. */
size_t bbf_jfr_pool_size(const struct bbf_jfr_pool *pool);

#endif
