/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/reset.c - both resets (design.md: reset). A baseline remembers the counters and subtracts
 * them; nodes and open lives stay. A reset of the nodes also begins a new trie, in the next range
 * of ids. Ids are never used twice, so a thread that was delayed with an old id reads zeros, which
 * is a miss, and its slow path sees that the arena has changed.
 *
 * Order of a node reset (the model explored exactly this): publish the arena; synchronize; clear
 * the root table; move every OPEN record whose position is in the old range, by CAS, until a pass
 * finds none; fold the counters; return the memory.
 */
#include "trie/reset.h"

#include "core/err.h"
#include "trie/after_release.h"
#include "trie/context.h"
#include "trie/growth.h"
#include "trie/model.h"
#include "trie/node.h"
#include "trie/scopes.h"
#include "trie/section.h"
#include "trie/sums.h"
#include "trie/usage.h"

enum { ARENA_SIZE = 1 << BBF_L_ARENA_SHIFT };

/* Leaks that are counted in the node only. */
static void forget_bare(struct bbf_tracker *t, uint32_t id)
{
    struct bbf_node *n = bbf_node_at(t, id);
    t->forgotten[BBF_END_LEAKED] += n->leaked;
    if (n->leaked != 0) /* otherwise the page may never have been written */
        n->leaked = 0;
}

/* Drop the lives that ended by the agent's verdict, and return the memory. */
static void clear_tombs(struct bbf_tracker *t)
{
    uint32_t arena = atomic_load(&t->next_node) >> BBF_L_ARENA_SHIFT;
    size_t writable = atomic_load(&t->tombs.writable);
    for (uint32_t i = 1; i <= t->n_tombs; i++) {
        uint32_t node = bbf_tomb_at(t, i)->node, of = node >> BBF_L_ARENA_SHIFT;
        if (of == 0 || of == arena) /* the pages of other arenas are returned, or will be */
            bbf_node_at(t, node)->tomb = 0;
        t->forgotten[bbf_tomb_at(t, i)->end] += bbf_tomb_at(t, i)->count;
    }
    t->n_tombs = 0;
    bbf_growth_clear(t);
    bbf_context_clear(t);
    bbf_scopes_clear(t);
    bbf_budget_uncharge(&t->budget, bbf_leak_bytes(t, writable));
    bbf_space_drop(&t->tombs, 0, writable, writable);
    atomic_store(&t->tombs.writable, 0);
    forget_bare(t, BBF_L_NODE_RACED);
    forget_bare(t, BBF_L_NODE_BEFORE_RESET);
    for (uint32_t id = arena << BBF_L_ARENA_SHIFT; id < atomic_load(&t->next_node); id++)
        forget_bare(t, id);
}

static int take_baseline(struct bbf_tracker *t)
{
    struct bbf_sums *sums;
    int err = bbf_sums_new(t, &sums);
    if (err != BBF_OK)
        return err;
    bbf_sums_free(t, t->baseline);
    t->baseline = sums;
    clear_tombs(t);
    bbf_after_release_reset(t);
    bbf_usage_reset(t);
    t->resets++;
    return BBF_OK;
}

int bbf_tracker_baseline(struct bbf_tracker *t)
{
    return take_baseline(t);
}

static void clear_roots(_Atomic uint32_t *roots, uint32_t n, uint32_t old)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t root = atomic_load(&roots[i]);
        if (root >> BBF_L_ARENA_SHIFT == old)
            atomic_compare_exchange_strong(&roots[i], &root, BBF_L_NODE_NONE);
    }
}

/* Move every OPEN life whose position is in an old range. True if one was found. */
static bool move_lives(struct bbf_tracker *t, uint32_t arena)
{
    bool found = false;
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++) {
        struct bbf_record *record = bbf_record_at(t, r);
        uint64_t path = atomic_load_explicit(&record->path, memory_order_acquire);
        uint64_t life = atomic_load_explicit(&record->life, memory_order_acquire);
        uint32_t at = BBF_LOW(path) >> BBF_L_ARENA_SHIFT;
        if ((life & BBF_L_STATE) != BBF_L_OPEN || at == 0 || at == arena)
            continue;
        found = true;
        /* CAS: a plain store might overwrite {g+1|root} of the record's next life. */
        atomic_compare_exchange_strong(&record->path, &path,
                                       BBF_WORD(BBF_GENERATION(path), BBF_L_NODE_BEFORE_RESET));
    }
    return found;
}

/* Keep the counts of an id range that no thread charges any more, before its memory is returned. */
static void remember_range(struct bbf_tracker *t, uint32_t arena, uint32_t nodes)
{
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t id = (arena << BBF_L_ARENA_SHIFT) + i;
        t->forgotten_released +=
            atomic_load_explicit(bbf_released_count(t, id), memory_order_relaxed);
        t->forgotten_unknown +=
            atomic_load_explicit(&bbf_node_at(t, id)->unknown, memory_order_relaxed);
        forget_bare(t, id);
    }
}

int bbf_tracker_reset_nodes(struct bbf_tracker *t)
{
    uint32_t old = atomic_load(&t->next_node) >> BBF_L_ARENA_SHIFT, arena = old + 1;
    if (arena >= t->arenas)
        return BBF_EREFUSED;
    if (!bbf_section_enter()) /* without a record of this thread synchronize() would not wait */
        return BBF_ENOMEM;
    bbf_section_leave();
    uint64_t window = atomic_exchange(&t->window, BBF_WORD(arena, 0));
    bbf_node_begin_arena(t, arena);
    bbf_section_synchronize();
    clear_roots(t->roots, BBF_L_MAX_SITES, old);
    for (uint32_t rate = 0; rate < BBF_L_RATES && atomic_load(&t->rates[rate]) != 0; rate++)
        clear_roots(&t->rate_roots[(size_t)rate * BBF_L_MAX_SITES], BBF_L_MAX_SITES, old);
    while (move_lives(t, arena))
        ;
    int err = take_baseline(t);
    size_t len = (size_t)BBF_LOW(window) << 20,
           from = (size_t)old << (BBF_L_ARENA_SHIFT + BBF_L_NODE_SHIFT);
    remember_range(t, old, BBF_LOW(window) * BBF_NODES_PER_STEP);
    bbf_budget_uncharge(&t->budget, bbf_reserved_bytes(BBF_LOW(window)));
    bbf_space_drop(&t->nodes, from, len, len);
    bbf_space_drop(&t->released_counts, (size_t)old * ARENA_SIZE * 8, len / 8, len / 8);
    size_t table = (size_t)4 << BBF_L_OVERFLOW_BITS;
    if (atomic_exchange(&t->overflow_open[old], false)) /* no thread opens it any more */
        bbf_space_drop(&t->overflow, old * table, table, table);
    atomic_fetch_and(bbf_shared_int(t, BBF_L_SHARED_FLAGS), ~(uint32_t)BBF_L_SHARED_NODES_FULL);
    return err;
}
