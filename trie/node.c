/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/node.c - the imprint trie: nodes keyed by (parent, site, refCnt bucket).
 *
 * Invariants.
 *  1. A node's constant fields are written before its number is published, by one CAS of 0 -> word
 *     into a child slot, an overflow entry or the root table (release); readers load with acquire.
 *  2. Child slots fill in order and never change once set, so a reader stops at the first empty
 *     slot.
 *  3. An overflow entry is a bare node number. Its key is the node's own (parent, site, bucket);
 *     for FLAG_ALIAS it is the parent and the key stored in `site`, and child 0 is the target.
 *  4. Numbers are never used twice: a reset moves to the next arena (design.md: reset). Everything
 *     here runs in an epoch section and checks the current arena after entering it.
 *
 * Progress: lock-free; a failed CAS means that another thread published a child.
 */
#include "trie/node.h"

#include <string.h>

#include "trie/fault.h"
#include "trie/model.h"
#include "trie/section.h"
#include "trie/site.h"

enum { NODES_PER_STEP = BBF_NODES_PER_STEP, MAX_PERIOD = 16 };

static uint32_t arena_of(uint32_t id)
{
    return id >> BBF_L_ARENA_SHIFT;
}

/* By the word that reach() reads: a reset, which changes it, ends both at once. A step that gets no
 * number because of that is charged at ?before-reset. */
static uint32_t arena_in_force(const struct bbf_tracker *t)
{
    /* Acquire: pairs with the reset's publication of the new arena. */
    return BBF_GENERATION(
        atomic_load_explicit(&((struct bbf_tracker *)(uintptr_t)t)->window, memory_order_acquire));
}

static uint32_t bucket_of(const struct bbf_node *n)
{
    return atomic_load_explicit(&((struct bbf_node *)(uintptr_t)n)->flags, memory_order_relaxed) >>
               BBF_L_FLAG_BUCKET_SHIFT &
           3;
}

/* murmur3's finaliser, https://github.com/aappleby/smhasher; the shim computes the same. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    return x ^ x >> 33;
}

static _Atomic uint32_t *overflow_entry(const struct bbf_tracker *t, uint32_t arena, uint64_t at)
{
    return (_Atomic uint32_t *)(void *)t->overflow.base + ((size_t)arena << BBF_L_OVERFLOW_BITS) +
           (at & ((1u << BBF_L_OVERFLOW_BITS) - 1));
}

/* False: no memory for the thread's section; counted as a fault. */
static bool enter(struct bbf_tracker *t)
{
    if (bbf_section_enter())
        return true;
    bbf_tracker_fault(t);
    return false;
}

void bbf_node_drop_step(struct bbf_tracker *t)
{
    int offset = BBF_L_SHARED_TALLY + 8 * BBF_L_TALLY_DROPPED_STEPS;
    atomic_fetch_add_explicit(bbf_shared_long(t, offset), 1, memory_order_relaxed);
}

/* ---- allocation ---- */

/* Make the 1 MiB step of index `id` writable, for nodes and their counters together. */
static bool reach(struct bbf_tracker *t, uint32_t id)
{
    uint32_t arena = arena_of(id), step = (id & ((1u << BBF_L_ARENA_SHIFT) - 1)) / NODES_PER_STEP;
    uint64_t window = atomic_load_explicit(&t->window, memory_order_acquire);
    while (BBF_GENERATION(window) == arena && BBF_LOW(window) <= step) {
        uint32_t first = (arena << BBF_L_ARENA_SHIFT) + BBF_LOW(window) * NODES_PER_STEP;
        size_t nodes = (size_t)NODES_PER_STEP << BBF_L_NODE_SHIFT;
        size_t ended = NODES_PER_STEP * sizeof(uint64_t);
        size_t report =
            bbf_reserved_bytes(BBF_LOW(window) + 1) - bbf_reserved_bytes(BBF_LOW(window));
        if (!bbf_budget_charge(&t->budget, report))
            return false;
        if (!bbf_space_open(&t->nodes, (size_t)first << BBF_L_NODE_SHIFT, nodes)) {
            bbf_budget_uncharge(&t->budget, report);
            return false;
        }
        bool opened = bbf_space_open(&t->released_counts, (size_t)first * sizeof(uint64_t), ended);
        if (opened && atomic_compare_exchange_strong(&t->window, &window, window + 1)) {
            window++;
            continue;
        }
        /* Refused, or another thread opened the same step: charge it only once. */
        bbf_budget_uncharge(&t->budget, report + nodes + (opened ? ended : 0));
        if (!opened)
            return false;
    }
    return BBF_GENERATION(window) == arena;
}

