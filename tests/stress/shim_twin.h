/*
 * tests/stress/shim_twin.h - java.lang.BBFlowShim in C: the application's half of design.md: memory
 * safety, line by line as the Java has it, so that TSan, ASan and mutations can work on the whole
 * protocol. The agent's half is the real one, trie/lives.c. Change the shim and this together.
 */
#ifndef BBF_TESTS_STRESS_SHIM_TWIN_H
#define BBF_TESTS_STRESS_SHIM_TWIN_H

#include "tests/stress/roots_twin.h"

/* ---- roots ---- */

/* At the exit of an allocator. meta = site | memory << 16. */
static inline void twin_root(struct twin_thread *me, struct twin_object *o, uint32_t size,
                             uint32_t meta)
{
    if (twin_gate(me, (uint32_t)BBF_L_SLOW_IDLE | BBF_L_SLOW_GATE))
        return;
    uint64_t f = twin_get(&o->bbf);
    struct bbf_record *at = twin_record(me, f);
    uint32_t node = twin_get_int(&me->w->t->roots[meta & BBF_L_META_SITE]);
    if (twin_get(&at->life) == ((f & TWIN_HIGH) | BBF_L_CLOSED | BBF_L_STICKY) &&
        node > BBF_L_NODE_BEFORE_RESET) {
        uint64_t g = (f & TWIN_HIGH) + TWIN_GENERATION;
        uint32_t refs = (uint32_t)twin_get(&at->refs) & (uint32_t)BBF_L_CLASS_MASK
                                                            << BBF_L_CLASS_SHIFT;
        TWIN_POINT(me);
        twin_begin(me, at, g, node, refs | meta >> BBF_L_META_MEM_SHIFT << BBF_L_MEM_SHIFT | 1,
                   size, 0, BBF_L_OPEN | BBF_L_STICKY);
        TWIN_POINT(me);
        twin_put(&o->bbf, twin_next_handle(g, f));
        twin_store_fence();
        twin_recheck(me, f);
    } else {
        twin_root_slow(me, o, size, meta, false);
    }
}

static inline void twin_root_keep(struct twin_thread *me, struct twin_object *o, uint32_t size,
                                  uint32_t meta)
{
    twin_root_slow(me, o, size, meta, true);
}

/* ---- close (design.md: close protocol) ---- */

static inline uint64_t twin_run_key(uint32_t node, uint64_t refs)
{
    return (uint64_t)node << 32 | (refs >> BBF_L_CLASS_SHIFT & BBF_L_CLASS_MASK) << 16;
}

static inline void twin_charge(struct twin_thread *me, uint64_t run)
{
    TWIN_POINT(me);
    if (run != 0)
        bbf_node_released(me->w->t, (uint32_t)(run >> 32), (uint32_t)(run >> 16) & 0xffff,
                          run & BBF_L_RUN_FULL);
}

/* Into the thread's word for the node. */
static inline void twin_gather(struct twin_thread *me, struct bbf_stripe *stripe, uint64_t run)
{
    if (stripe == NULL) {
        twin_charge(me, run);
        return;
    }
    _Atomic uint64_t *word = &stripe->run[run >> 32 & (BBF_L_RUN_SLOTS - 1)];
    uint64_t held = twin_get(word), n = run & BBF_L_RUN_FULL;
    TWIN_POINT(me);
    if ((held ^ run) >> 16 == 0 && (held & BBF_L_RUN_FULL) + n <= BBF_L_RUN_FULL) {
        twin_put(word, held + n);
    } else {
        twin_put(word, run);
        twin_charge(me, held);
    }
}

/* A record's word begins anew with one life. */
static inline void twin_pass_run(struct twin_thread *me, _Atomic uint64_t *word, uint64_t key)
{
    uint64_t run = twin_get(word);
    twin_put(word, key | 1);
    if (run != 0)
        twin_gather(me, twin_stripe(me), run);
}

static inline uint32_t twin_size_at(struct bbf_record *at, uint64_t f)
{
    uint64_t size = twin_get(&at->size);
    return (size ^ f) >> 32 == 0 ? (uint32_t)size : 0;
}

