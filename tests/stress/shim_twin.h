/*
 * tests/stress/shim_twin.h - java.lang.BBFlowShim in C: the application's half of design D12, line
 * by line as the Java has it, so that TSan, ASan and mutations can work on the whole protocol. The
 * agent's half is the real one, trie/lives.c. Change the shim and this together.
 *
 * Orders: plain Unsafe accesses are relaxed; putLongRelease is a release; getLongVolatile,
 * compareAndSet and getAndAdd are sequentially consistent. What is left out: `mixed`, catch blocks
 * and holders, which read and write no shared word.
 *
 * MUTANT=n breaks one rule of D12 (tests/stress/mutants.sh); TWIN_POINT() widens every window a
 * bit.
 */
#ifndef BBF_TESTS_STRESS_SHIM_TWIN_H
#define BBF_TESTS_STRESS_SHIM_TWIN_H

#include <sched.h>

#include "tests/stress/heap_twin.h"
#include "trie/aged.h"
#include "trie/map.h"

#ifndef MUTANT
#define MUTANT 0
#endif
enum twin_mutant {
    MUTANT_STEP_GENERATION = 1, /* D12.5: a step does not ask whose path it moves */
    MUTANT_LIFE_BEFORE_SLOT,    /* D12.4 */
    MUTANT_PLAIN_CLOSE,         /* D12.6: no CAS where the life is not sticky */
    MUTANT_IGNORE_CONV,         /* D12.6: a converted record is freed by its closer */
    MUTANT_PATH_AFTER_CAS,      /* D12.6 */
    MUTANT_SHARED_STRIPE,       /* D7: two threads own one stripe */
    MUTANT_CLOSE_GENERATION,    /* D12.6: a close does not ask whose life it ends */
    MUTANT_PLAIN_REFS,          /* docs/adr/0006: the count is stored, not exchanged */
    /* Map mode (tests/stress/map_twin.h). */
    MUTANT_OWN_BY_STORE,    /* a first sight is made a root's by a store */
    MUTANT_PASSED_OVER,     /* an entry that commits while it is looked at is passed over */
    MUTANT_NOT_PENDING,     /* an entry is put without being pending first */
    MUTANT_NOT_ALIVE_AGAIN, /* a first sight does not ask again whether the buffer is alive */
    MUTANT_ENTRY_STAYS,     /* a release leaves the entry of its life */
    /* The agent's at a stop (D12.11), in stress_map.c. */
    MUTANT_NOT_MARKED, /* what is open is not marked */
    MUTANT_NOT_TOLD,   /* a first sight does not know that the hooks were away */
    MUTANT_NOT_PAUSED  /* what was opened before its release is hooked is a life */
};

/* The static half of the shim. */
struct twin {
    struct bbf_tracker *t;
    struct heap_twin *heap;
    uint32_t first_site; /* of every "?first-seen Class" */
    uint32_t widen;      /* yield at one in so many points, 0 = never */
};

/* One application thread. */
struct twin_thread {
    struct twin *w;
    uint64_t tid, random, draws;
    uint64_t opened, closed, undone, unknown; /* what this thread won */
};

static inline uint32_t twin_random(struct twin_thread *me)
{
    /* xorshift64*, Vigna 2014 */
    me->random ^= me->random >> 12;
    me->random ^= me->random << 25;
    me->random ^= me->random >> 27;
    return (uint32_t)((me->random * UINT64_C(2685821657736338717)) >> 32);
}

/* Between two accesses of shared words. */
static inline void TWIN_POINT(struct twin_thread *me)
{
    if (me->w->widen != 0 && twin_random(me) % me->w->widen == 0)
        sched_yield();
}

/* Where a mutant has its hole. */
static inline void twin_hole(struct twin_thread *me)
{
    if (MUTANT != 0 && twin_random(me) % 16 == 0)
        sched_yield();
}

