/*
 * tests/stress/roots_twin.h - java.lang.BBFlowRoots in C: where a life begins when the short way
 * (twin_root of shim_twin.h) does not do. Change the Java and this together.
 */
#ifndef BBF_TESTS_STRESS_ROOTS_TWIN_H
#define BBF_TESTS_STRESS_ROOTS_TWIN_H

#include "tests/stress/records_twin.h"

/* SplitMix64 and Lemire's interval, as the shim draws; the state is the thread's own. */
static inline bool twin_is_drawn(struct twin_thread *me, uint32_t sample)
{
    uint64_t z = me->draws += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (z >> 32) * (sample & BBF_L_SAMPLE_N) >> 32 == 0;
}

static inline bool twin_is_sampled(struct twin_thread *me)
{
    return twin_get_int(bbf_shared_int(me->w->t, BBF_L_SHARED_SAMPLE)) != 0;
}

static inline uint32_t twin_root_node(struct twin_thread *me, uint32_t site, uint32_t mem)
{
    uint32_t flags = twin_flags(me);
    if ((flags & BBF_L_SHARED_OFF) != 0 || ((flags & BBF_L_SHARED_DIRECT_ONLY) != 0 &&
                                            (mem & (BBF_L_MEM_KIND | BBF_L_MEM_FIRST_SEEN)) == 1))
        return BBF_L_NODE_IGNORE;
    uint32_t sample = twin_get_int(bbf_shared_int(me->w->t, BBF_L_SHARED_SAMPLE));
    if (sample != 0)
        return twin_is_drawn(me, sample)
                   ? bbf_node_rate_root(me->w->t, site, sample >> BBF_L_SAMPLE_RATE_SHIFT)
                   : BBF_L_NODE_IGNORE;
    uint32_t node = twin_get_int(&me->w->t->roots[site]);
    return node != BBF_L_NODE_NONE ? node : bbf_node_root(me->w->t, site);
}

static inline bool twin_is_first_seen(struct twin_thread *me, uint64_t f)
{
    uint64_t refs = twin_get(&twin_record(me, f)->refs);
    return (refs ^ f) >> 32 == 0 && (refs >> BBF_L_MEM_SHIFT & BBF_L_MEM_FIRST_SEEN) != 0;
}

/* True for the handle of a recycled object: its record belongs to this thread alone, as at a
 * reopen. */
static inline bool twin_pass_over(struct twin_thread *me, uint64_t f)
{
    struct bbf_record *at = twin_record(me, f);
    uint64_t closed = (f & TWIN_HIGH) | BBF_L_CLOSED | BBF_L_STICKY;
    if (f == 0 || f == BBF_HANDLE_IGN || f == BBF_HANDLE_NEVER ||
        (twin_get(&at->life) & ~(uint64_t)BBF_L_SKIPPED) != closed)
        return false;
    TWIN_POINT(me);
    twin_put_release(&at->life, closed | BBF_L_SKIPPED);
    return true;
}

static inline void twin_give_way(struct twin_thread *me, uint64_t f)
{
    if (twin_is_first_seen(me, f) && (twin_get(&twin_record(me, f)->life) & BBF_L_STOPPED) == 0)
        twin_undo(me, f);
    else
        twin_end_by(me, f, true);
}

static inline void twin_skip(struct twin_thread *me, struct twin_object *o, uint64_t f)
{
    if (twin_is_fresh(f) && !twin_cas(&o->bbf, f, BBF_HANDLE_IGN)) {
        f = twin_get_volatile(&o->bbf);
        if (twin_is_open(me, f) && twin_is_first_seen(me, f))
            twin_undo(me, f);
    }
    TWIN_POINT(me);
    if (!twin_is_fresh(f) && f != BBF_HANDLE_IGN && f != BBF_HANDLE_NEVER && twin_is_open(me, f))
        twin_give_way(me, f);
    if (!twin_pass_over(me, f))
        twin_put(&o->bbf, BBF_HANDLE_IGN);
}

static inline bool twin_is_skipped(struct twin_thread *me, uint64_t f)
{
    return twin_get(&twin_record(me, f)->life) ==
           ((f & TWIN_HIGH) | BBF_L_CLOSED | BBF_L_STICKY | BBF_L_SKIPPED);
}