/* Rare: the second is another than the one of the open. */
static inline void twin_tell_age(struct twin_thread *me, uint32_t node, uint32_t opened,
                                 uint64_t refs, uint32_t size, uint64_t parent)
{
    uint32_t now = twin_get_int(bbf_shared_int(me->w->t, BBF_L_SHARED_NOW));
    if ((int32_t)(now - opened) > 0)
        bbf_aged_lasted(me->w->t, node, now - opened);
    if ((int32_t)(now - opened) > 0 &&
        (twin_get_int(bbf_shared_int(me->w->t, BBF_L_SHARED_FLAGS)) & BBF_L_SHARED_USAGE) != 0)
        bbf_usage_add(me->w->t, &(struct bbf_usage_life){
                                    .node = node,
                                    .seconds = now - opened,
                                    .bytes = size,
                                    .memory = refs >> BBF_L_MEM_SHIFT & BBF_L_MEM_KIND,
                                    .written = parent != 0 ? BBF_USAGE_NOT_ASKED : me->written});
}

/* Win the life; *life is what it was. */
static inline bool twin_close(struct twin_thread *me, struct bbf_record *at, uint64_t f,
                              uint64_t *life)
{
    if (MUTANT == MUTANT_PLAIN_CLOSE && (*life & BBF_L_STICKY) == 0) {
        twin_hole(me);
        twin_put_release(&at->life, twin_closed(*life));
        return true;
    }
    while (!twin_cas(&at->life, *life, twin_closed(*life))) {
        *life = twin_get_volatile(&at->life);
        if (MUTANT != MUTANT_CLOSE_GENERATION && (*life ^ f) >> 32 != 0)
            return false;
        if ((*life & BBF_L_STATE) != BBF_L_OPEN)
            return false;
    }
    return true;
}

/* Where the life ended and who released it (trie/ended.c). */
static inline void twin_remember(struct twin_thread *me, struct bbf_stripe *stripe, uint64_t f,
                                 uint32_t node)
{
    uint32_t next = twin_get_int(&stripe->next_end), at = next & (BBF_L_ENDED_SLOTS - 1);
    twin_put_int(&stripe->next_end, next + 1);
    twin_put(&stripe->recent_ends[at].handle, 0);
    twin_put_release(&stripe->recent_ends[at].where, (uint64_t)node << 32 | (uint32_t)me->tid);
    twin_put_release(&stripe->recent_ends[at].handle, f);
}

/* ---- pools of the application (docs/adr/0034): with windows no step opens a life, so nothing is
 * marked ---- */

static inline bool twin_is_closed(struct twin_thread *me, uint64_t f)
{
    return !twin_is_fresh(f) && f != BBF_HANDLE_IGN && f != BBF_HANDLE_NEVER &&
           (MUTANT == MUTANT_AGAIN_OPEN || !twin_is_open(me, f));
}

static inline bool twin_is_given(uint64_t f)
{
    return !twin_is_fresh(f) && f != BBF_HANDLE_IGN && f != BBF_HANDLE_NEVER &&
           (f & BBF_L_HANDLE_GIVEN) != 0;
}

/* setRefCnt(), resetRefCnt(): behind deallocate() the next step opens a life. */
static inline void twin_again(struct twin_thread *me, struct twin_object *o)
{
    if (me->w->windows)
        return;
    uint64_t f = twin_get(&o->bbf);
    TWIN_POINT(me);
    if (f == BBF_HANDLE_MARK(IDLE) || f == BBF_HANDLE_MARK(COUNTED) || twin_is_given(f) ||
        (MUTANT == MUTANT_AGAIN_OPEN && twin_is_closed(me, f)))
        twin_cas(&o->bbf, f, BBF_HANDLE_MARK(AGAIN));
    else if (f == BBF_HANDLE_MARK(ENDING) || twin_is_closed(me, f))
        twin_cas(&o->bbf, f, BBF_HANDLE_MARK(RETURNED));
}

/* deallocate() is done. */
static inline void twin_given_back(struct twin_thread *me, struct twin_object *o)
{
    if (me->w->windows)
        return;
    uint64_t f = twin_get(&o->bbf);
    TWIN_POINT(me);
    if (f == BBF_HANDLE_MARK(ENDING))
        twin_cas(&o->bbf, f, BBF_HANDLE_MARK(IDLE));
    else if (f == BBF_HANDLE_MARK(RETURNED))
        twin_cas(&o->bbf, f, BBF_HANDLE_MARK(COUNTED));
    else if (MUTANT != MUTANT_AGAIN_OPEN && twin_is_closed(me, f) && !twin_is_given(f) &&
             (twin_get(&twin_record(me, f)->life) & ~(uint64_t)BBF_L_SKIPPED) !=
                 ((f & TWIN_HIGH) | BBF_L_CLOSED | BBF_L_STICKY))
        twin_cas(&o->bbf, f, f | BBF_L_HANDLE_GIVEN);
}

