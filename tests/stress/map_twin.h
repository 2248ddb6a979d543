/*
 * tests/stress/map_twin.h - java.lang.BBFlowMap in C, as shim_twin.h is of BBFlowShim: lives of
 * objects without the field, found by a table of identity hashes. trie/map.c is the agent's half.
 * Change BBFlowMap and this together. Left out: views, foreign buffers, sampling, `unreleasable`.
 *
 * A slot that the agent softened holds the object's address with the lowest bit set, and counts as
 * a weak reference: Java's WeakReference. Hashes are few, so that chains grow and tags are alike.
 */
#ifndef BBF_TESTS_STRESS_MAP_TWIN_H
#define BBF_TESTS_STRESS_MAP_TWIN_H

#include "tests/stress/shim_twin.h"

#define MAP_FULL    UINT64_MAX
#define MAP_PENDING (UINT64_C(1) << 63)
enum { MAP_TRIES = 16, MAP_HASHES = 8, MAP_BUCKET = (1 << BBF_L_MAP_BUCKET_SHIFT) / 8 };

/* ---- the agent's view of such slots ---- */

static inline struct twin_object *map_referent(const struct twin_object *slot)
{
    return (struct twin_object *)((uintptr_t)slot & ~(uintptr_t)1);
}

static inline bool map_clear(void *ctx, uint32_t record)
{
    struct heap_twin *h = ctx;
    struct twin_object *old = atomic_load(&h->slots[record % HEAP_SLOTS]);
    if (old == map_referent(old)) {
        twin_set_slot(h, record, NULL);
        return true;
    }
    atomic_store(&h->slots[record % HEAP_SLOTS], NULL);
    twin_weak_drop(h, map_referent(old));
    return true;
}

static inline bool map_soften(void *ctx, uint32_t record)
{
    struct heap_twin *h = ctx;
    struct twin_object *o = atomic_load(&h->slots[record % HEAP_SLOTS]);
    atomic_fetch_add(&o->held, UINT64_C(1) << 32);
    atomic_store(&h->slots[record % HEAP_SLOTS],
                 (struct twin_object *)((uintptr_t)o | (uintptr_t)1));
    twin_drop(h, o);
    return true;
}

static inline struct bbf_jvm_refs map_twin_agent(struct heap_twin *h)
{
    struct bbf_jvm_refs heap = heap_twin_agent(h);
    heap.clear = map_clear;
    heap.soften = map_soften;
    return heap;
}

/* ---- entries ---- */

static inline uint32_t map_hash(const struct twin_object *o)
{
    return (uint32_t)((uintptr_t)o >> 4) % MAP_HASHES;
}

static inline uint64_t map_tag(uint32_t hash)
{
    return hash >> BBF_L_MAP_BUCKET_BITS & BBF_L_MAP_TAG_MASK;
}

static inline uint64_t map_entry(uint64_t h, uint64_t tag)
{
    return (h & 0xffffff) | h >> 32 << BBF_L_MAP_GENERATION_SHIFT | tag << BBF_L_MAP_TAG_SHIFT;
}

static inline uint64_t map_handle(uint64_t e)
{
    return (e >> BBF_L_MAP_GENERATION_SHIFT & TWIN_LOW) << 32 | (e & 0xffffff);
}

static inline _Atomic uint64_t *map_bucket(struct twin_thread *me, uint32_t bucket)
{
    bucket &= (1u << BBF_L_MAP_BUCKET_BITS) - 1;
    return (_Atomic uint64_t *)(void *)me->w->t->map.base + (size_t)bucket * MAP_BUCKET;
}

static inline bool map_is_of(struct twin_thread *me, struct twin_object *o, uint64_t h)
{
    struct twin_object *slot =
        atomic_load_explicit(&me->w->heap->slots[(uint32_t)h % HEAP_SLOTS], memory_order_relaxed);
    TWIN_POINT(me);
    return map_referent(slot) == o && twin_is_open(me, h);
}

static inline uint64_t map_find(struct twin_thread *me, struct twin_object *o)
{
    uint32_t hash = map_hash(o);
    uint64_t tag = map_tag(hash);
    for (int i = 0; i < 1 << BBF_L_MAP_BUCKET_BITS; i++, hash++) {
        _Atomic uint64_t *b = map_bucket(me, hash);
        for (int k = 1; k < MAP_BUCKET; k++) {
            uint64_t e = twin_get_volatile(&b[k]);
            TWIN_POINT(me);
            if (e == 0 || e >> BBF_L_MAP_TAG_SHIFT != tag || !map_is_of(me, o, map_handle(e)))
                continue;
            if (twin_get_volatile(&b[k]) == e)
                return map_handle(e);
        }
        if (twin_get_volatile(&b[0]) == 0)
            return 0;
    }
    return 0;
}