#define TWIN_LOW        UINT64_C(0xffffffff)
#define TWIN_HIGH       (~TWIN_LOW)
#define TWIN_GENERATION (UINT64_C(1) << 32)
#define TWIN_BUCKETS    (1 << 2 | 1 << 4 | 2 << 6 | 2 << 8 | 2 << 10 | 3 << 12)

static inline uint64_t twin_get(_Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}
static inline void twin_put(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}
static inline void twin_put_release(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}
static inline uint64_t twin_get_volatile(_Atomic uint64_t *word)
{
    return atomic_load(word);
}
static inline bool twin_cas(_Atomic uint64_t *word, uint64_t expected, uint64_t value)
{
    return atomic_compare_exchange_strong(word, &expected, value);
}
static inline uint32_t twin_get_int(_Atomic uint32_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}
static inline void twin_put_int(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}
static inline void twin_store_fence(void)
{
#ifndef __SANITIZE_THREAD__ /* TSan knows no fences; nothing but atomics is published by it */
    atomic_thread_fence(memory_order_release);
#endif
}

static inline struct bbf_record *twin_record(struct twin_thread *me, uint64_t handle)
{
    return bbf_record_at(me->w->t, (uint32_t)(handle & 0xffffff));
}
static inline uint32_t twin_flags(struct twin_thread *me)
{
    return twin_get_int(bbf_shared_int(me->w->t, BBF_L_SHARED_FLAGS));
}

/* Hooks come or go: nothing is opened. */
static inline bool twin_paused(struct twin_thread *me)
{
    return (twin_flags(me) & BBF_L_SHARED_PAUSED) != 0;
}

/* ---- stripes ---- */

static inline struct bbf_stripe *twin_claim(struct twin_thread *me)
{
    struct bbf_stripe *stripes = me->w->t->stripes;
    struct bbf_stripe *first = &stripes[me->tid & (BBF_L_STRIPES - 1)];
    if (twin_cas(&first->owner, 0, me->tid))
        return first;
    struct bbf_stripe *other = &stripes[(me->tid * UINT64_C(0x9E3779B97F4A7C15)) >> 54];
    uint64_t owner = twin_get_volatile(&other->owner);
    if (owner == me->tid || (owner == 0 && twin_cas(&other->owner, 0, me->tid)))
        return other;
    return NULL;
}

static inline struct bbf_stripe *twin_stripe(struct twin_thread *me)
{
    struct bbf_stripe *stripe = &me->w->t->stripes[me->tid & (BBF_L_STRIPES - 1)];
    if (MUTANT == MUTANT_SHARED_STRIPE)
        return &me->w->t->stripes[me->tid & 1];
    return twin_get(&stripe->owner) == me->tid ? stripe : twin_claim(me);
}

static inline void twin_tally(struct twin_thread *me, int which)
{
    struct bbf_stripe *stripe = twin_stripe(me);
    if (stripe != NULL)
        twin_put(&stripe->tally[which], twin_get(&stripe->tally[which]) + 1);
    else
        atomic_fetch_add(bbf_shared_long(me->w->t, BBF_L_SHARED_TALLY + 8 * which), 1);
}

/* ---- free records ---- */

static inline uint32_t twin_refill(struct twin_thread *me, struct bbf_stripe *stripe)
{
    _Atomic uint64_t *stack = bbf_shared_long(me->w->t, BBF_L_SHARED_FREE);
    uint64_t top;
    uint32_t head;
    do {
        top = twin_get_volatile(stack);
        head = (uint32_t)top;
        if (head == 0)
            break;
        TWIN_POINT(me);
    } while (!twin_cas(stack, top,
                       BBF_WORD((top >> 32) + 1, twin_get_int(&twin_record(me, head)->batch))));
    if (head == 0 && (head = bbf_record_bump(me->w->t)) == 0)
        return 0;
    uint32_t count = 0;
    for (uint32_t r = head; r != 0; r = twin_get_int(&twin_record(me, r)->next))
        count++;
    twin_put_int(&stripe->count, count);
    return head;
}

