/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/owned.c - the lives that Netty's own counters still include: open ones and those that were
 * collected unreleased, by pool and memory. No reset changes these numbers, because none changes
 * Netty's counters.
 */
#include "trie/owned.h"

#include "trie/model.h"
#include "trie/node.h"
#include "trie/windows.h"

/* The largest size class of the default chunk, 4 MiB; larger sizes are not rounded. */
enum { LARGEST_CLASS = 4 << 20 };

/*
 * Netty's size classes since 4.1.52, io.netty.buffer.SizeClasses: multiples of 16 up to 128, then
 * four for each doubling, up to the chunk. Earlier versions of Netty do not publish their bytes in
 * use.
 */
static uint64_t size_class(uint64_t bytes)
{
    uint64_t step = 16;
    if (bytes > LARGEST_CLASS)
        return bytes;
    if (bytes > 128)
        step = UINT64_C(1) << (63 - __builtin_clzll(bytes - 1) - 2);
    return bytes == 0 ? step : (bytes + step - 1) / step * step;
}

static struct bbf_owned *owned_of(const struct bbf_tracker *t, struct bbf_owned_table *table,
                                  uint64_t refs, enum bbf_pool *pool)
{
    uint32_t class_id = (uint32_t)(refs >> BBF_L_CLASS_SHIFT) & BBF_L_CLASS_MASK;
    uint32_t memory = (uint32_t)(refs >> BBF_L_MEM_SHIFT) & BBF_L_MEM_KIND;
    uint8_t number = atomic_load_explicit(&t->pool_of[class_id], memory_order_relaxed);
    if (number == 0 || memory > BBF_MEM_HEAP)
        return NULL;
    *pool = (enum bbf_pool)(number - 1);
    return &table->at[*pool][memory];
}

static void add(const struct bbf_tracker *t, struct bbf_owned_table *table, uint64_t refs,
                uint32_t bytes)
{
    enum bbf_pool pool;
    struct bbf_owned *to = owned_of(t, table, refs, &pool);
    if (to == NULL)
        return;
    to->lives++;
    to->bytes += bytes;
    to->rounded += pool == BBF_POOL_POOLED ? size_class(bytes) : bytes;
}

void bbf_owned_class(struct bbf_tracker *t, uint32_t class_id, enum bbf_pool pool)
{
    if (class_id != 0 && class_id < BBF_MAX_CLASSES)
        atomic_store_explicit(&t->pool_of[class_id], (uint8_t)(pool + 1), memory_order_relaxed);
}

void bbf_owned_lost(struct bbf_tracker *t, uint64_t refs, uint32_t bytes)
{
    add(t, &t->lost, refs, bytes);
}

/* Read the words of an open life. False if it is not open, or ended during the read. */
static bool read_life(const struct bbf_tracker *t, uint32_t r, uint64_t *refs, uint32_t *bytes)
{
    const struct bbf_record *record = bbf_record_at(t, r);
    uint64_t life = atomic_load_explicit(&record->life, memory_order_acquire);
    uint32_t g = BBF_GENERATION(life);
    if ((life & BBF_L_STATE) != BBF_L_OPEN)
        return false;
    *refs = atomic_load_explicit(&record->refs, memory_order_relaxed);
    uint64_t size = atomic_load_explicit(&record->size, memory_order_acquire);
    uint64_t again = atomic_load_explicit(&record->life, memory_order_relaxed);
    *bytes = BBF_GENERATION(size) == g ? BBF_LOW(size) : 0;
    return BBF_GENERATION(again) == g && (again & BBF_L_STATE) == BBF_L_OPEN &&
           BBF_GENERATION(*refs) == g;
}

void bbf_owned_sum(const struct bbf_tracker *t, struct bbf_owned_table *out)
{
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire), bytes;
    uint64_t refs;
    *out = t->lost;
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        if (read_life(t, r, &refs, &bytes))
            add(t, out, refs, bytes);
}

uint32_t bbf_owned_next(const struct bbf_tracker *t, uint32_t from, struct bbf_owned_life *life)
{
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    struct bbf_owned_table unused;
    uint64_t refs;
    for (uint32_t r = from < BBF_L_FIRST_RECORD ? BBF_L_FIRST_RECORD : from; r < end; r++) {
        const struct bbf_record *record = bbf_record_at(t, r);
        life->weak = atomic_load_explicit(&record->jweak, memory_order_relaxed);
        if (life->weak <= BBF_STILL_STRONG || !read_life(t, r, &refs, &life->bytes) ||
            owned_of(t, &unused, refs, &life->pool) == NULL)
            continue;
        life->generation = BBF_GENERATION(refs);
        life->memory = (enum bbf_memory)(refs >> BBF_L_MEM_SHIFT & BBF_L_MEM_KIND);
        uint64_t word = atomic_load_explicit(&record->life, memory_order_acquire);
        uint64_t path = atomic_load_explicit(&record->path, memory_order_acquire);
        life->node = bbf_windows_charged(t, word, bbf_node_charged(t, path, life->generation));
        return r;
    }
    return 0;
}

bool bbf_owned_is_open(const struct bbf_tracker *t, uint32_t r, const struct bbf_owned_life *life)
{
    uint64_t now = atomic_load_explicit(&bbf_record_at(t, r)->life, memory_order_acquire);
    return BBF_GENERATION(now) == life->generation && (now & BBF_L_STATE) == BBF_L_OPEN;
}