/* Into the first empty place of the chain: its number, 0 if there is none. */
static inline uint32_t map_put(struct twin_thread *me, uint32_t hash, uint64_t pending)
{
    for (int i = 0; i < 1 << BBF_L_MAP_BUCKET_BITS; i++, hash++) {
        _Atomic uint64_t *b = map_bucket(me, hash);
        for (int k = 1; k < MAP_BUCKET; k++)
            if (twin_get_volatile(&b[k]) == 0 && twin_cas(&b[k], 0, pending))
                return (uint32_t)(&b[k] - map_bucket(me, 0));
        atomic_store(&b[0], 1); /* before the entry is outside */
    }
    return 0;
}

/* One place that is not our own: its handle, -1 = pending and in the way, 0 = nothing of o's. */
static inline uint64_t map_rival_at(struct twin_thread *me, struct twin_object *o,
                                    _Atomic uint64_t *place, uint64_t tag, bool root)
{
    uint64_t e = twin_get_volatile(place);
    while (e != 0 && (e & ~MAP_PENDING) >> BBF_L_MAP_TAG_SHIFT == tag &&
           map_is_of(me, o, map_handle(e))) {
        twin_hole(me);
        uint64_t again = twin_get_volatile(place);
        if (again == e) {
            if ((e & MAP_PENDING) == 0)
                return map_handle(e);
            return !root || !twin_cas(place, e, 0) ? UINT64_MAX : 0;
        }
        if (MUTANT == MUTANT_PASSED_OVER)
            return 0;
        e = again; /* committed meanwhile: that one must not be passed over */
    }
    return 0;
}

static inline uint64_t map_rival(struct twin_thread *me, struct twin_object *o, uint32_t hash,
                                 const _Atomic uint64_t *own, bool root)
{
    uint64_t tag = map_tag(hash), found;
    for (int i = 0; i < 1 << BBF_L_MAP_BUCKET_BITS; i++, hash++) {
        _Atomic uint64_t *b = map_bucket(me, hash);
        for (int k = 1; k < MAP_BUCKET; k++)
            if (&b[k] != own && (found = map_rival_at(me, o, &b[k], tag, root)) != 0)
                return found;
        if (twin_get_volatile(&b[0]) == 0)
            return 0;
    }
    return 0;
}

/* h: it is in. 0: try again, or give way. MAP_FULL. */
static inline uint64_t map_enter(struct twin_thread *me, struct twin_object *o, uint64_t h,
                                 bool root)
{
    if ((twin_flags(me) & BBF_L_SHARED_MAP) == 0)
        return MAP_FULL;
    uint32_t hash = map_hash(o);
    uint64_t e = map_entry(h, map_tag(hash));
    uint64_t pending = MUTANT == MUTANT_NOT_PENDING ? e : e | MAP_PENDING;
    uint32_t place = map_put(me, hash, pending);
    if (place == 0)
        return MAP_FULL;
    _Atomic uint64_t *at = map_bucket(me, 0) + place;
    TWIN_POINT(me);
    twin_put_int(&twin_record(me, h)->batch, place);
    TWIN_POINT(me);
    if (map_rival(me, o, hash, at, root) == 0) {
        twin_hole(me);
        if (twin_cas(at, pending, e))
            return h;
    }
    twin_cas(at, pending, 0);
    return 0;
}

/* ---- objects ---- */

/* Netty's count, by field. */
static inline bool map_is_alive(const struct twin_object *o)
{
    return atomic_load(&((struct twin_object *)(uintptr_t)o)->count) != 0;
}

/* Take back a first sight, unless a root has made it its own. */
static inline bool map_undo_seen(struct twin_thread *me, uint64_t h)
{
    struct bbf_record *at = twin_record(me, h);
    uint64_t life;
    uint32_t place = twin_get_int(&at->batch);
    do {
        life = twin_get_volatile(&at->life);
        TWIN_POINT(me);
        if ((life ^ h) >> 32 != 0 ||
            (life & (BBF_L_STATE | BBF_L_SEEN)) != (BBF_L_OPEN | BBF_L_SEEN))
            return false;
    } while (!twin_cas(&at->life, life, twin_closed(life)));
    atomic_fetch_add(bbf_shared_long(me->w->t, BBF_L_SHARED_UNDONE), 1);
    me->undone++;
    twin_map_remove(me, place, h);
    if ((life & BBF_L_CONV) == 0) {
        twin_put(&at->path, h & TWIN_HIGH);
        twin_set_slot(me->w->heap, (uint32_t)h, NULL);
        twin_put_int(&at->next, 0);
        bbf_record_push(me->w->t, (uint32_t)h);
    }
    return true;
}

