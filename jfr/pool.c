/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/pool.h"

#include <stdlib.h>
#include <string.h>

#include "jfr/encode.h"

enum { FIRST_ROOM = 64 };

void bbf_jfr_pool_free(struct bbf_jfr_pool *pool)
{
    bbf_buf_free(&pool->bytes);
    free(pool->constants);
    free(pool->slots);
    memset(pool, 0, sizeof(*pool));
}

void bbf_jfr_pool_clear(struct bbf_jfr_pool *pool)
{
    pool->first_key += pool->n;
    pool->n = pool->written = 0;
    pool->bytes.len = 0;
    pool->bytes.failed = false;
    if (pool->slots != NULL)
        memset(pool->slots, 0, pool->n_slots * sizeof(*pool->slots));
}

/* FNV-1a over words, then bytes: short values, and no attacker chooses enough of them to matter
 * (a chunk's size bounds how many there are). */
static uint64_t hash_of(const unsigned char *at, size_t len)
{
    uint64_t hash = 0xCBF29CE484222325u, word;

    for (; len >= sizeof(word); at += sizeof(word), len -= sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }
    while (len-- > 0)
        hash = (hash ^ *at++) * 0x100000001B3u;
    return hash ^ hash >> 29;
}

static void place(struct bbf_jfr_pool *pool, uint64_t hash, size_t index)
{
    size_t slot = hash & (pool->n_slots - 1);

    while (pool->slots[slot] != 0)
        slot = (slot + 1) & (pool->n_slots - 1);
    pool->slots[slot] = (uint32_t)index + 1;
}

static bool grow(struct bbf_jfr_pool *pool)
{
    size_t room = pool->room > 0 ? 2 * pool->room : FIRST_ROOM;
    struct bbf_jfr_constant *constants = realloc(pool->constants, room * sizeof(*constants));
    uint32_t *slots;

    if (constants == NULL)
        return false;
    pool->constants = constants;
    slots = room < UINT32_MAX / 2 ? calloc(2 * room, sizeof(*slots)) : NULL;
    if (slots == NULL)
        return false;
    free(pool->slots);
    pool->slots = slots;
    pool->n_slots = 2 * room;
    pool->room = room;
    for (size_t i = 0; i < pool->n; i++)
        place(pool, constants[i].hash, i);
    return true;
}

static uint64_t add(struct bbf_jfr_pool *pool, uint64_t hash, const void *value, size_t len)
{
    if (pool->n == pool->room && !grow(pool))
        return 0;
    size_t at = pool->bytes.len;
    bbf_buf_add(&pool->bytes, value, len);
    if (pool->bytes.failed)
        return 0;
    pool->constants[pool->n] = (struct bbf_jfr_constant){hash, at, len};
    place(pool, hash, pool->n);
    return pool->first_key + ++pool->n;
}

uint64_t bbf_jfr_pool_key(struct bbf_jfr_pool *pool, const void *value, size_t len)
{
    uint64_t hash = hash_of(value, len);

    if (pool->n_slots > 0) {
        size_t slot = hash & (pool->n_slots - 1);
        for (; pool->slots[slot] != 0; slot = (slot + 1) & (pool->n_slots - 1)) {
            size_t i = pool->slots[slot] - 1;
            const struct bbf_jfr_constant *c = &pool->constants[i];
            if (c->hash == hash && c->len == len &&
                memcmp(pool->bytes.data + c->at, value, len) == 0)
                return pool->first_key + i + 1;
        }
    }
    return add(pool, hash, value, len);
}

void bbf_jfr_pool_put(struct bbf_buf *out, struct bbf_jfr_pool *pool, uint32_t type_id)
{
    bbf_jfr_put_long(out, type_id);
    bbf_jfr_put_long(out, bbf_jfr_pool_new(pool));
    for (; pool->written < pool->n; pool->written++) {
        const struct bbf_jfr_constant *c = &pool->constants[pool->written];
        bbf_jfr_put_long(out, pool->first_key + pool->written + 1);
        bbf_buf_add(out, pool->bytes.data + c->at, c->len);
    }
}

size_t bbf_jfr_pool_size(const struct bbf_jfr_pool *pool)
{
    return pool->bytes.cap + pool->room * sizeof(*pool->constants) +
           pool->n_slots * sizeof(*pool->slots);
}