static inline bool twin_rename(struct twin_thread *me, uint64_t f, uint32_t node, uint32_t mem,
                               uint32_t size)
{
    if (f == 0 || f == BBF_HANDLE_IGN || f == BBF_HANDLE_NEVER || !twin_is_open(me, f) ||
        !twin_is_first_seen(me, f))
        return false;
    struct bbf_record *at = twin_record(me, f);
    uint64_t g = f & TWIN_HIGH;
    if ((twin_get(&at->life) & BBF_L_STOPPED) != 0)
        return false; /* seen before a stop: the allocator's buffer is another one */
    twin_put(&at->path, g | node);
    uint64_t kept =
        twin_get(&at->refs) & ((uint32_t)BBF_L_CLASS_MASK << BBF_L_CLASS_SHIFT | BBF_L_REFS_COUNT);
    twin_put(&at->refs, g | kept | mem << BBF_L_MEM_SHIFT);
    twin_put(&at->size, g | size);
    return true;
}

static inline bool twin_reopen(struct twin_thread *me, struct twin_object *o, uint64_t f,
                               uint32_t node, uint32_t refs, uint32_t size, uint64_t parent)
{
    struct bbf_record *at = twin_record(me, f);
    if ((twin_get(&at->life) & ~(uint64_t)BBF_L_SKIPPED) !=
        ((f & TWIN_HIGH) | BBF_L_CLOSED | BBF_L_STICKY))
        return false;
    uint64_t g = (f & TWIN_HIGH) + TWIN_GENERATION;
    twin_begin(me, at, g, node, refs, size, parent, BBF_L_OPEN | BBF_L_STICKY);
    TWIN_POINT(me);
    twin_put(&o->bbf, twin_next_handle(g, f));
    return true;
}

static inline void twin_open_root(struct twin_thread *me, struct twin_object *o, uint32_t size,
                                  uint32_t meta, bool keep)
{
    uint64_t f = twin_get(&o->bbf), kind = o->kind;
    if (twin_paused(me))
        return;
    if (f == BBF_HANDLE_NEVER || (keep && f != 0 && f != BBF_HANDLE_IGN && twin_is_open(me, f)))
        return;
    if (keep && f == BBF_HANDLE_IGN && twin_is_sampled(me))
        return;
    uint32_t mem = meta >> BBF_L_META_MEM_SHIFT;
    if ((mem & BBF_L_MEM_KIND) == BBF_L_MEM_KIND)
        mem = (mem & ~(uint32_t)BBF_L_MEM_KIND) |
              ((uint32_t)(kind >> BBF_L_KIND_MEM_SHIFT) & BBF_L_MEM_KIND);
    if ((kind & BBF_L_KIND_FOREIGN) != 0)
        mem |= BBF_L_MEM_FOREIGN;
    uint32_t node = twin_root_node(me, meta & BBF_L_META_SITE, mem);
    bool sticky = !twin_is_fresh(f);
    if (f != 0 && f != BBF_HANDLE_IGN && twin_is_open(me, f)) {
        if (node > BBF_L_NODE_BEFORE_RESET && twin_rename(me, f, node, mem, size))
            return;
        if (node <= BBF_L_NODE_BEFORE_RESET && twin_is_first_seen(me, f))
            twin_undo(me, f);
        else
            twin_end_by(me, f, true);
    }
    if (node <= BBF_L_NODE_BEFORE_RESET) {
        if (node != BBF_L_NODE_IGNORE)
            twin_count(me, BBF_L_TALLY_DROPPED_LIVES);
        twin_skip(me, o, f);
        return;
    }
    uint32_t refs = twin_refs_of(kind, mem);
    if (sticky && f != BBF_HANDLE_IGN && twin_reopen(me, o, f, node, refs, size, 0))
        return;
    uint64_t h = twin_open(me, o, node, refs, size, 0, sticky ? BBF_L_STICKY : 0);
    if (h == BBF_HANDLE_IGN)
        twin_count(me, BBF_L_TALLY_DROPPED_LIVES);
    if (sticky) {
        twin_put(&o->bbf, h);
    } else if (!twin_cas(&o->bbf, f, h)) {
        twin_undo(me, h);
        twin_rename(me, twin_get_volatile(&o->bbf), node, mem, size);
    }
}

