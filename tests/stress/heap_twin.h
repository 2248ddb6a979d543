/*
 * tests/stress/heap_twin.h - a Java heap as far as lives need one: objects with the hidden field,
 * strong slots, weak references, and a garbage collector that may run between any two steps.
 *
 * An object is reachable while its low half counts a holder: a thread's variable, a pool, a
 * mailbox, a strong slot, an object that points to it. The collector is a clock: what became
 * unreachable before its last tick has its weak references cleared. That is as good as a real one:
 * what is unreachable stays so, and an owner never dies before what was derived from it.
 *
 * Memory is malloc's and is freed when the last strong and weak reference is gone, so ASan sees who
 * looks at a dead object. Threads: any, but the functions of heap_twin_agent() the agent's alone.
 */
#ifndef BBF_TESTS_STRESS_HEAP_TWIN_H
#define BBF_TESTS_STRESS_HEAP_TWIN_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "trie/model.h"
#include "trie/trie.h"

enum { HEAP_SLOTS = 1 << 18 };

struct heap_twin;

struct twin_object {
    _Atomic uint64_t bbf;      /* the hidden field */
    uint64_t kind;             /* KIND_ bits, as classify() answers */
    struct twin_object *owner; /* what a view wraps or a derived buffer holds; counted */
    _Atomic uint64_t held;     /* strong references, weak ones << 32 */
    _Atomic uint64_t died;     /* the clock when it became unreachable */
    /* The application's (tests/stress/lives_app.h). */
    _Atomic uint32_t count; /* Netty's refCnt; 0 = released */
    _Atomic uint32_t flags;
};

struct heap_twin {
    _Atomic(struct twin_object *) slots[HEAP_SLOTS];
    _Atomic uint64_t clock;
    _Atomic uint64_t objects; /* not freed yet */
    /* Called once for each object, when it became unreachable. May be NULL. */
    void (*unreachable)(void *ctx, struct twin_object *o);
    void *ctx;
    uint32_t ticks;     /* agent: a GC in this number of questions, 0 = only on request */
    uint32_t questions; /* agent */
    bool no_weak;       /* agent: NewWeakGlobalRef fails */
    bool no_clear;      /* agent: SetObjectArrayElement fails */
};

static inline void twin_weak_drop(struct heap_twin *h, struct twin_object *o)
{
    if (atomic_fetch_sub(&o->held, UINT64_C(1) << 32) == UINT64_C(1) << 32) {
        atomic_fetch_sub(&h->objects, 1);
        free(o);
    }
}

static inline void twin_hold(struct twin_object *o)
{
    atomic_fetch_add(&o->held, 1);
}

static inline void twin_drop(struct heap_twin *h, struct twin_object *o)
{
    /* One strong reference becomes a weak one, which keeps the memory for the lines below. */
    uint64_t before = atomic_fetch_add(&o->held, (UINT64_C(1) << 32) - 1);
    assert((uint32_t)before != 0);
    if ((uint32_t)before == 1) {
        struct twin_object *owner = o->owner;
        if (h->unreachable != NULL)
            h->unreachable(h->ctx, o);
        atomic_store(&o->died, atomic_load(&h->clock));
        if (owner != NULL)
            twin_drop(h, owner);
    }
    twin_weak_drop(h, o);
}

/* A new object, held by the caller once; it holds `owner`. */
static inline struct twin_object *twin_new(struct heap_twin *h, uint64_t kind,
                                           struct twin_object *owner)
{
    struct twin_object *o = calloc(1, sizeof *o);
    if (o == NULL)
        abort();
    o->kind = kind;
    o->owner = owner;
    if (owner != NULL)
        twin_hold(owner);
    atomic_store(&o->held, 1);
    atomic_store(&o->died, UINT64_MAX);
    atomic_store(&o->count, 1);
    atomic_fetch_add(&h->objects, 1);
    return o;
}

static inline void twin_set_slot(struct heap_twin *h, uint32_t record, struct twin_object *o)
{
    if (o != NULL)
        twin_hold(o);
    /* Java stores a reference; the exchange is for our counts only. */
    struct twin_object *old =
        atomic_exchange_explicit(&h->slots[record % HEAP_SLOTS], o, memory_order_relaxed);
    if (old != NULL)
        twin_drop(h, old);
}

static inline void twin_collect_garbage(struct heap_twin *h)
{
    atomic_fetch_add(&h->clock, 1);
}

/* ---- the agent's view ---- */

static inline uint64_t twin_weaken(void *ctx, uint32_t record, bool *empty)
{
    struct heap_twin *h = ctx;
    struct twin_object *o =
        atomic_load_explicit(&h->slots[record % HEAP_SLOTS], memory_order_relaxed);
    *empty = o == NULL;
    if (o == NULL || h->no_weak)
        return 0;
    atomic_fetch_add(&o->held, UINT64_C(1) << 32);
    return (uint64_t)(uintptr_t)o;
}

static inline bool twin_clear(void *ctx, uint32_t record)
{
    struct heap_twin *h = ctx;
    if (h->no_clear)
        return false;
    twin_set_slot(h, record, NULL);
    return true;
}

static inline bool twin_collected(void *ctx, uint64_t weak)
{
    struct heap_twin *h = ctx;
    struct twin_object *o = (struct twin_object *)(uintptr_t)weak;
    if (h->ticks != 0 && ++h->questions % h->ticks == 0)
        twin_collect_garbage(h);
    return atomic_load(&o->died) < atomic_load(&h->clock);
}

static inline void twin_forget(void *ctx, uint64_t weak)
{
    twin_weak_drop(ctx, (struct twin_object *)(uintptr_t)weak);
}

static inline struct bbf_jvm_refs heap_twin_agent(struct heap_twin *h)
{
    return (struct bbf_jvm_refs){.ctx = h,
                                 .weaken = twin_weaken,
                                 .clear = twin_clear,
                                 .collected = twin_collected,
                                 .forget = twin_forget};
}

#endif