static inline uint64_t map_first_sight(struct twin_thread *me, struct twin_object *o)
{
    uint32_t mem = (uint32_t)(o->kind >> BBF_L_KIND_MEM_SHIFT) & BBF_L_MEM_KIND;
    mem |= BBF_L_MEM_FIRST_SEEN;
    if ((twin_flags(me) & (BBF_L_SHARED_OFF | BBF_L_SHARED_PAUSED)) != 0 || !map_is_alive(o))
        return 0;
    uint32_t node = twin_root_node(me, me->w->first_site, mem);
    if (node <= BBF_L_NODE_BEFORE_RESET)
        return 0;
    uint64_t h =
        twin_open(me, o, node, twin_refs_of(o->kind, mem), 0, 0, BBF_L_MAPPED | BBF_L_SEEN);
    if (h == BBF_HANDLE_IGN) {
        twin_count(me, BBF_L_TALLY_DROPPED_LIVES);
        return 0;
    }
    if (map_enter(me, o, h, false) != h) {
        twin_undo(me, h);
        return map_find(me, o);
    }
    twin_hole(me);
    /* Released before it was in, so that the release hook did not find it? */
    bool kept = MUTANT == MUTANT_NOT_ALIVE_AGAIN || map_is_alive(o) || !map_undo_seen(me, h);
    return kept ? h : 0;
}

/* Make a first sight a root's life. */
static inline bool map_own(struct twin_thread *me, uint64_t h)
{
    struct bbf_record *at = twin_record(me, h);
    uint64_t life;
    do {
        life = twin_get_volatile(&at->life);
        if ((life ^ h) >> 32 != 0 ||
            (life & (BBF_L_STATE | BBF_L_SEEN)) != (BBF_L_OPEN | BBF_L_SEEN))
            return false;
        twin_hole(me);
        if (MUTANT == MUTANT_OWN_BY_STORE) {
            twin_put(&at->life, life & ~(uint64_t)BBF_L_SEEN);
            return true;
        }
    } while (!twin_cas(&at->life, life, life & ~(uint64_t)BBF_L_SEEN));
    return true;
}

static inline uint64_t map_open_in(struct twin_thread *me, struct twin_object *o, uint32_t node,
                                   uint32_t refs, uint32_t size)
{
    uint64_t h = twin_open(me, o, node, refs, size, 0, BBF_L_MAPPED);
    if (h == BBF_HANDLE_IGN) {
        twin_count(me, BBF_L_TALLY_DROPPED_LIVES);
        return h;
    }
    uint64_t in = map_enter(me, o, h, true);
    if (in != h)
        twin_undo(me, h);
    if (in == MAP_FULL)
        twin_count(me, BBF_L_TALLY_DROPPED_LIVES);
    return in;
}

/* ---- the hooks ---- */

static inline void map_root(struct twin_thread *me, struct twin_object *o, uint32_t size,
                            uint32_t meta)
{
    uint32_t mem = meta >> BBF_L_META_MEM_SHIFT;
    if (twin_paused(me))
        return;
    uint32_t node = twin_root_node(me, meta & BBF_L_META_SITE, mem);
    for (int i = 0; i < MAP_TRIES; i++) {
        uint64_t f = map_find(me, o);
        if (f != 0 && node > BBF_L_NODE_BEFORE_RESET && map_own(me, f) &&
            twin_rename(me, f, node, mem, size))
            return;
        if (f != 0 && !map_undo_seen(me, f))
            twin_end_by(me, f, true);
        if (node <= BBF_L_NODE_BEFORE_RESET) {
            if (node != BBF_L_NODE_IGNORE)
                twin_count(me, BBF_L_TALLY_DROPPED_LIVES);
            return;
        }
        if (map_open_in(me, o, node, twin_refs_of(o->kind, mem), size) != 0)
            return;
    }
    twin_count(me, BBF_L_TALLY_DROPPED_LIVES);
}

static inline void map_step(struct twin_thread *me, struct twin_object *o, uint32_t site)
{
    uint64_t f = map_find(me, o);
    if (f == 0 && (f = map_first_sight(me, o)) == 0)
        return;
    struct bbf_record *at = twin_record(me, f);
    uint64_t path = twin_get(&at->path);
    TWIN_POINT(me);
    if ((path ^ f) >> 32 != 0) {
        uint64_t life = twin_get_volatile(&at->life);
        if ((life ^ f) >> 32 == 0 && (life & BBF_L_STATE) == BBF_L_OPEN) {
            twin_put(&at->path, (f & TWIN_HIGH) | BBF_L_NODE_RACED);
            twin_count(me, BBF_L_TALLY_RACED_STEPS);
        }
    } else if ((uint32_t)path != BBF_L_NODE_NONE) {
        uint32_t next = twin_child_of(me, (uint32_t)path, site);
        if (next != (uint32_t)path)
            twin_put(&at->path, (f & TWIN_HIGH) | next);
    }
}

/* The last count is gone. The caller holds o to the end. */
static inline void map_release(struct twin_thread *me, struct twin_object *o)
{
    uint64_t h = map_find(me, o);
    if (h != 0)
        twin_release_slow(me, h);
}

#endif