static inline void twin_spill(struct twin_thread *me, struct bbf_stripe *stripe)
{
    uint32_t head = twin_get_int(&stripe->head), last = head;
    for (int i = 1; i < BBF_L_BATCH; i++)
        last = twin_get_int(&twin_record(me, last)->next);
    twin_put_int(&stripe->head, twin_get_int(&twin_record(me, last)->next));
    twin_put_int(&stripe->count, twin_get_int(&stripe->count) - BBF_L_BATCH);
    twin_put_int(&twin_record(me, last)->next, 0);
    bbf_record_push(me->w->t, head);
}

/* The winner of a close without CONV and STICKY owns the record. */
static inline void twin_give_back(struct twin_thread *me, uint32_t record,
                                  struct bbf_stripe *stripe)
{
    struct bbf_record *at = twin_record(me, record);
    twin_set_slot(me->w->heap, record, NULL);
    TWIN_POINT(me);
    if (stripe == NULL) {
        twin_put_int(&at->next, 0);
        bbf_record_push(me->w->t, record);
        return;
    }
    uint32_t head = twin_get_int(&stripe->head);
    if (MUTANT == MUTANT_SHARED_STRIPE)
        twin_hole(me);
    twin_put_int(&at->next, head);
    twin_put_int(&stripe->head, record);
    uint32_t count = twin_get_int(&stripe->count) + 1;
    twin_put_int(&stripe->count, count);
    if (count > BBF_L_SPILL_ABOVE)
        twin_spill(me, stripe);
}

/* ---- open (D12.4) ---- */

static inline void twin_begin(struct twin_thread *me, struct bbf_record *at, uint64_t g,
                              uint32_t node, uint32_t refs, uint32_t size, uint64_t parent,
                              uint32_t state)
{
    twin_put(&at->path, g | node);
    TWIN_POINT(me);
    twin_put(&at->refs, g | refs);
    twin_put(&at->size, g | size);
    twin_put(&at->parent, parent);
    twin_put_int(&at->next, twin_get_int(bbf_shared_int(me->w->t, BBF_L_SHARED_NOW)));
    /* In map mode the entry's place follows. */
    twin_put_int(&at->batch, (state & BBF_L_MAPPED) != 0 ? 0 : (uint32_t)me->tid);
    TWIN_POINT(me);
    twin_put_release(&at->life, g | state);
    me->opened++;
}

/* A free record, 0 at the limit. */
static inline uint32_t twin_take(struct twin_thread *me)
{
    struct bbf_stripe *stripe = twin_stripe(me);
    uint32_t record;
    if (stripe == NULL) {
        record = bbf_record_pop(me->w->t);
    } else {
        record = twin_get_int(&stripe->head);
        if (record == 0 && (record = twin_refill(me, stripe)) == 0)
            return 0;
        if (MUTANT == MUTANT_SHARED_STRIPE)
            twin_hole(me);
        twin_put_int(&stripe->head, twin_get_int(&twin_record(me, record)->next));
        twin_put_int(&stripe->count, twin_get_int(&stripe->count) - 1);
    }
    return record;
}

static inline uint64_t twin_open(struct twin_thread *me, struct twin_object *o, uint32_t node,
                                 uint32_t refs, uint32_t size, uint64_t parent, uint32_t flags)
{
    uint32_t record = twin_take(me);
    if (record == 0)
        return BBF_HANDLE_IGN; /* the caller counts */
    if (MUTANT != MUTANT_LIFE_BEFORE_SLOT)
        twin_set_slot(me->w->heap, record, o);
    TWIN_POINT(me);
    struct bbf_record *at = twin_record(me, record);
    uint64_t g = (twin_get(&at->life) & TWIN_HIGH) + TWIN_GENERATION;
    twin_begin(me, at, g, node, refs, size, parent, BBF_L_OPEN | flags);
    if (MUTANT == MUTANT_LIFE_BEFORE_SLOT) {
        twin_hole(me);
        twin_set_slot(me->w->heap, record, o);
    }
    TWIN_POINT(me);
    return g | record;
}