/* What a view wraps at last. */
static inline struct twin_object *twin_owner_of(struct twin_object *o)
{
    for (int i = 0; i < BBF_L_MAX_UNWRAP && o != NULL; i++) {
        if ((o->kind & BBF_L_KIND_VIEW) == 0)
            return (o->kind & BBF_L_KIND_FIELD) != 0 ? o : NULL;
        o = o->owner;
    }
    return NULL;
}

static inline void twin_root_slow(struct twin_thread *me, struct twin_object *o, uint32_t size,
                                  uint32_t meta, bool keep)
{
    /* The root of a life that was seen in the constructor: the handle suffices. */
    uint32_t known = twin_get_int(&me->w->t->roots[meta & BBF_L_META_SITE]);
    uint32_t mem = meta >> BBF_L_META_MEM_SHIFT;
    if (known > BBF_L_NODE_BEFORE_RESET && (mem & BBF_L_MEM_KIND) != BBF_L_MEM_KIND &&
        twin_rename(me, twin_get(&o->bbf), known, mem, size))
        return;
    struct twin_object *owner = o;
    if ((o->kind & BBF_L_KIND_VIEW) != 0 && (owner = twin_owner_of(o)) == NULL)
        return;
    if ((owner->kind & (BBF_L_KIND_OWNER | BBF_L_KIND_FOREIGN)) != 0)
        twin_open_root(me, owner, size, meta, keep);
    if (owner != o)
        twin_put(&o->bbf, twin_get(&owner->bbf));
    twin_store_fence();
    twin_recheck(me, twin_get(&owner->bbf));
}

/* No root hook opened a life for it. */
static inline uint64_t twin_open_first(struct twin_thread *me, struct twin_object *o)
{
    uint32_t mem = (uint32_t)(o->kind >> BBF_L_KIND_MEM_SHIFT) & BBF_L_MEM_KIND;
    uint32_t flags = twin_flags(me), site = 0;
    uint64_t from = twin_get_volatile(&o->bbf);
    if (from != 0 && from != BBF_HANDLE_MARK(AGAIN) && from != BBF_HANDLE_MARK(COUNTED))
        return from; /* in deallocate() or in a pool; or it has a life */
    if ((flags & BBF_L_SHARED_PAUSED) != 0)
        return 0;
    if (me->w->windows) { /* it may have been made while the gate was shut */
        twin_cas(&o->bbf, from, BBF_HANDLE_IGN);
        return twin_get_volatile(&o->bbf);
    }
    if ((o->kind & (BBF_L_KIND_OWNER | BBF_L_KIND_FOREIGN)) != 0 &&
        (flags & BBF_L_SHARED_OFF) == 0 && ((flags & BBF_L_SHARED_DIRECT_ONLY) == 0 || mem != 1))
        site = me->w->first_site;
    uint32_t node = site != 0 ? twin_root_node(me, site, mem | BBF_L_MEM_FIRST_SEEN) : 0;
    if (node <= BBF_L_NODE_BEFORE_RESET) {
        if (site != 0 && node != BBF_L_NODE_IGNORE)
            twin_count(me, BBF_L_TALLY_DROPPED_LIVES);
        twin_cas(&o->bbf, from, BBF_HANDLE_IGN);
        return twin_get_volatile(&o->bbf);
    }
    bool foreign = (o->kind & BBF_L_KIND_FOREIGN) != 0 || from == BBF_HANDLE_MARK(COUNTED) ||
                   ((flags & BBF_L_SHARED_UNSEEN) != 0 && from != BBF_HANDLE_MARK(AGAIN));
    mem |= BBF_L_MEM_FIRST_SEEN | (foreign ? BBF_L_MEM_FOREIGN : 0);
    uint64_t h = twin_open(me, o, node, twin_refs_of(o->kind, mem), 0, 0, 0);
    if (h == BBF_HANDLE_IGN)
        twin_count(me, BBF_L_TALLY_DROPPED_LIVES);
    if (twin_cas(&o->bbf, from, h))
        return h;
    if (h != BBF_HANDLE_IGN)
        twin_undo(me, h);
    return twin_get_volatile(&o->bbf);
}

#endif
