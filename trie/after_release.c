/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/after_release.h"

#include "trie/ended.h"
#include "trie/fault.h"
#include "trie/model.h"
#include "trie/section.h"
#include "trie/site.h"

enum { PROBES = 16, CLASS_SHIFT = 16, NODE_SHIFT = 32, LOW_16 = 0xffff };

static uint32_t hash(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 56);
}

/* The key's row, or a free one that becomes it; NULL: neither is near its place. */
static struct bbf_after_row *row_of(struct bbf_after_table *table, uint64_t key)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        struct bbf_after_row *row = &table->rows[(hash(key) + i) % BBF_AFTER_ROWS];
        uint64_t is = atomic_load_explicit(&row->key, memory_order_relaxed);
        /* Relaxed: a key says all, and no other word is read because of it. */
        if (is == 0 && atomic_compare_exchange_strong_explicit(
                           &row->key, &is, key, memory_order_relaxed, memory_order_relaxed))
            return row;
        if (is == key)
            return row;
    }
    return NULL;
}

/* May this thread search now? */
static bool may_search(struct bbf_tracker *t)
{
    uint64_t now = atomic_load_explicit(bbf_shared_int(t, BBF_L_SHARED_NOW), memory_order_relaxed);
    _Atomic uint64_t *searches = &t->after.searches;
    uint64_t was = atomic_load_explicit(searches, memory_order_relaxed), is;
    do {
        is = was >> 32 == now ? was : now << 32;
        if (BBF_LOW(is) >= BBF_AFTER_SEARCHES)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(searches, &was, is + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

/* Where it was released; 0: not known, or a reset took that node. */
static uint32_t place_of(struct bbf_tracker *t, uint64_t handle, uint32_t *tid)
{
    uint32_t node = 0, arena = atomic_load(&t->next_node) >> BBF_L_ARENA_SHIFT;
    *tid = 0;
    if (!bbf_life_find_closed(t, handle, &node, tid) &&
        (!may_search(t) || !bbf_life_find_ended(t, handle, &node, tid)))
        return 0;
    return node == BBF_L_NODE_RACED || node >> BBF_L_ARENA_SHIFT == arena ? node : 0;
}

void bbf_after_release_add(struct bbf_tracker *t, uint64_t handle, uint32_t site,
                           uint32_t class_number, uint64_t tid)
{
    const struct bbf_site *at = bbf_site_get(t, site);
    uint32_t by;
    if (at == NULL || at->internal)
        return;
    if (!bbf_section_enter()) {
        bbf_tracker_fault(t);
        return;
    }
    uint64_t node = place_of(t, handle, &by);
    uint64_t key = node << NODE_SHIFT | (uint64_t)class_number << CLASS_SHIFT | site;
    /* Acquire: with reset(), so that the table is empty. */
    uint32_t current = atomic_load_explicit(&t->after.current, memory_order_acquire);
    struct bbf_after_table *table = &t->after.table[current];
    struct bbf_after_row *row = row_of(table, key);
    if (row != NULL) {
        uint64_t threads = 0;
        atomic_fetch_add_explicit(&row->count, 1, memory_order_relaxed);
        if (atomic_load_explicit(&row->threads, memory_order_relaxed) == 0)
            atomic_compare_exchange_strong_explicit(&row->threads, &threads,
                                                    (uint64_t)(uint32_t)tid << 32 | by,
                                                    memory_order_relaxed, memory_order_relaxed);
    } else {
        atomic_fetch_add_explicit(&table->beyond, 1, memory_order_relaxed);
    }
    bbf_section_leave();
}

static struct bbf_after_table *in_force(struct bbf_tracker *t)
{
    return &t->after.table[atomic_load_explicit(&t->after.current, memory_order_relaxed)];
}

size_t bbf_after_release_rows(struct bbf_tracker *t, struct bbf_after out[BBF_AFTER_ROWS])
{
    struct bbf_after_table *table = in_force(t);
    size_t n = 0;
    for (size_t i = 0; i < BBF_AFTER_ROWS; i++) {
        struct bbf_after_row *row = &table->rows[i];
        uint64_t key = atomic_load_explicit(&row->key, memory_order_relaxed);
        uint64_t count = atomic_load_explicit(&row->count, memory_order_relaxed);
        uint64_t threads = atomic_load_explicit(&row->threads, memory_order_relaxed);
        if (key == 0 || count == 0)
            continue;
        out[n++] = (struct bbf_after){.node = (uint32_t)(key >> NODE_SHIFT),
                                      .class_number = key >> CLASS_SHIFT & LOW_16,
                                      .site = key & LOW_16,
                                      .released_tid = BBF_LOW(threads),
                                      .used_tid = (uint32_t)(threads >> 32),
                                      .count = count,
                                      .posted = &row->posted};
    }
    return n;
}

uint64_t bbf_after_release_sum(const struct bbf_tracker *t)
{
    const struct bbf_after_table *table =
        &t->after.table[atomic_load_explicit(&t->after.current, memory_order_relaxed)];
    uint64_t sum = atomic_load_explicit(&table->beyond, memory_order_relaxed);
    for (size_t i = 0; i < BBF_AFTER_ROWS; i++)
        sum += atomic_load_explicit(&table->rows[i].count, memory_order_relaxed);
    return sum;
}

void bbf_after_release_reset(struct bbf_tracker *t)
{
    struct bbf_after_table *old = in_force(t);
    uint32_t current = atomic_load_explicit(&t->after.current, memory_order_relaxed);
    /* Release: with add(). The other table is empty since the reset before this one. */
    atomic_store_explicit(&t->after.current, 1 - current, memory_order_release);
    bbf_section_synchronize();
    for (size_t i = 0; i < BBF_AFTER_ROWS; i++) {
        struct bbf_after_row *row = &old->rows[i];
        atomic_store_explicit(&row->key, 0, memory_order_relaxed);
        atomic_store_explicit(&row->count, 0, memory_order_relaxed);
        atomic_store_explicit(&row->threads, 0, memory_order_relaxed);
        row->posted = false;
    }
    atomic_store_explicit(&old->beyond, 0, memory_order_relaxed);
}