/* The last count is gone, and no life was open: the object is in deallocate() nevertheless. */
static inline void twin_ended(struct twin_thread *me, struct twin_object *o, uint64_t f)
{
    if (me->w->windows)
        return;
    if (f == BBF_HANDLE_MARK(IDLE) || f == BBF_HANDLE_MARK(COUNTED) ||
        f == BBF_HANDLE_MARK(AGAIN) || (twin_is_given(f) && !twin_is_open(me, f)))
        twin_cas(&o->bbf, f, BBF_HANDLE_MARK(ENDING));
}

static inline void twin_release_slow(struct twin_thread *me, uint64_t f)
{
    if (twin_is_fresh(f) || f == BBF_HANDLE_IGN || f == BBF_HANDLE_NEVER)
        return;
    struct bbf_record *at = twin_record(me, f);
    uint64_t path = twin_position(me, at, f), refs = twin_get(&at->refs);
    uint32_t opened = twin_get_int(&at->next);
    TWIN_POINT(me);
    uint64_t life = twin_get_volatile(&at->life);
    if ((MUTANT != MUTANT_CLOSE_GENERATION && (life ^ f) >> 32 != 0) ||
        (life & BBF_L_STATE) != BBF_L_OPEN)
        return;
    uint32_t place = twin_get_int(&at->batch), size = twin_size_at(at, f);
    uint64_t parent = twin_get(&at->parent);
    TWIN_POINT(me);
    if (MUTANT != MUTANT_PATH_AFTER_CAS)
        twin_put(&at->path, f & TWIN_HIGH);
    TWIN_POINT(me);
    if (!twin_close(me, at, f, &life))
        return;
    if (MUTANT == MUTANT_PATH_AFTER_CAS) {
        twin_hole(me);
        twin_put(&at->path, f & TWIN_HIGH);
    }
    if ((life & BBF_L_MAPPED) != 0 && MUTANT != MUTANT_ENTRY_STAYS)
        twin_map_remove(me, place, f);
    struct bbf_stripe *stripe = twin_stripe(me);
    uint32_t kept = MUTANT == MUTANT_IGNORE_CONV ? BBF_L_STICKY : BBF_L_CONV | BBF_L_STICKY;
    TWIN_POINT(me);
    if ((life & BBF_L_STICKY) != 0)
        twin_put_int(&at->batch, 0);
    if (stripe != NULL)
        twin_remember(me, stripe, f, twin_charged_at(path, f));
    if ((life & kept) == 0)
        twin_give_back(me, (uint32_t)f, stripe);
    uint64_t key = twin_run_key(twin_charged_at(path, f), refs);
    twin_tell_age(me, (uint32_t)(key >> 32), opened, refs, (life & BBF_L_STOPPED) == 0 ? size : 0,
                  parent);
    if ((life & BBF_L_STOPPED) != 0) { /* it may have been released and taken again unseen */
        bbf_node_unknown(me->w->t, (uint32_t)(key >> 32));
        me->unknown++;
        return;
    }
    me->closed++;
    twin_gather(me, stripe, key | 1);
}

static inline void twin_refs(struct twin_thread *me, struct twin_object *o, int delta);

/* The life is over, and stays so: not only that no life is seen to be open. */
static inline bool twin_is_over(struct twin_thread *me, uint64_t f)
{
    uint64_t life = twin_get(&twin_record(me, f)->life);
    int32_t since = (int32_t)((uint32_t)(life >> 32) - (uint32_t)(f >> 32));
    return since > 0 || (since == 0 && (life & BBF_L_STATE) != BBF_L_OPEN);
}

/* The same while the gate is shut. */
static inline void twin_release_shut(struct twin_thread *me, struct twin_object *o, uint64_t f)
{
    if (MUTANT == MUTANT_RELEASE_GATED || (int32_t)f <= 0)
        return;
    if (twin_is_open(me, f)) {
        twin_release_slow(me, f);
        return;
    }
    if ((int32_t)f < BBF_L_FIRST_RECORD || !twin_is_over(me, f))
        return;
    TWIN_POINT(me);
    twin_cas(&o->bbf, f, f | (uint32_t)BBF_L_HANDLE_OVER);
}