/* A new number for a child of `parent` in `arena`, greater than the parent's; 0 at a limit. */
static uint32_t take_number(struct bbf_tracker *t, uint32_t arena, uint32_t parent)
{
    uint32_t spare = atomic_exchange_explicit(&t->spare_node, 0, memory_order_acq_rel);
    if (spare > parent && arena_of(spare) == arena)
        return spare;
    if (spare != 0 && arena_of(spare) == arena)
        atomic_store_explicit(&t->spare_node, spare, memory_order_release); /* for an older arena */
    uint32_t id = atomic_load_explicit(&t->next_node, memory_order_acquire);
    do {
        uint32_t index = id & ((1u << BBF_L_ARENA_SHIFT) - 1);
        if (arena_of(id) != arena)
            return 0;
        if (index >= atomic_load_explicit(&t->max_nodes, memory_order_relaxed) ||
            index == (1u << BBF_L_ARENA_SHIFT) - 1 || !reach(t, id)) {
            if (BBF_GENERATION(atomic_load(&t->window)) != arena)
                return 0; /* not a limit: a reset came in between */
            atomic_fetch_add_explicit(&t->hit_nodes, 1, memory_order_relaxed);
            /* From now on the shim handles it without a call (design.md: hot path). */
            atomic_fetch_or(bbf_shared_int(t, BBF_L_SHARED_FLAGS),
                            (uint32_t)BBF_L_SHARED_NODES_FULL);
            return 0;
        }
    } while (!atomic_compare_exchange_weak_explicit(&t->next_node, &id, id + 1,
                                                    memory_order_acq_rel, memory_order_acquire));
    return id;
}

static uint32_t new_node(struct bbf_tracker *t, uint32_t arena, uint32_t parent, uint32_t site,
                         uint32_t bucket, uint32_t flags)
{
    uint32_t id = take_number(t, arena, parent);
    if (id == 0)
        return 0;
    struct bbf_node *n = bbf_node_at(t, id);
    n->site = site;
    n->parent = parent;
    n->depth = parent == BBF_L_NODE_NONE ? 1 : bbf_node_at(t, parent)->depth + 1;
    if (parent != BBF_L_NODE_NONE)
        flags |= atomic_load_explicit(&bbf_node_at(t, parent)->flags, memory_order_relaxed) &
                 ((uint32_t)BBF_L_FLAG_RATE << BBF_L_FLAG_RATE_SHIFT | BBF_L_FLAG_CLINIT);
    const struct bbf_site *place = bbf_site_get(t, site);
    if (place != NULL && strcmp(place->method, "<clinit>") == 0)
        flags |= BBF_L_FLAG_CLINIT;
    if (n->depth >= atomic_load_explicit(&t->max_depth, memory_order_relaxed) ||
        site == BBF_L_SITE_GAP)
        flags |= BBF_L_FLAG_NO_STEPS;
    for (int i = 0; i < BBF_L_INLINE_CHILDREN; i++)
        atomic_store_explicit(&n->child[i], 0, memory_order_relaxed);
    /* Relaxed: the CAS that publishes the number releases all these stores. */
    atomic_store_explicit(&n->flags, flags | bucket << BBF_L_FLAG_BUCKET_SHIFT,
                          memory_order_relaxed);
    return id;
}

static void discard(struct bbf_tracker *t, uint32_t id)
{
    if (id == 0)
        return;
    /* No other thread has seen the node; site 0 distinguishes it from a real one. One is kept for
     * reuse. */
    bbf_node_at(t, id)->site = 0;
    atomic_exchange_explicit(&t->spare_node, id, memory_order_acq_rel);
}

/* ---- cycles (design.md: trie) ---- */

/*
 * A step from `from` to `site` that only repeats leads back to an earlier node: the same site again
 * stays where it is; a repeat of the last p <= 16 steps returns one period up. Returns 0 for a new
 * place.
 */