static inline uint32_t twin_refs_of(uint64_t kind, uint32_t mem)
{
    return mem << BBF_L_MEM_SHIFT | (uint32_t)(kind & BBF_L_KIND_CLASS) << BBF_L_CLASS_SHIFT | 1;
}

static inline uint32_t twin_charged_at(uint64_t path, uint64_t handle)
{
    return (path ^ handle) >> 32 == 0 && (uint32_t)path != 0 ? (uint32_t)path : BBF_L_NODE_RACED;
}

static inline bool twin_is_open(struct twin_thread *me, uint64_t f)
{
    uint64_t life = twin_get(&twin_record(me, f)->life);
    return (life ^ f) >> 32 == 0 && (life & BBF_L_STATE) == BBF_L_OPEN;
}

/* The life word of the end: what was marked at a stop is not the next life's. */
static inline uint64_t twin_closed(uint64_t life)
{
    return (life ^ (BBF_L_OPEN ^ BBF_L_CLOSED)) & ~(uint64_t)(BBF_L_STOPPED | BBF_L_SEEN);
}

/* BBFlowMap.remove(): the entry goes before the record can be another's life's. */
static inline void twin_map_remove(struct twin_thread *me, uint32_t place, uint64_t h)
{
    const uint64_t key = (UINT64_C(1) << BBF_L_MAP_TAG_SHIFT) - 1;
    _Atomic uint64_t *at = (_Atomic uint64_t *)(void *)me->w->t->map.base + place;
    if (place == 0)
        return;
    uint64_t e = twin_get_volatile(at);
    TWIN_POINT(me);
    if ((e & key) == ((h >> 32) << BBF_L_MAP_GENERATION_SHIFT | (h & 0xffffff)))
        twin_cas(at, e, 0);
}

static inline bool twin_end_by(struct twin_thread *me, uint64_t handle, bool unknown)
{
    struct bbf_record *at = twin_record(me, handle);
    uint64_t path = twin_get(&at->path), life;
    uint32_t place = twin_get_int(&at->batch);
    twin_put(&at->path, handle & TWIN_HIGH);
    do {
        TWIN_POINT(me);
        life = twin_get_volatile(&at->life);
        if ((life ^ handle) >> 32 != 0 || (life & BBF_L_STATE) != BBF_L_OPEN)
            return false;
    } while (!twin_cas(&at->life, life, twin_closed(life)));
    if ((life & BBF_L_MAPPED) != 0)
        twin_map_remove(me, place, handle);
    if (unknown) {
        bbf_node_unknown(me->w->t, twin_charged_at(path, handle));
        me->unknown++;
    }
    if ((life & BBF_L_STICKY) != 0)
        twin_put_int(&at->batch, 0);
    if ((life & (BBF_L_CONV | BBF_L_STICKY)) == 0) {
        twin_set_slot(me->w->heap, (uint32_t)handle, NULL);
        twin_put_int(&at->next, 0);
        bbf_record_push(me->w->t, (uint32_t)handle);
    }
    return true;
}

static inline void twin_undo(struct twin_thread *me, uint64_t handle)
{
    if (!twin_end_by(me, handle, false))
        return; /* in map mode another thread may have released it meanwhile */
    atomic_fetch_add(bbf_shared_long(me->w->t, BBF_L_SHARED_UNDONE), 1);
    me->undone++;
}

/* ---- roots ---- */

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

static inline bool twin_is_first_seen(struct twin_thread *me, uint64_t f);

/* True for the handle of a recycled object: its record is ours alone, as at a reopen. */
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