/* Windows, and each buffer has the hidden field: one whose handle is not above 0 has no life to
 * count or to end, gate open or shut (docs/adr/0075). */
static inline bool twin_has_none(struct twin_thread *me, struct twin_object *o)
{
    return me->w->windows && (int32_t)twin_get(&o->bbf) <= 0;
}

/* At the entry of handleRelease: zero = the last count is gone. The caller holds o to the end. */
static inline void twin_release(struct twin_thread *me, struct twin_object *o, bool zero)
{
    if (!zero) {
        twin_refs(me, o, -1);
        return;
    }
    if (twin_has_none(me, o))
        return;
    TWIN_POINT(me);
    /* Acquire: who missed a step sees the gap. */
    uint32_t gate = me->w->windows
                        ? atomic_load_explicit(bbf_shared_int(me->w->t, BBF_L_SHARED_SLOW_HOOKS),
                                               memory_order_acquire)
                        : 0;
    uint64_t f = twin_get(&o->bbf);
    struct bbf_record *at = twin_record(me, f);
    TWIN_POINT(me);
    if ((gate & (uint32_t)BBF_L_SLOW_IDLE) != 0) {
        twin_release_shut(me, o, f);
    } else if (twin_get(&at->life) == ((f & TWIN_HIGH) | BBF_L_OPEN | BBF_L_STICKY)) {
        uint64_t path = twin_get(&at->path);
        twin_tell_age(me, twin_charged_at(path, f), twin_get_int(&at->next), twin_get(&at->refs),
                      twin_size_at(at, f), twin_get(&at->parent));
        TWIN_POINT(me);
        twin_put(&at->path, f & TWIN_HIGH);
        TWIN_POINT(me);
        twin_put_int(&at->batch, (uint32_t)me->tid);
        twin_put_release(&at->life, (f & TWIN_HIGH) | BBF_L_CLOSED | BBF_L_STICKY);
        me->closed++;
        uint64_t key = twin_run_key(twin_charged_at(path, f), twin_get(&at->refs));
        uint64_t run = twin_get(&at->run);
        if ((run ^ key) >> 16 == 0 && (run & BBF_L_RUN_FULL) != BBF_L_RUN_FULL)
            twin_put(&at->run, run + 1);
        else
            twin_pass_run(me, &at->run, key);
    } else {
        twin_release_slow(me, f);
    }
}

/* ---- counts ---- */

static inline void twin_change_bucket(struct twin_thread *me, uint64_t f, uint32_t bucket)
{
    struct bbf_record *at = twin_record(me, f);
    uint64_t path = twin_get(&at->path);
    if ((path ^ f) >> 32 == 0 && (uint32_t)path > BBF_L_NODE_BEFORE_RESET)
        twin_cas(&at->path, path,
                 (f & TWIN_HIGH) | bbf_node_bucket(me->w->t, (uint32_t)path, bucket));
}

static inline int twin_clamp(int low, int value, int high)
{
    return value < low ? low : value > high ? high : value;
}

/* By CAS: a late store would take the next life's memory kind and class away. */
static inline bool twin_set_refs(struct twin_thread *me, _Atomic uint64_t *word, uint64_t refs,
                                 uint64_t value)
{
    if (MUTANT != MUTANT_PLAIN_REFS)
        return twin_cas(word, refs, value);
    twin_hole(me);
    twin_put(word, value);
    return true;
}

static inline void twin_refs(struct twin_thread *me, struct twin_object *o, int delta)
{
    if (twin_has_none(me, o))
        return;
    TWIN_POINT(me);
    uint64_t f = twin_get(&o->bbf);
    struct bbf_record *at = twin_record(me, f);
    uint64_t refs;
    int count, next;
    if (twin_is_shut(me) || (me->w->windows && !twin_is_open(me, f)))
        return;
    do {
        refs = twin_get(&at->refs);
        if ((refs ^ f) >> 32 != 0)
            return;
        count = (int)refs & BBF_L_REFS_COUNT;
        next = twin_clamp(1, count + delta, BBF_L_REFS_COUNT);
        TWIN_POINT(me);
    } while (!twin_set_refs(me, &at->refs, refs, refs + (uint64_t)(int64_t)(next - count)));
    uint32_t was = (uint32_t)TWIN_BUCKETS >> 2 * twin_clamp(0, count, 6) & 3;
    uint32_t is = (uint32_t)TWIN_BUCKETS >> 2 * twin_clamp(0, next, 6) & 3;
    if (was != is)
        twin_change_bucket(me, f, is);
}

