/*
 * tests/stress/records_twin.h - java.lang.BBFlowRecords in C, the ground of shim_twin.h: words,
 * stripes, free records, opening and ending a life, line by line as the Java has it. Change the
 * Java and this together.
 *
 * Orders: plain Unsafe accesses are relaxed; putLongRelease is a release; getLongVolatile,
 * compareAndSet and getAndAdd are sequentially consistent. Left out: `slowHooks()`, catch blocks
 * and holders, which read and write no shared word.
 *
 * MUTANT=n breaks one rule of design.md: memory safety (tests/long/mutate-twin); TWIN_POINT()
 * widens every window a bit.
 */
#ifndef BBF_TESTS_STRESS_RECORDS_TWIN_H
#define BBF_TESTS_STRESS_RECORDS_TWIN_H

#include <sched.h>

#include "tests/stress/heap_twin.h"
#include "trie/aged.h"
#include "trie/map.h"
#include "trie/node.h"
#include "trie/windows.h"

#ifndef MUTANT
#define MUTANT 0
#endif
enum twin_mutant {
    MUTANT_STEP_GENERATION = 1, /* design.md: step: a step does not ask whose path it moves */
    MUTANT_LIFE_BEFORE_SLOT,    /* design.md: open protocol */
    MUTANT_PLAIN_CLOSE,         /* design.md: close protocol: no CAS where the life is not sticky */
    MUTANT_IGNORE_CONV, /* design.md: close protocol: a converted record is freed by its closer */
    MUTANT_PATH_AFTER_CAS,   /* design.md: close protocol */
    MUTANT_SHARED_STRIPE,    /* design.md: garbage detection: two threads own one stripe */
    MUTANT_CLOSE_GENERATION, /* design.md: close protocol: a close does not ask whose life it ends
                              */
    MUTANT_PLAIN_REFS,       /* docs/adr/0006: the count is stored, not exchanged */
    /* Map mode (tests/stress/map_twin.h). */
    MUTANT_OWN_BY_STORE,    /* a first sight is made a root's by a store */
    MUTANT_PASSED_OVER,     /* an entry that commits while it is looked at is passed over */
    MUTANT_NOT_PENDING,     /* an entry is put without being pending first */
    MUTANT_NOT_ALIVE_AGAIN, /* a first sight does not ask again whether the buffer is alive */
    MUTANT_ENTRY_STAYS,     /* a release leaves the entry of its life */
    /* The agent's at a stop (design.md: stop), in stress_map.c. */
    MUTANT_NOT_MARKED, /* what is open is not marked */
    MUTANT_NOT_TOLD,   /* a first sight does not know that the hooks were away */
    MUTANT_NOT_PAUSED, /* what was opened before its release is hooked is a life */
    /* design.md: lives */
    MUTANT_WRAP_COPIES, /* a leak-aware wrapper takes the handle of its buffer's last life */
    MUTANT_AGAIN_OPEN,  /* a count that is set makes a new life of an open one, too */
    /* trie/windows.h */
    MUTANT_NO_RECHECK,    /* what opens a life late does not freeze it */
    MUTANT_RELEASE_GATED, /* no release is seen while the gate is shut */
    MUTANT_STRAY,         /* a step that was stored over the gap is believed */
    MUTANT_OVER_KEPT      /* the handle of the next life is marked as over, too */
};

/* The static half of the shim. */
struct twin {
    struct bbf_tracker *t;
    struct heap_twin *heap;
    uint32_t first_site; /* of every "?first-seen Class" */
    uint32_t widen;      /* yield at one in this number of points, 0 = never */
    bool windows;        /* lives are followed by windows: WINDOWS of the shim */
};