static inline void twin_skip(struct twin_thread *me, struct twin_object *o, uint64_t f)
{
    if (f == 0 && !twin_cas(&o->bbf, 0, BBF_HANDLE_IGN)) {
        f = twin_get_volatile(&o->bbf);
        if (twin_is_open(me, f) && twin_is_first_seen(me, f))
            twin_undo(me, f);
    }
    TWIN_POINT(me);
    if (f != 0 && f != BBF_HANDLE_IGN && f != BBF_HANDLE_NEVER && twin_is_open(me, f))
        twin_end_by(me, f, true);
    if (!twin_pass_over(me, f))
        twin_put(&o->bbf, BBF_HANDLE_IGN);
}

static inline bool twin_is_skipped(struct twin_thread *me, uint64_t f)
{
    return twin_get(&twin_record(me, f)->life) ==
           ((f & TWIN_HIGH) | BBF_L_CLOSED | BBF_L_STICKY | BBF_L_SKIPPED);
}

static inline bool twin_is_first_seen(struct twin_thread *me, uint64_t f)
{
    uint64_t refs = twin_get(&twin_record(me, f)->refs);
    return (refs ^ f) >> 32 == 0 && (refs >> BBF_L_MEM_SHIFT & BBF_L_MEM_FIRST_SEEN) != 0;
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
    twin_put(&o->bbf, g | (f & TWIN_LOW));
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
    bool sticky = f != 0;
    if (f != 0 && f != BBF_HANDLE_IGN && twin_is_open(me, f)) {
        if (node > BBF_L_NODE_BEFORE_RESET && twin_rename(me, f, node, mem, size))
            return;
        if (node <= BBF_L_NODE_BEFORE_RESET && twin_is_first_seen(me, f))
            twin_undo(me, f);
        else
            twin_end_by(me, f, true);
    }
    if (node <= BBF_L_NODE_BEFORE_RESET) {
        if (node != BBF_L_NODE_IGNORE && (meta & BBF_L_META_SITE) != BBF_L_SITE_FRESH)
            twin_tally(me, BBF_L_TALLY_DROPPED_LIVES);
        twin_skip(me, o, f);
        return;
    }
    uint32_t refs = twin_refs_of(kind, mem);
    if (sticky && f != BBF_HANDLE_IGN && twin_reopen(me, o, f, node, refs, size, 0))
        return;
    uint64_t h = twin_open(me, o, node, refs, size, 0, sticky ? BBF_L_STICKY : 0);
    if (h == BBF_HANDLE_IGN && (meta & BBF_L_META_SITE) != BBF_L_SITE_FRESH)
        twin_tally(me, BBF_L_TALLY_DROPPED_LIVES);
    if (sticky) {
        twin_put(&o->bbf, h);
    } else if (!twin_cas(&o->bbf, 0, h)) {
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
    if ((meta & BBF_L_META_SITE) == BBF_L_SITE_FRESH && twin_is_sampled(me)) {
        (void)twin_pass_over(me, twin_get(&o->bbf));
        return;
    }
    /* The root of a life that fresh() opened: the handle suffices. */
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
}

/* At the exit of an allocator. meta = site | memory << 16. */
static inline void twin_root(struct twin_thread *me, struct twin_object *o, uint32_t size,
                             uint32_t meta)
{
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
        twin_put(&o->bbf, g | (f & TWIN_LOW));
        twin_store_fence();
    } else {
        twin_root_slow(me, o, size, meta, false);
    }
}

static inline void twin_root_keep(struct twin_thread *me, struct twin_object *o, uint32_t size,
                                  uint32_t meta)
{
    twin_root_slow(me, o, size, meta, true);
}

static inline void twin_fresh(struct twin_thread *me, struct twin_object *o)
{
    twin_root(me, o, 0, BBF_L_SITE_FRESH | (uint32_t)BBF_L_MEM_FIRST_SEEN << BBF_L_META_MEM_SHIFT);
}