static uint32_t fold(struct bbf_tracker *t, uint32_t from, uint32_t site)
{
    uint32_t up[2 * MAX_PERIOD];
    int n = 0;
    uint32_t bucket = bucket_of(bbf_node_at(t, from));
    for (uint32_t id = from; n < 2 * MAX_PERIOD; id = bbf_node_at(t, id)->parent) {
        const struct bbf_node *node = bbf_node_at(t, id);
        if (node->depth <= 1 || bucket_of(node) != bucket)
            break;
        up[n++] = id;
    }
    if (n > 0 && bbf_node_at(t, from)->site == site)
        return from;
    for (int p = 2; p <= MAX_PERIOD && 2 * p - 1 <= n; p++) {
        bool repeats = bbf_node_at(t, up[p - 1])->site == site;
        for (int i = 0; repeats && i < p - 1; i++)
            repeats = bbf_node_at(t, up[i])->site == bbf_node_at(t, up[i + p])->site;
        if (repeats) {
            atomic_fetch_add_explicit(&t->folded, 1, memory_order_relaxed);
            return up[p - 1];
        }
    }
    return 0;
}

/* ---- lookup and insertion ---- */

static uint32_t key_of(const struct bbf_tracker *t, const struct bbf_node *n)
{
    uint32_t flags =
        atomic_load_explicit(&((struct bbf_node *)(uintptr_t)n)->flags, memory_order_relaxed);
    uint32_t bucket = bucket_of(n);
    if ((flags & BBF_L_FLAG_ALIAS) != 0 || bucket == bucket_of(bbf_node_at(t, n->parent)))
        return n->site;
    return (bucket + 1) << BBF_L_KEY_BUCKET_SHIFT | n->site;
}

static uint32_t target_of(const struct bbf_tracker *t, uint32_t id)
{
    struct bbf_node *n = bbf_node_at(t, id);
    if ((atomic_load_explicit(&n->flags, memory_order_relaxed) & BBF_L_FLAG_ALIAS) == 0)
        return id;
    return BBF_LOW(atomic_load_explicit(&n->child[0], memory_order_relaxed));
}

static uint32_t find_overflow(const struct bbf_tracker *t, uint32_t node, uint32_t key)
{
    uint64_t at = mix(BBF_WORD(node, key));
    for (uint32_t probes = 0; probes < 1u << BBF_L_OVERFLOW_BITS; probes++, at++) {
        uint32_t id =
            atomic_load_explicit(overflow_entry(t, arena_of(node), at), memory_order_acquire);
        if (id == 0)
            return 0;
        if (bbf_node_at(t, id)->parent == node && key_of(t, bbf_node_at(t, id)) == key)
            return target_of(t, id);
    }
    return 0;
}

uint32_t bbf_node_find(const struct bbf_tracker *t, uint32_t node, uint32_t key)
{
    const struct bbf_node *n = bbf_node_at(t, node);
    for (int i = 0; i < BBF_L_INLINE_CHILDREN; i++) {
        uint64_t word = atomic_load_explicit(&((struct bbf_node *)(uintptr_t)n)->child[i],
                                             memory_order_acquire);
        if (word == 0)
            return 0;
        if (BBF_GENERATION(word) == key)
            return BBF_LOW(word);
    }
    return find_overflow(t, node, key);
}

static bool open_overflow(struct bbf_tracker *t, uint32_t arena)
{
    size_t size = (size_t)4 << BBF_L_OVERFLOW_BITS;
    /* Acquire, release: a thread that sees the flag sees a table that can be written to. */
    if (atomic_load_explicit(&t->overflow_open[arena], memory_order_acquire))
        return true;
    if (!bbf_space_open(&t->overflow, arena * size, size))
        return false;
    if (atomic_exchange_explicit(&t->overflow_open[arena], true, memory_order_acq_rel))
        bbf_budget_uncharge(&t->budget, size); /* two threads opened it: charge it only once */
    return true;
}

/* Publish `target` under `key` of `node`. Returns the child that is there afterwards; 0 at a limit.
 * `fresh` is target's number if it is a new node (discarded if another thread was first), else
 * 0. */