/* One application thread. */
struct twin_thread {
    struct twin *w;
    uint64_t tid, random, draws;
    uint64_t opened, closed, undone, unknown; /* what this thread won */
    int32_t written;                          /* into each buffer that it releases: trie/usage.h */
    bool missed;                              /* the gate was shut for the last step */
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

static inline uint64_t twin_next_handle(uint64_t g, uint64_t f)
{
    uint64_t kept = MUTANT == MUTANT_OVER_KEPT ? f & (uint32_t)BBF_L_HANDLE_OVER : 0;
    return g | kept | (f & 0xffffff);
}

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

/* Windows: the bits of the gate, of `which`. */
static inline bool twin_gate(struct twin_thread *me, uint32_t which)
{
    return me->w->windows &&
           (twin_get_int(bbf_shared_int(me->w->t, BBF_L_SHARED_SLOW_HOOKS)) & which) != 0;
}

static inline bool twin_is_shut(struct twin_thread *me)
{
    return twin_gate(me, (uint32_t)BBF_L_SLOW_IDLE);
}

/* A life was opened: freeze it if the walk may not have seen it. A read-modify-write is the fence.
 */
static inline void twin_recheck(struct twin_thread *me, uint64_t h)
{
    _Atomic uint32_t *gate = bbf_shared_int(me->w->t, BBF_L_SHARED_SLOW_HOOKS);
    if (!me->w->windows || MUTANT == MUTANT_NO_RECHECK)
        return;
    if ((atomic_fetch_add(gate, 0) & ((uint32_t)BBF_L_SLOW_IDLE | BBF_L_SLOW_FREEZING)) != 0)
        (void)bbf_windows_freeze(me->w->t, (uint32_t)(h & 0xffffff));
}

/* Hooks come or go: nothing is opened. */
static inline bool twin_paused(struct twin_thread *me)
{
    return (twin_flags(me) & BBF_L_SHARED_PAUSED) != 0;
}

/* ---- stripes ---- */

/* No life yet, or none that was seen: 0, or a mark of an application's pool (docs/adr/0034). */
static inline bool twin_is_fresh(uint64_t f)
{
    return f == 0 || (f >= BBF_HANDLE_MARK(ENDING) && f <= BBF_HANDLE_MARK(AGAIN));
}

static inline bool twin_own(struct twin_thread *me, uint64_t stripe)
{
    atomic_store_explicit(bbf_stripe_mark(me->w->t, stripe), 1, memory_order_relaxed);
    return twin_cas(&me->w->t->stripes[stripe].owner, 0, me->tid);
}

static inline struct bbf_stripe *twin_claim(struct twin_thread *me)
{
    struct bbf_stripe *stripes = me->w->t->stripes;
    uint64_t first = me->tid & (BBF_L_STRIPES - 1);
    uint64_t other = (me->tid * UINT64_C(0x9E3779B97F4A7C15)) >> 54;
    if (twin_own(me, first))
        return &stripes[first];
    uint64_t owner = twin_get_volatile(&stripes[other].owner);
    return owner == me->tid || (owner == 0 && twin_own(me, other)) ? &stripes[other] : NULL;
}

static inline struct bbf_stripe *twin_stripe(struct twin_thread *me)
{
    struct bbf_stripe *stripe = &me->w->t->stripes[me->tid & (BBF_L_STRIPES - 1)];
    if (MUTANT == MUTANT_SHARED_STRIPE)
        return &me->w->t->stripes[me->tid & 1];
    return twin_get(&stripe->owner) == me->tid ? stripe : twin_claim(me);
}

static inline void twin_count(struct twin_thread *me, int which)
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

/* ---- open (design.md: open protocol) ---- */

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

/* Where the life is; ?raced if a step was stored over its gap (trie/windows.h). */
static inline uint64_t twin_position(struct twin_thread *me, struct bbf_record *at, uint64_t handle)
{
    /* `life` before the path: a life that has LATER is at its gap, or was stored over it. */
    uint64_t life = me->w->windows ? twin_get_volatile(&at->life) : 0;
    uint64_t path = twin_get(&at->path);
    if (MUTANT == MUTANT_STRAY || (life & BBF_L_LATER) == 0 || (life ^ handle) >> 32 != 0)
        return path;
    uint32_t node = bbf_windows_charged(me->w->t, life, (uint32_t)path);
    if (node != (uint32_t)path)
        twin_count(me, BBF_L_TALLY_RACED_STEPS);
    return (path & TWIN_HIGH) | node;
}

static inline bool twin_is_open(struct twin_thread *me, uint64_t f)
{
    uint64_t life = twin_get(&twin_record(me, f)->life);
    return (life ^ f) >> 32 == 0 && (life & BBF_L_STATE) == BBF_L_OPEN;
}

/* The life word of the end: what was marked at a stop is not the next life's. */
static inline uint64_t twin_closed(uint64_t life)
{
    uint64_t marks = BBF_L_STOPPED | BBF_L_SEEN | BBF_L_LATER;
    return (life ^ (BBF_L_OPEN ^ BBF_L_CLOSED)) & ~marks;
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
    uint64_t path = twin_position(me, at, handle), life;
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

#endif