/* ---- close (D12.6) ---- */

static inline uint64_t twin_run_key(uint32_t node, uint64_t refs)
{
    return (uint64_t)node << 32 | (refs >> BBF_L_CLASS_SHIFT & BBF_L_CLASS_MASK) << 16;
}

static inline void twin_new_run(struct twin_thread *me, _Atomic uint64_t *word, uint64_t key)
{
    uint64_t run = twin_get(word);
    twin_put(word, key | 1);
    TWIN_POINT(me);
    if (run != 0)
        bbf_node_released(me->w->t, (uint32_t)(run >> 32), (uint32_t)(run >> 16) & 0xffff,
                          run & BBF_L_RUN_FULL);
}

/* Rare: the second is another than the one of the open. */
static inline void twin_tell_age(struct twin_thread *me, uint32_t node, uint32_t opened)
{
    uint32_t now = twin_get_int(bbf_shared_int(me->w->t, BBF_L_SHARED_NOW));
    if ((int32_t)(now - opened) > 0)
        bbf_aged_lasted(me->w->t, node, now - opened);
}

static inline void twin_count_run(struct twin_thread *me, _Atomic uint64_t *word, uint64_t key)
{
    uint64_t run = twin_get(word);
    if ((run ^ key) >> 16 == 0 && (run & BBF_L_RUN_FULL) != BBF_L_RUN_FULL)
        twin_put(word, run + 1);
    else
        twin_new_run(me, word, key);
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
    uint32_t next = twin_get_int(&stripe->next_ended), at = next & (BBF_L_ENDED_SLOTS - 1);
    twin_put_int(&stripe->next_ended, next + 1);
    twin_put(&stripe->ended[at].handle, 0);
    twin_put_release(&stripe->ended[at].where, (uint64_t)node << 32 | (uint32_t)me->tid);
    twin_put_release(&stripe->ended[at].handle, f);
}

static inline void twin_release_slow(struct twin_thread *me, uint64_t f)
{
    if (f == 0 || f == BBF_HANDLE_IGN || f == BBF_HANDLE_NEVER)
        return;
    struct bbf_record *at = twin_record(me, f);
    uint64_t path = twin_get(&at->path), refs = twin_get(&at->refs);
    uint32_t opened = twin_get_int(&at->next);
    TWIN_POINT(me);
    uint64_t life = twin_get_volatile(&at->life);
    if ((MUTANT != MUTANT_CLOSE_GENERATION && (life ^ f) >> 32 != 0) ||
        (life & BBF_L_STATE) != BBF_L_OPEN)
        return;
    uint32_t place = twin_get_int(&at->batch);
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
    twin_tell_age(me, (uint32_t)(key >> 32), opened);
    if ((life & BBF_L_STOPPED) != 0) { /* it may have been released and taken again unseen */
        bbf_node_unknown(me->w->t, (uint32_t)(key >> 32));
        me->unknown++;
        return;
    }
    me->closed++;
    if (stripe == NULL)
        bbf_node_released(me->w->t, (uint32_t)(key >> 32), (uint32_t)(key >> 16) & 0xffff, 1);
    else
        twin_count_run(me, &stripe->run[key >> 32 & (BBF_L_RUN_SLOTS - 1)], key);
}

static inline void twin_refs(struct twin_thread *me, struct twin_object *o, int delta);