static uint32_t publish(struct bbf_tracker *t, uint32_t node, uint32_t key, uint32_t target,
                        uint32_t fresh)
{
    struct bbf_node *n = bbf_node_at(t, node);
    for (int i = 0; i < BBF_L_INLINE_CHILDREN; i++) {
        uint64_t seen = 0;
        if (atomic_compare_exchange_strong_explicit(&n->child[i], &seen, BBF_WORD(key, target),
                                                    memory_order_acq_rel, memory_order_acquire))
            return target;
        if (BBF_GENERATION(seen) == key) {
            discard(t, fresh);
            return BBF_LOW(seen);
        }
    }
    uint32_t arena = arena_of(target), entry_id = fresh;
    if (!open_overflow(t, arena)) {
        discard(t, fresh);
        return 0;
    }
    if (fresh == 0) { /* an edge back: the table needs a node that represents it */
        entry_id = new_node(t, arena, node, key, 0, BBF_L_FLAG_ALIAS);
        if (entry_id == 0)
            return 0;
        atomic_store_explicit(&bbf_node_at(t, entry_id)->child[0], target, memory_order_relaxed);
    }
    uint64_t at = mix(BBF_WORD(node, key));
    for (uint32_t probes = 0; probes < 1u << BBF_L_OVERFLOW_BITS; probes++, at++) {
        uint32_t seen = 0;
        if (atomic_compare_exchange_strong_explicit(overflow_entry(t, arena, at), &seen, entry_id,
                                                    memory_order_acq_rel, memory_order_acquire))
            return target;
        const struct bbf_node *other = bbf_node_at(t, seen);
        if (other->parent == node && key_of(t, other) == key) {
            discard(t, entry_id);
            return target_of(t, seen);
        }
    }
    discard(t, entry_id);
    return 0;
}

/* May `node` take one more step child? Counts it; step_slow() takes it back if none was made. */
static bool admit(struct bbf_tracker *t, struct bbf_node *n)
{
    uint32_t have = atomic_fetch_add_explicit(&n->children, 1, memory_order_relaxed);
    if (have < atomic_load_explicit(&t->max_children, memory_order_relaxed))
        return true;
    atomic_fetch_sub_explicit(&n->children, 1, memory_order_relaxed);
    atomic_fetch_or_explicit(&n->flags, (uint32_t)BBF_L_FLAG_FULL, memory_order_relaxed);
    atomic_fetch_add_explicit(&t->hit_children, 1, memory_order_relaxed);
    return false;
}

/* The child for `key` with the given bucket, made if absent; 0 at a limit. Called in a section.
 * *made: by this call, and not by another thread meanwhile. */
static uint32_t grow(struct bbf_tracker *t, uint32_t node, uint32_t key, uint32_t bucket,
                     bool *made)
{
    uint32_t site = key & (BBF_L_MAX_SITES - 1);
    uint32_t id = new_node(t, arena_of(node), node, site, bucket, 0);
    uint32_t child = id == 0 ? 0 : publish(t, node, key, id, id);
    *made = child != 0 && child == id;
    return child;
}

static uint32_t step_slow(struct bbf_tracker *t, uint32_t node, uint32_t key)
{
    struct bbf_node *n = bbf_node_at(t, node);
    uint32_t flags = atomic_load_explicit(&n->flags, memory_order_relaxed);
    if (arena_of(node) == 0) /* no step leaves ?raced and ?before-reset */
        return node;
    if (arena_of(node) != arena_in_force(t))
        return BBF_L_NODE_BEFORE_RESET;
    uint32_t found = bbf_node_find(t, node, key);
    if (found != 0)
        return found;
    /* A loop leads back even from a node at the depth limit. */
    uint32_t back = fold(t, node, key);
    if (back != 0) {
        uint32_t got = publish(t, node, key, back, 0);
        if (got != 0 && back != node)
            atomic_fetch_or_explicit(&bbf_node_at(t, got)->flags, (uint32_t)BBF_L_FLAG_LOOP,
                                     memory_order_relaxed);
        if (got == 0)
            bbf_node_drop_step(t);
        return got != 0 ? got : node;
    }
    if ((flags & BBF_L_FLAG_NO_STEPS) != 0) {
        atomic_fetch_add_explicit(&t->hit_depth, 1, memory_order_relaxed);
        bbf_node_drop_step(t);
        return node;
    }
    if (!admit(t, n)) {
        bbf_node_drop_step(t);
        return node;
    }
    bool made;
    uint32_t named = key >> BBF_L_KEY_BUCKET_SHIFT; /* a derived life has a count of its own */
    uint32_t child = grow(t, node, key, named != 0 ? named - 1 : bucket_of(n), &made);
    if (!made)
        atomic_fetch_sub_explicit(&n->children, 1, memory_order_relaxed);
    if (child == 0)
        bbf_node_drop_step(t);
    return child != 0 ? child : node;
}