/* ---- steps (design.md: step) ---- */

static inline void twin_step(struct twin_thread *me, struct twin_object *o, uint32_t site);

static inline uint32_t twin_overflow_child(struct twin_thread *me, uint32_t node, uint32_t site)
{
    struct bbf_tracker *t = me->w->t;
    uint64_t x = (uint64_t)node << 32 | site;
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    _Atomic uint32_t *table = (_Atomic uint32_t *)(void *)t->overflow.base +
                              ((size_t)(node >> BBF_L_ARENA_SHIFT) << BBF_L_OVERFLOW_BITS);
    for (uint32_t probes = 0; probes < 1u << BBF_L_OVERFLOW_BITS; probes++, x++) {
        uint32_t id = atomic_load(&table[x & ((1u << BBF_L_OVERFLOW_BITS) - 1)]);
        if (id == 0)
            return 0;
        struct bbf_node *n = bbf_node_at(t, id);
        uint32_t flags = twin_get_int(&n->flags);
        uint32_t other = twin_get_int(&bbf_node_at(t, node)->flags);
        bool same_bucket = ((flags ^ other) >> BBF_L_FLAG_BUCKET_SHIFT & 3) == 0;
        if (twin_get_int(&n->parent) == node && twin_get_int(&n->site) == site &&
            ((flags & BBF_L_FLAG_ALIAS) != 0 || same_bucket))
            return (flags & BBF_L_FLAG_ALIAS) != 0 ? (uint32_t)twin_get(&n->child[0]) : id;
    }
    return 0;
}

static inline uint32_t twin_child_of(struct twin_thread *me, uint32_t node, uint32_t site)
{
    struct bbf_node *n = bbf_node_at(me->w->t, node);
    for (int i = 0; i < BBF_L_INLINE_CHILDREN; i++) {
        uint64_t word = twin_get_volatile(&n->child[i]);
        if (word == 0)
            break;
        if ((uint32_t)(word >> 32) == site)
            return (uint32_t)word;
    }
    uint32_t flags = twin_get_int(&n->flags);
    if ((flags & (BBF_L_FLAG_NO_STEPS | BBF_L_FLAG_FULL)) == 0 &&
        (twin_flags(me) & BBF_L_SHARED_NODES_FULL) == 0)
        return bbf_node_child(me->w->t, node, site);
    uint32_t known = (flags & BBF_L_FLAG_NO_STEPS) == 0 ? twin_overflow_child(me, node, site) : 0;
    if (known == 0 && node > BBF_L_NODE_BEFORE_RESET && n->site != BBF_L_SITE_GAP)
        twin_count(me, BBF_L_TALLY_DROPPED_STEPS);
    return known != 0 ? known : node;
}

static inline bool twin_in_force(struct twin_thread *me, uint64_t f)
{
    return f == BBF_HANDLE_IGN || f == BBF_HANDLE_NEVER || (f != 0 && twin_is_open(me, f));
}

static inline void twin_first_sight(struct twin_thread *me, struct twin_object *o, uint32_t site)
{
    struct twin_object *owner = o;
    if ((o->kind & BBF_L_KIND_VIEW) != 0 && (owner = twin_owner_of(o)) == NULL) {
        twin_cas(&o->bbf, 0, BBF_HANDLE_IGN);
        return;
    }
    uint64_t f = twin_get_volatile(&owner->bbf);
    if (twin_is_fresh(f))
        f = twin_open_first(me, owner);
    if (owner != o && twin_in_force(me, f))
        twin_put(&o->bbf, f);
    if (f != BBF_HANDLE_IGN && f != BBF_HANDLE_NEVER && twin_is_open(me, f))
        twin_step(me, o, site);
}

/* The handle in force: a view's owner may have been recycled under it. */
static inline uint64_t twin_current(struct twin_thread *me, struct twin_object *o)
{
    uint64_t f = twin_get(&o->bbf);
    if (twin_in_force(me, f))
        return f;
    struct twin_object *owner = twin_owner_of(o);
    if (owner == NULL || owner == o)
        return twin_is_fresh(f) ? 0 : f;
    uint64_t h = twin_get(&owner->bbf);
    if (h != f && twin_in_force(me, h)) /* see twin_wrap() */
        twin_put(&o->bbf, h);
    return twin_is_fresh(h) ? 0 : h;
}