/* At the entry of handleRelease: zero = the last count is gone. The caller holds o to the end. */
static inline void twin_release(struct twin_thread *me, struct twin_object *o, bool zero)
{
    if (!zero) {
        twin_refs(me, o, -1);
        return;
    }
    uint64_t f = twin_get(&o->bbf);
    struct bbf_record *at = twin_record(me, f);
    TWIN_POINT(me);
    if (twin_get(&at->life) == ((f & TWIN_HIGH) | BBF_L_OPEN | BBF_L_STICKY)) {
        uint64_t path = twin_get(&at->path);
        twin_tell_age(me, twin_charged_at(path, f), twin_get_int(&at->next));
        TWIN_POINT(me);
        twin_put(&at->path, f & TWIN_HIGH);
        TWIN_POINT(me);
        twin_put_int(&at->batch, (uint32_t)me->tid);
        twin_put_release(&at->life, (f & TWIN_HIGH) | BBF_L_CLOSED | BBF_L_STICKY);
        me->closed++;
        twin_count_run(me, &at->run, twin_run_key(twin_charged_at(path, f), twin_get(&at->refs)));
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
    uint64_t f = twin_get(&o->bbf);
    struct bbf_record *at = twin_record(me, f);
    uint64_t refs;
    int count, next;
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

/* ---- steps (D12.5) ---- */

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
    if (known == 0 && node > BBF_L_NODE_BEFORE_RESET)
        twin_tally(me, BBF_L_TALLY_DROPPED_STEPS);
    return known != 0 ? known : node;
}

static inline uint64_t twin_open_first(struct twin_thread *me, struct twin_object *o)
{
    uint32_t mem = (uint32_t)(o->kind >> BBF_L_KIND_MEM_SHIFT) & BBF_L_MEM_KIND;
    uint32_t flags = twin_flags(me), site = 0;
    if ((flags & BBF_L_SHARED_PAUSED) != 0)
        return 0;
    if ((o->kind & (BBF_L_KIND_OWNER | BBF_L_KIND_FOREIGN)) != 0 &&
        (flags & BBF_L_SHARED_OFF) == 0 && ((flags & BBF_L_SHARED_DIRECT_ONLY) == 0 || mem != 1))
        site = me->w->first_site;
    uint32_t node = site != 0 ? twin_root_node(me, site, mem | BBF_L_MEM_FIRST_SEEN) : 0;
    if (node <= BBF_L_NODE_BEFORE_RESET) {
        if (site != 0 && node != BBF_L_NODE_IGNORE)
            twin_tally(me, BBF_L_TALLY_DROPPED_LIVES);
        twin_cas(&o->bbf, 0, BBF_HANDLE_IGN);
        return twin_get_volatile(&o->bbf);
    }
    bool foreign = (o->kind & BBF_L_KIND_FOREIGN) != 0 || (flags & BBF_L_SHARED_UNSEEN) != 0;
    mem |= BBF_L_MEM_FIRST_SEEN | (foreign ? BBF_L_MEM_FOREIGN : 0);
    uint64_t h = twin_open(me, o, node, twin_refs_of(o->kind, mem), 0, 0, 0);
    if (h == BBF_HANDLE_IGN)
        twin_tally(me, BBF_L_TALLY_DROPPED_LIVES);
    if (twin_cas(&o->bbf, 0, h))
        return h;
    if (h != BBF_HANDLE_IGN)
        twin_undo(me, h);
    return twin_get_volatile(&o->bbf);
}

static inline void twin_first_sight(struct twin_thread *me, struct twin_object *o, uint32_t site)
{
    struct twin_object *owner = o;
    if ((o->kind & BBF_L_KIND_VIEW) != 0 && (owner = twin_owner_of(o)) == NULL) {
        twin_cas(&o->bbf, 0, BBF_HANDLE_IGN);
        return;
    }
    uint64_t f = twin_get_volatile(&owner->bbf);
    if (f == 0)
        f = twin_open_first(me, owner);
    if (owner != o)
        twin_put(&o->bbf, f);
    if (f != BBF_HANDLE_IGN && f != BBF_HANDLE_NEVER && twin_is_open(me, f))
        twin_step(me, o, site);
}

/* The handle in force: a view's owner may have been recycled under it. */
static inline uint64_t twin_current(struct twin_thread *me, struct twin_object *o)
{
    uint64_t f = twin_get(&o->bbf);
    if (f == BBF_HANDLE_IGN || f == BBF_HANDLE_NEVER || (f != 0 && twin_is_open(me, f)))
        return f;
    struct twin_object *owner = twin_owner_of(o);
    if (owner == NULL || owner == o)
        return f;
    uint64_t h = twin_get(&owner->bbf);
    if (h != f)
        twin_put(&o->bbf, h);
    return h;
}

static inline void twin_miss(struct twin_thread *me, struct twin_object *o, uint64_t f,
                             uint32_t site)
{
    if (f == 0) {
        twin_first_sight(me, o, site);
        return;
    }
    struct bbf_record *at = twin_record(me, f);
    uint64_t path = twin_get(&at->path);
    TWIN_POINT(me);
    uint64_t life = twin_get_volatile(&at->life);
    if ((path ^ f) >> 32 != 0) {
        if ((life ^ f) >> 32 == 0) {
            if ((life & BBF_L_STATE) == BBF_L_OPEN) { /* a late store of the life before (D12.7) */
                twin_put(&at->path, (f & TWIN_HIGH) | BBF_L_NODE_RACED);
                twin_tally(me, BBF_L_TALLY_RACED_STEPS);
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

static inline void twin_lean(struct twin_thread *me, struct twin_object *o, uint64_t f,
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
    twin_miss(me, o, f, site);
}

static inline void twin_step(struct twin_thread *me, struct twin_object *o, uint32_t site)
{
    uint64_t f = twin_get(&o->bbf);
    struct bbf_record *at = twin_record(me, f);
    uint64_t path = twin_get(&at->path);
    TWIN_POINT(me);
    uint64_t child = twin_get(&bbf_node_at(me->w->t, (uint32_t)path)->child[0]) ^ (uint64_t)site
                                                                                      << 32;
    uint64_t differs = MUTANT == MUTANT_STEP_GENERATION ? child : (path ^ f) | child;
    TWIN_POINT(me);
    if (differs >> 32 == 0)
        twin_put(&at->path, (f & TWIN_HIGH) | (uint32_t)child);
    else
        twin_lean(me, o, f, site);
}

/* ---- views, wrappers, derived buffers (D5) ---- */

static inline void twin_alias(struct twin_object *view, struct twin_object *owner)
{
    twin_put(&view->bbf, twin_get(&owner->bbf));
}

static inline void twin_never(struct twin_object *o)
{
    twin_put(&o->bbf, BBF_HANDLE_NEVER);
}

static inline void twin_unreleasable(struct twin_thread *me, struct twin_object *wrapper,
                                     struct twin_object *owner)
{
    uint64_t f = twin_get(&owner->bbf);
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
    if (twin_paused(me))
        return;
    uint64_t pf = twin_current(me, parent), f = twin_get(&o->bbf);
    if (pf == BBF_HANDLE_IGN || pf == BBF_HANDLE_NEVER || twin_is_skipped(me, pf)) {
        twin_skip(me, o, f);
        return;
    }
    uint32_t node, mem = (uint32_t)(o->kind >> BBF_L_KIND_MEM_SHIFT) & BBF_L_MEM_KIND;
    if (pf != 0 && twin_is_open(me, pf)) {
        struct bbf_record *at = twin_record(me, pf);
        node = twin_charged_at(twin_get(&at->path), pf);
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
        twin_end_by(me, f, true);
    if (f == 0 || f == BBF_HANDLE_IGN || !twin_reopen(me, o, f, node, refs, 0, pf)) {
        uint64_t h = twin_open(me, o, node, refs, 0, pf, f != 0 ? BBF_L_STICKY : 0);
        if (h == BBF_HANDLE_IGN)
            twin_tally(me, BBF_L_TALLY_DROPPED_LIVES);
        twin_put(&o->bbf, h);
    }
    twin_store_fence();
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
    twin_put(&bbf_after_at(me->w->t, (uint32_t)c)->owner, word);
}

#endif