uint32_t bbf_node_child(struct bbf_tracker *t, uint32_t node, uint32_t key)
{
    if (!enter(t))
        return node;
    uint32_t result = step_slow(t, node, key);
    bbf_section_leave();
    return result;
}

void bbf_node_begin_arena(struct bbf_tracker *t, uint32_t arena)
{
    uint32_t id = atomic_load_explicit(&t->next_node, memory_order_acquire);
    /* Release: a thread that gets a number of the arena sees its window. */
    while (arena_of(id) < arena &&
           !atomic_compare_exchange_weak_explicit(&t->next_node, &id, arena << BBF_L_ARENA_SHIFT,
                                                  memory_order_acq_rel, memory_order_acquire))
        ;
}

uint32_t bbf_node_gap(struct bbf_tracker *t, uint32_t node)
{
    bool made;
    if (!enter(t))
        return BBF_L_NODE_RACED;
    uint32_t gap = BBF_L_NODE_BEFORE_RESET;
    if (arena_of(node) == arena_in_force(t) && (gap = bbf_node_find(t, node, BBF_L_SITE_GAP)) == 0)
        gap = grow(t, node, BBF_L_SITE_GAP, bucket_of(bbf_node_at(t, node)), &made);
    bbf_section_leave();
    return gap != 0 ? gap : BBF_L_NODE_RACED;
}

static _Atomic uint32_t *rate_root(const struct bbf_tracker *t, uint32_t site, uint32_t rate)
{
    return &t->rate_roots[(size_t)rate * BBF_L_MAX_SITES + site];
}

bool bbf_node_is_fast(const struct bbf_tracker *t, uint32_t site)
{
    const uint32_t no = BBF_L_SHARED_OFF | BBF_L_SHARED_PAUSED;
    uint32_t flags = atomic_load(bbf_shared_int(t, BBF_L_SHARED_FLAGS));
    const struct bbf_site *s = bbf_site_get(t, site);
    bool heap = s != NULL && s->kind == BBF_SITE_ROOT && s->memory == BBF_MEM_HEAP;
    return (flags & no) == 0 && atomic_load(bbf_shared_int(t, BBF_L_SHARED_SAMPLE)) == 0 &&
           atomic_load(&t->asked[site]) == 0 && ((flags & BBF_L_SHARED_DIRECT_ONLY) == 0 || !heap);
}

/* If the agent changes the settings meanwhile, the store is undone: the agent changes the flags
 * before the table, and this thread reads the flags again after its store. */
static void publish_root(struct bbf_tracker *t, uint32_t site, uint32_t root)
{
    uint32_t none = BBF_L_NODE_NONE;
    if (bbf_node_is_fast(t, site) && atomic_compare_exchange_strong(&t->roots[site], &none, root) &&
        !bbf_node_is_fast(t, site))
        atomic_store(&t->roots[site], BBF_L_NODE_NONE);
}

/* `old`: the table's entry, of an older id range or none. */
static uint32_t make_root(struct bbf_tracker *t, uint32_t arena, uint32_t site, uint32_t rate,
                          uint32_t old)
{
    uint32_t flags = rate << BBF_L_FLAG_RATE_SHIFT;
    uint32_t fresh = new_node(t, arena, BBF_L_NODE_NONE, site, BBF_REF_1_2, flags);
    if (fresh == 0)
        return BBF_L_NODE_NONE;
    /* Repeat if the reset that preceded this call has just removed the old entry. */
    while (arena_of(old) < arena)
        if (atomic_compare_exchange_weak_explicit(rate_root(t, site, rate), &old, fresh,
                                                  memory_order_acq_rel, memory_order_acquire))
            return fresh;
    discard(t, fresh);
    return arena_of(old) == arena ? old : BBF_L_NODE_NONE;
}