static inline void twin_step_miss(struct twin_thread *me, struct twin_object *o, uint64_t f,
                                  uint32_t site)
{
    if (twin_is_fresh(f)) {
        twin_first_sight(me, o, site);
        return;
    }
    struct bbf_record *at = twin_record(me, f);
    uint64_t path = twin_get(&at->path);
    TWIN_POINT(me);
    uint64_t life = twin_get_volatile(&at->life);
    if ((path ^ f) >> 32 != 0) {
        if ((life ^ f) >> 32 == 0) {
            if ((life & BBF_L_STATE) ==
                BBF_L_OPEN) { /* a late store of the life before (design.md: late step) */
                twin_put(&at->path, (f & TWIN_HIGH) | BBF_L_NODE_RACED);
                twin_count(me, BBF_L_TALLY_RACED_STEPS);
            }
            return;
        }
        uint64_t h = twin_current(me, o);
        if (h != f && h != 0 && twin_is_open(me, h))
            twin_step(me, o, site);
        return;
    }
    if ((life & BBF_L_STATE) == BBF_L_OPEN) {
        uint32_t next = twin_child_of(me, (uint32_t)path, site);
        TWIN_POINT(me);
        if (next != (uint32_t)path)
            twin_put(&at->path, (f & TWIN_HIGH) | next);
    }
}

static inline void twin_step_slow(struct twin_thread *me, struct twin_object *o, uint64_t f,
                                  uint32_t site)
{
    struct bbf_record *at = twin_record(me, f);
    uint64_t path = twin_get(&at->path);
    struct bbf_node *node = bbf_node_at(me->w->t, (uint32_t)path);
    if ((path ^ f) >> 32 == 0) {
        if ((uint32_t)path == BBF_L_NODE_NONE)
            return;
        for (int i = 1; i < BBF_L_INLINE_CHILDREN; i++) {
            uint64_t word = twin_get(&node->child[i]);
            if ((uint32_t)(word >> 32) == site && word != 0) {
                TWIN_POINT(me);
                twin_put(&at->path, (f & TWIN_HIGH) | (uint32_t)word);
                return;
            }
        }
    } else if (f == BBF_HANDLE_IGN || f == BBF_HANDLE_NEVER) {
        return;
    }
    twin_step_miss(me, o, f, site);
}

static inline void twin_step(struct twin_thread *me, struct twin_object *o, uint32_t site)
{
    me->missed = twin_is_shut(me);
    if (me->missed)
        return;
    uint64_t f = twin_get(&o->bbf);
    struct bbf_record *at = twin_record(me, f);
    uint64_t path = twin_get(&at->path);
    TWIN_POINT(me);
    if ((uint32_t)path == BBF_L_NODE_NONE) {
        if (path != (f & TWIN_HIGH))
            twin_step_slow(me, o, f, site);
        return;
    }
    uint64_t child = twin_get(&bbf_node_at(me->w->t, (uint32_t)path)->child[0]) ^ (uint64_t)site
                                                                                      << 32;
    uint64_t differs = MUTANT == MUTANT_STEP_GENERATION ? child : (path ^ f) | child;
    TWIN_POINT(me);
    if (differs >> 32 == 0)
        twin_put(&at->path, (f & TWIN_HIGH) | (uint32_t)child);
    else
        twin_step_slow(me, o, f, site);
}

/* ---- views, wrappers, derived buffers (design.md: lives) ---- */

/* With windows the first step that meets a view gives it its handle (docs/adr/0075). */
static inline void twin_alias(struct twin_thread *me, struct twin_object *view,
                              struct twin_object *owner)
{
    if (!me->w->windows)
        twin_put(&view->bbf, twin_get(&owner->bbf));
}

/* A leak-aware wrapper is built before its buffer's root hook, which meets the wrapper in its
 * place: it does not take the handle of the buffer's last life. */
static inline void twin_wrap(struct twin_thread *me, struct twin_object *view,
                             struct twin_object *owner)
{
    if (me->w->windows)
        return;
    uint64_t f = twin_get(&owner->bbf);
    twin_put(&view->bbf, MUTANT == MUTANT_WRAP_COPIES || twin_in_force(me, f) ? f : 0);
}