uint32_t bbf_node_rate_root(struct bbf_tracker *t, uint32_t site, uint32_t rate)
{
    if (!enter(t))
        return BBF_L_NODE_NONE;
    uint32_t root, arena;
    do { /* repeat if a reset came in between: that is not a limit, and the life must not be dropped
          */
        arena = arena_in_force(t);
        bbf_node_begin_arena(t, arena);
        root = atomic_load_explicit(rate_root(t, site, rate), memory_order_acquire);
        if (arena_of(root) != arena)
            root = make_root(t, arena, site, rate, root);
    } while (root == BBF_L_NODE_NONE && arena != arena_in_force(t));
    if (root != BBF_L_NODE_NONE && rate == 0)
        publish_root(t, site, root);
    bbf_section_leave();
    return root;
}

static uint32_t twin(struct bbf_tracker *t, uint32_t node, uint32_t bucket)
{
    struct bbf_node *n = bbf_node_at(t, node);
    if (arena_of(node) == 0 || bucket_of(n) == bucket || n->site == BBF_L_SITE_GAP)
        return node;
    if (arena_of(node) != arena_in_force(t))
        return BBF_L_NODE_BEFORE_RESET;
    /* A root has no parent that could have a twin of it as a child: the twin is the root's own
     * child. */
    uint32_t parent = n->depth > 1 ? n->parent : node;
    uint32_t key = n->site;
    if (bucket_of(bbf_node_at(t, parent)) != bucket)
        key |= (bucket + 1) << BBF_L_KEY_BUCKET_SHIFT;
    else if (n->depth == 2 && bbf_node_at(t, parent)->site == n->site)
        return parent; /* back from a root's twin to the root */
    bool made;
    uint32_t found = bbf_node_find(t, parent, key);
    if (found == 0)
        found = grow(t, parent, key, bucket, &made);
    return found != 0 ? found : node;
}

uint32_t bbf_node_bucket(struct bbf_tracker *t, uint32_t node, uint32_t bucket)
{
    if (!enter(t))
        return node;
    uint32_t result = twin(t, node, bucket);
    bbf_section_leave();
    return result;
}

uint32_t bbf_node_charged(const struct bbf_tracker *t, uint64_t path, uint32_t generation)
{
    uint32_t node = BBF_LOW(path);
    if (BBF_GENERATION(path) != generation || node == BBF_L_NODE_NONE)
        return BBF_L_NODE_RACED;
    if (arena_of(node) != 0 && arena_of(node) != arena_in_force(t))
        return BBF_L_NODE_BEFORE_RESET;
    return node;
}

void bbf_node_released(struct bbf_tracker *t, uint32_t node, uint32_t class_id, uint64_t count)
{
    bool section = enter(t);
    uint32_t at = bbf_node_charged(t, node, 0);
    uint32_t site =
        atomic_load_explicit(&t->release_site[class_id % BBF_MAX_CLASSES], memory_order_acquire);
    if (section && arena_of(at) != 0 && site != 0) {
        /* Not a step: neither the depth nor the children limit applies. */
        uint32_t key = (BBF_REF_0 + 1) << BBF_L_KEY_BUCKET_SHIFT | site;
        bool made;
        uint32_t child = bbf_node_find(t, at, key);
        if (child == 0)
            child = grow(t, at, key, BBF_REF_0, &made);
        if (child != 0)
            at = child;
    }
    atomic_fetch_add_explicit(bbf_released_count(t, at), count, memory_order_relaxed);
    if (section)
        bbf_section_leave();
}

void bbf_node_unknown(struct bbf_tracker *t, uint32_t node)
{
    bool section = enter(t);
    uint32_t at = bbf_node_charged(t, node, 0);
    atomic_fetch_add_explicit(&bbf_node_at(t, at)->unknown, 1, memory_order_relaxed);
    if (section)
        bbf_section_leave();
}

uint32_t bbf_node_bare_root(const struct bbf_tracker *t, uint32_t node)
{
    const struct bbf_node *n = bbf_node_at(t, node);
    if (arena_of(node) == 0 || n->depth > 2 ||
        (n->depth == 2 && bbf_node_at(t, n->parent)->site != n->site))
        return 0;
    const struct bbf_site *site = bbf_site_get(t, n->site);
    return site != NULL && site->kind == BBF_SITE_ROOT ? site->id : 0;
}