static inline void twin_never(struct twin_object *o)
{
    twin_put(&o->bbf, BBF_HANDLE_NEVER);
}

static inline void twin_unreleasable(struct twin_thread *me, struct twin_object *wrapper,
                                     struct twin_object *owner)
{
    uint64_t f = twin_current(me, owner);
    struct bbf_record *at = twin_record(me, f);
    uint64_t refs = twin_get(&at->refs);
    if (f != 0 && twin_is_open(me, f) && (refs ^ f) >> 32 == 0)
        twin_put(&at->refs, refs | (uint64_t)BBF_L_MEM_STATIC << BBF_L_MEM_SHIFT);
    twin_put(&wrapper->bbf, BBF_HANDLE_NEVER);
}

static inline uint32_t twin_derived_key(struct twin_thread *me, uint32_t parent, uint32_t site)
{
    uint32_t flags = twin_get_int(&bbf_node_at(me->w->t, parent)->flags);
    bool one = (flags >> BBF_L_FLAG_BUCKET_SHIFT & 3) == BBF_REF_1_2;
    return one ? site : (BBF_REF_1_2 + 1) << BBF_L_KEY_BUCKET_SHIFT | site;
}

static inline void twin_derive(struct twin_thread *me, struct twin_object *o,
                               struct twin_object *parent, uint32_t site)
{
    if (twin_gate(me, (uint32_t)BBF_L_SLOW_IDLE | BBF_L_SLOW_FREEZING) || twin_paused(me))
        return;
    uint64_t pf = twin_current(me, parent), f = twin_get(&o->bbf);
    if (me->w->windows && (twin_is_fresh(pf) || pf == BBF_HANDLE_IGN || pf == BBF_HANDLE_NEVER))
        return; /* what it is derived from is not followed */
    if (pf == BBF_HANDLE_IGN || pf == BBF_HANDLE_NEVER || twin_is_skipped(me, pf)) {
        twin_skip(me, o, f);
        return;
    }
    uint32_t node, mem = (uint32_t)(o->kind >> BBF_L_KIND_MEM_SHIFT) & BBF_L_MEM_KIND;
    if (pf != 0 && twin_is_open(me, pf)) {
        struct bbf_record *at = twin_record(me, pf);
        node = twin_charged_at(twin_position(me, at, pf), pf);
        if (node > BBF_L_NODE_BEFORE_RESET)
            node = twin_child_of(me, node, twin_derived_key(me, node, site));
        mem = (uint32_t)(twin_get(&at->refs) >> BBF_L_MEM_SHIFT) & BBF_L_MEM_KIND;
    } else if (pf != 0) {
        return; /* released: the buffer never comes to be */
    } else {
        node = twin_root_node(me, site, mem);
        if (node <= BBF_L_NODE_BEFORE_RESET) {
            twin_skip(me, o, f);
            return;
        }
    }
    uint32_t refs = twin_refs_of(o->kind, mem);
    if (f != 0 && f != BBF_HANDLE_IGN && twin_is_open(me, f))
        twin_give_way(me, f);
    if (f == 0 || f == BBF_HANDLE_IGN || !twin_reopen(me, o, f, node, refs, 0, pf)) {
        uint64_t h = twin_open(me, o, node, refs, 0, pf, f != 0 ? BBF_L_STICKY : 0);
        if (h == BBF_HANDLE_IGN)
            twin_count(me, BBF_L_TALLY_DROPPED_LIVES);
        twin_put(&o->bbf, h);
    }
    twin_store_fence();
    twin_recheck(me, twin_get(&o->bbf));
}

/* ---- components of composites ---- */

static inline void twin_adopt(struct twin_thread *me, struct twin_object *composite,
                              struct twin_object *component)
{
    enum { MASK = (1 << BBF_L_OWNER_GENERATION_BITS) - 1 };
    uint64_t c = twin_current(me, component), k = twin_current(me, composite);
    if (c == 0 || k == 0 || c == k || !twin_is_open(me, c) || !twin_is_open(me, k))
        return;
    uint64_t word = (c >> 32 & MASK) << BBF_L_OWNER_GENERATION_BITS | (k >> 32 & MASK);
    word = word << BBF_L_OWNER_RECORD_BITS | (k & ((1 << BBF_L_OWNER_RECORD_BITS) - 1));
    twin_put(&bbf_extra_at(me->w->t, (uint32_t)c)->owner, word);
}

#endif
