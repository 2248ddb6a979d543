/*
 * tests/stress/lives_app.h - the application of stress_lives.c: threads that open, step, share,
 * derive, release, recycle and drop buffers, and its own count of what became of each.
 */
#ifndef BBF_TESTS_STRESS_LIVES_APP_H
#define BBF_TESTS_STRESS_LIVES_APP_H

#include "tests/stress/shim_twin.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { AHEAD = 20000 }; /* lives that may be opened between two scans: records do not run out */
enum {
    ENTRIES = 12,
    POOL = 6,
    BOXES = 4,
    STEPS = 3,
#ifdef BBF_SCHEDULED
    BURST = 100
#else
    BURST = 3000
#endif
};

/* What the application knows of an object. */
enum {
    F_LIFE = 1,     /* a root or derive hook ran */
    F_HARMLESS = 2, /* nothing is lost with it */
    F_HOLDS = 4,    /* something derived from it was dropped unreleased */
    F_TRACKED = 8,  /* closed by anyone, even twice, never recycled (track=Class:close) */
    F_DERIVED = 16,
    F_PARENT = 32,     /* something was derived from it, whose release steps here */
    F_SEEN = 64,       /* its life began by a step: a root names it, and it continues */
    F_MISSED = 128,    /* a step was not seen, because the gate was shut */
    F_PLACE_SHIFT = 16 /* the site where it was last seen */
};

/* What a case allows. */
struct rules {
    bool sharing;  /* several threads use one buffer at once */
    bool baseline; /* the agent resets counters */
    bool nodes;    /* the agent resets the trie */
    bool sample;   /* the agent changes the rate; not with sharing */
    bool windows;  /* a thread opens and shuts the gate */
};

/* Ends by the application's own count; `at` by the site of the last step, exact without sharing. */
struct ends {
    _Atomic uint64_t released, leaked, held, harmless, unknown;
    _Atomic uint64_t released_at[64], lost_at[64];
};

struct app {
    struct rules rules;
    struct twin twin;
    struct heap_twin *heap;
    struct bbf_tracker *t;
    struct bbf_jvm_refs view;
    struct ends ends;
    _Atomic uint64_t opened, closed, undone, unknown; /* by the twins' own count */
    _Atomic uint64_t next_tid;
    _Atomic uint64_t box[BOXES]; /* object | counts handed over with it */
    _Atomic uint64_t since_scan; /* lives opened */
    _Atomic bool stop;
    uint32_t root, derive, step[STEPS], class_id;
    uint64_t seed;
    _Atomic uint64_t scans;
    uint64_t captures, resets; /* agent */
    uint64_t misplaced; /* agent: captures that show lives at ?before-reset without a reset */
    bool wrong;         /* agent: a capture failed, or its bytes do not add up */
    _Atomic uint64_t windows;
    uint64_t frozen; /* window thread */
    _Atomic uint64_t at_gap, at_raced,
        at_step;             /* lives released by their only user, by where they were */
    _Atomic uint64_t misled; /* … whose path lacked a step and did not say so */
};

/* A thread's variable: an object and how many of its counts are the variable's to release. */
struct entry {
    struct twin_object *o;
    uint32_t counts;
};

struct worker {
    struct app *app;
    struct twin_thread me;
    struct entry entry[ENTRIES];
    struct twin_object *pool[POOL];
    unsigned n, pooled;
};

static inline uint32_t place_of(const struct twin_object *o)
{
    return atomic_load(&((struct twin_object *)(uintptr_t)o)->flags) >> F_PLACE_SHIFT;
}

static inline void set_place(struct twin_object *o, uint32_t site)
{
    uint32_t flags = atomic_load(&o->flags), low = (1u << F_PLACE_SHIFT) - 1;
    while (!atomic_compare_exchange_weak(&o->flags, &flags, (flags & low) | site << F_PLACE_SHIFT))
        ;
}

/* The collector's word to us: this object is gone. If it was not released, it is lost. */
static inline void unreachable(void *ctx, struct twin_object *o)
{
    struct app *app = ctx;
    uint32_t flags = atomic_load(&o->flags);
    if ((flags & F_LIFE) == 0 || atomic_load(&o->count) == 0)
        return;
    if ((flags & F_HARMLESS) != 0)
        app->ends.harmless++;
    else if ((flags & F_HOLDS) != 0)
        app->ends.held++;
    else
        app->ends.leaked++;
    app->ends.lost_at[place_of(o)]++;
    if ((flags & F_DERIVED) != 0)
        atomic_fetch_or(&o->owner->flags, (uint32_t)F_HOLDS);
}

static inline void forget_entry(struct worker *w, unsigned i)
{
    twin_drop(w->app->heap, w->entry[i].o);
    w->entry[i] = w->entry[--w->n];
}

static inline void keep_entry(struct worker *w, struct twin_object *o, uint32_t counts)
{
    if (w->n == ENTRIES)
        forget_entry(w, twin_random(&w->me) % ENTRIES); /* and maybe leaks */
    w->entry[w->n++] = (struct entry){o, counts};
}

static inline void step(struct worker *w, struct twin_object *o, struct twin_object *owner)
{
    uint32_t site = w->app->step[twin_random(&w->me) % STEPS];
    twin_step(&w->me, o, site);
    if (!w->app->rules.sharing && atomic_load(&owner->count) > 0)
        set_place(owner, site);
    if (w->me.missed && atomic_load(&owner->count) > 0)
        atomic_fetch_or(&owner->flags, (uint32_t)F_MISSED);
}

/* Windows, by the only user of a followed life: is the path whole, or does it say that it is not?
 */
static inline void check_path(struct worker *w, const struct twin_object *o, uint64_t h)
{
    struct bbf_record *at = twin_record(&w->me, h);
    uint64_t path = twin_position(&w->me, at, h);
    uint32_t node = bbf_node_charged(w->app->t, path, (uint32_t)(h >> 32));
    uint32_t site = bbf_node_at(w->app->t, node)->site;
    if (bbf_node_charged(w->app->t, path, (uint32_t)(h >> 32)) != node)
        return; /* a reset came between, and the node's memory may have been returned: site is 0 */
    if (node <= BBF_L_NODE_BEFORE_RESET || site == BBF_L_SITE_GAP) {
        atomic_fetch_add(node == BBF_L_NODE_RACED ? &w->app->at_raced : &w->app->at_gap, 1);
        return;
    }
    atomic_fetch_add(&w->app->at_step, 1);
    if ((atomic_load(&((struct twin_object *)(uintptr_t)o)->flags) & F_MISSED) != 0 ||
        site != place_of(o))
        atomic_fetch_add(&w->app->misled, 1);
}

/* Put (object, counts) into a box and take what was there. */
static inline void exchange(struct worker *w, struct twin_object *o, uint32_t counts)
{
    uint64_t word = (uint64_t)(uintptr_t)o | counts;
    uint64_t got = atomic_exchange(&w->app->box[twin_random(&w->me) % BOXES], word);
    if (got != 0)
        keep_entry(w, (struct twin_object *)(uintptr_t)(got & ~UINT64_C(15)), got & 15);
}

static inline struct twin_object *fresh_object(struct worker *w, bool derived)
{
    uint64_t kind = BBF_L_KIND_OWNER | BBF_L_KIND_FIELD | w->app->class_id;
    if (w->pooled > 0 && twin_random(&w->me) % 4 != 0) {
        struct twin_object *o = w->pool[w->pooled - 1];
        if (((atomic_load(&o->flags) & F_DERIVED) != 0) == derived) {
            w->pooled--;
            return o;
        }
    }
    return twin_new(w->app->heap, kind, NULL);
}

static inline void begin_life(struct twin_object *o, uint32_t flags, uint32_t site)
{
    atomic_store(&o->flags, flags | F_LIFE | site << F_PLACE_SHIFT);
    atomic_store(&o->count, 1);
}

/* With sample= only the handle says whether this life is followed; if not, it has no end for us. */
static inline void look_if_drawn(struct worker *w, struct twin_object *o)
{
    uint64_t h = atomic_load(&o->bbf);
    bool is_life = h != BBF_HANDLE_IGN && h != BBF_HANDLE_NEVER && twin_is_open(&w->me, h);
    if ((w->app->rules.sample || w->app->rules.windows) && !is_life)
        atomic_fetch_and(&o->flags, ~(uint32_t)F_LIFE);
}

static inline void root_wrapped(struct worker *w, struct twin_object *o, uint32_t meta)
{
    struct twin_object *wrapper = twin_new(w->app->heap, BBF_L_KIND_VIEW | BBF_L_KIND_FIELD, o);
    twin_wrap(&w->me, wrapper, o);
    twin_step(&w->me, wrapper, w->app->step[1]); /* between its constructor and the root hook */
    twin_root(&w->me, wrapper, 100, meta);
    twin_drop(w->app->heap, wrapper);
}

static inline void open_buffer(struct worker *w)
{
    struct app *app = w->app;
    struct twin_object *o = fresh_object(w, false);
    /* A pooled one also has no handle if the gate was shut for its last life. */
    bool is_new = atomic_load(&o->bbf) == 0 && atomic_load(&o->flags) == 0;
    uint32_t random = twin_random(&w->me), flags = random % 20 == 0 ? F_HARMLESS : 0;
    if (app->rules.sharing && is_new && random % 8 == 1)
        flags |= F_TRACKED;
    begin_life(o, flags, app->root);
    if (app->rules.sharing && random % 8 == 2) { /* `this` escapes before the root hook */
        twin_hold(o);
        exchange(w, o, 0);
    }
    if (is_new && random % 8 == 3)
        twin_step(&w->me, o, app->step[0]); /* a hook inside its constructor */
    uint32_t mem = (flags & F_HARMLESS) != 0 ? BBF_MEM_HEAP | BBF_L_MEM_HARMLESS : BBF_MEM_DIRECT;
    if (random % 8 == 4) /* the root hook meets a leak-aware wrapper */
        root_wrapped(w, o, app->root | mem << BBF_L_META_MEM_SHIFT);
    else
        twin_root(&w->me, o, 100, app->root | mem << BBF_L_META_MEM_SHIFT);
    look_if_drawn(w, o);
    keep_entry(w, o, 1);
}

/* As a pool of the application: its count comes back, and the next step meets it as a new one. */
static inline void reuse_buffer(struct worker *w)
{
    struct twin_object *o = w->pool[w->pooled - 1];
    uint64_t f = atomic_load(&o->bbf);
    if ((atomic_load(&o->flags) & F_DERIVED) != 0 ||
        (f != BBF_HANDLE_MARK(IDLE) && !twin_is_given(f)))
        return; /* its root brings it back */
    w->pooled--;
    twin_again(&w->me, o);
    begin_life(o, F_SEEN, w->app->twin.first_site);
    step(w, o, o);
    look_if_drawn(w, o);
    keep_entry(w, o, 1);
}

/* The last count of o is gone. Its memory goes back to what it was derived from. */
static inline void released(struct worker *w, struct twin_object *o)
{
    if (w->app->rules.windows && !w->app->rules.sharing && (atomic_load(&o->flags) & F_LIFE) != 0)
        check_path(w, o, atomic_load(&o->bbf));
    if ((atomic_load(&o->flags) & F_LIFE) != 0)
        atomic_fetch_add(&w->app->ends.released, 1);
    if (!w->app->rules.sharing)
        atomic_fetch_add(&w->app->ends.released_at[place_of(o)], 1);
    twin_release(&w->me, o, true);
}

static inline void release_one(struct worker *w, struct twin_object *o)
{
    while (o != NULL) {
        if (atomic_fetch_sub(&o->count, 1) != 1) {
            twin_release(&w->me, o, false);
            return;
        }
        released(w, o);
        o = (atomic_load(&o->flags) & F_DERIVED) != 0 ? o->owner : NULL;
    }
}

/* No other thread has a count on o now: pool it, keep it for use after release, or drop it. */
static inline void after_release(struct worker *w, unsigned i)
{
    struct twin_object *o = w->entry[i].o, *parent;
    uint32_t random = twin_random(&w->me), flags = atomic_load(&o->flags);
    w->entry[i].counts = 0;
    if ((flags & F_DERIVED) != 0) {
        parent = o->owner;
        o->owner = NULL;
        twin_drop(w->app->heap, parent);
    }
    if (random % 4 == 0)
        step(w, o, o);
    if (random % 8 == 1 && (flags & F_TRACKED) != 0)
        twin_release(&w->me, o, true);
    if (random % 16 == 2)
        return;
    if ((flags & F_TRACKED) == 0 && w->pooled < POOL && random % 3 != 0) {
        twin_given_back(&w->me, o);
        w->pool[w->pooled++] = o;
        w->entry[i] = w->entry[--w->n];
    } else {
        forget_entry(w, i);
    }
}

static inline void release_buffer(struct worker *w, unsigned i)
{
    struct twin_object *o = w->entry[i].o;
    if ((atomic_load(&o->flags) & F_TRACKED) != 0) { /* anyone's close */
        if (atomic_exchange(&o->count, 0) != 0 && (atomic_load(&o->flags) & F_LIFE) != 0)
            atomic_fetch_add(&w->app->ends.released, 1);
        twin_release(&w->me, o, true);
        after_release(w, i);
    } else if (w->entry[i].counts > 0) {
        bool last = --w->entry[i].counts == 0 && atomic_load(&o->count) == 1;
        release_one(w, o);
        if (last)
            after_release(w, i);
    }
}

static inline void retain_buffer(struct worker *w, struct entry *e)
{
    if (e->counts == 0 || e->counts == 7 || (atomic_load(&e->o->flags) & F_TRACKED) != 0)
        return;
    e->counts++;
    atomic_fetch_add(&e->o->count, 1);
    twin_refs(&w->me, e->o, 1);
}

static inline void derive_buffer(struct worker *w, unsigned i)
{
    struct twin_object *parent = w->entry[i].o;
    if (w->entry[i].counts == 0 || (atomic_load(&parent->flags) & F_TRACKED) != 0)
        return;
    atomic_fetch_add(&parent->count, 1); /* retainedSlice(): the slice's count of its parent */
    twin_refs(&w->me, parent, 1);
    atomic_fetch_or(&parent->flags, (uint32_t)F_PARENT);
    struct twin_object *o = fresh_object(w, true);
    twin_hold(parent);
    o->owner = parent;
    begin_life(o, F_DERIVED, w->app->derive);
    twin_derive(&w->me, o, parent, w->app->derive);
    look_if_drawn(w, o);
    keep_entry(w, o, 1);
}

static inline void view_buffer(struct worker *w, unsigned i)
{
    struct twin_object *o = w->entry[i].o;
    struct twin_object *view =
        twin_new(w->app->heap, BBF_L_KIND_VIEW | BBF_L_KIND_FIELD, (twin_hold(o), o));
    twin_drop(w->app->heap, o); /* twin_new() holds it */
    twin_alias(&w->me, view, o);
    step(w, view, o);
    if (w->app->rules.sharing && twin_random(&w->me) % 2 == 0)
        keep_entry(w, view, 0);
    else
        twin_drop(w->app->heap, view);
}

/* A second root of an open life: what became of the first is unknown (design.md: open protocol). */
static inline void root_again(struct worker *w, struct entry *e)
{
    struct twin_object *o = e->o;
    uint32_t flags = atomic_load(&o->flags);
    if (e->counts != 1 || atomic_load(&o->count) != 1 ||
        (flags & (F_DERIVED | F_PARENT | F_TRACKED | F_HOLDS | F_HARMLESS)) != 0)
        return;
    uint64_t before = atomic_load(&o->bbf);
    twin_root(&w->me, o, 100, w->app->root);
    if (w->app->rules.windows && atomic_load(&o->bbf) == before)
        return; /* the gate was shut: as if the hook were not there */
    if ((flags & F_LIFE) != 0 && (flags & F_SEEN) == 0)
        atomic_fetch_add(&w->app->ends.unknown, 1);
    atomic_store(&o->flags, F_LIFE | w->app->root << F_PLACE_SHIFT);
    look_if_drawn(w, o);
}

static inline void share_buffer(struct worker *w, unsigned i)
{
    struct entry *e = &w->entry[i];
    if (w->app->rules.sharing && twin_random(&w->me) % 2 == 0) {
        twin_hold(e->o);
        exchange(w, e->o, 0);
    } else if (w->app->rules.sharing || (atomic_load(&e->o->flags) & (F_DERIVED | F_PARENT)) == 0) {
        struct entry gone = *e; /* with all its counts: one user goes, another comes */
        w->entry[i] = w->entry[--w->n];
        exchange(w, gone.o, gone.counts);
    }
}

static inline void drop_buffer(struct worker *w, unsigned i)
{
    if (w->entry[i].counts == 0 || twin_random(&w->me) % 4 == 0)
        forget_entry(w, i);
}

static inline bool is_view(const struct twin_object *o)
{
    return (o->kind & BBF_L_KIND_VIEW) != 0;
}

static inline void act(struct worker *w)
{
    uint32_t random = twin_random(&w->me) % 100;
    if (w->pooled > 0 && random < 4) {
        reuse_buffer(w);
        return;
    }
    if (w->n == 0 || random < 16) {
        open_buffer(w);
        return;
    }
    unsigned i = twin_random(&w->me) % w->n;
    struct entry *e = &w->entry[i];
    if (is_view(e->o)) {
        if (random < 70)
            step(w, e->o, e->o->owner);
        else
            forget_entry(w, i);
    } else if (random < 50) {
        if (random == 49 && e->counts > 0 &&
            (atomic_load(&e->o->flags) & (F_LIFE | F_TRACKED)) == F_LIFE)
            twin_again(&w->me, e->o); /* a count that is set while the life is open */
        step(w, e->o, e->o);
    } else if (random < 74) {
        release_buffer(w, i);
    } else if (random < 78) {
        retain_buffer(w, e);
    } else if (random < 82) {
        derive_buffer(w, i);
    } else if (random < 86) {
        view_buffer(w, i);
    } else if (random < 87) {
        root_again(w, e);
    } else if (random < 94) {
        share_buffer(w, i);
    } else if (random < 97) {
        drop_buffer(w, i);
    } else if (w->pooled > 0) {
        twin_drop(w->app->heap, w->pool[--w->pooled]); /* released, and gone */
    }
}

/* On a busy machine the agent may not run for seconds: wait for it, as a GC would make us wait. */
static inline void do_not_run_ahead(struct worker *w, uint64_t *told)
{
    struct app *app = w->app;
    atomic_fetch_add(&app->since_scan, w->me.opened - *told);
    *told = w->me.opened;
    while (atomic_load(&app->since_scan) > AHEAD && !atomic_load(&app->stop))
#ifdef BBF_SCHEDULED
        schedule_pass();
#else
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
#endif
}

/* One thread's life: it ends with buffers in its hands. */
static inline void *work(void *arg)
{
    struct app *app = arg;
    struct worker w = {.app = app};
    uint64_t n = atomic_fetch_add(&app->next_tid, 1);
    w.me.w = &app->twin;
    w.me.tid = n % 3 == 0 ? 1024 * n + 7 : n; /* some find their stripe taken */
    w.me.random = app->seed + n * UINT64_C(0x9E3779B97F4A7C15) + 1;
    uint64_t told = 0;
    for (unsigned i = 0; i < BURST && !atomic_load(&app->stop); i++) {
        if (i % 64 == 0)
            do_not_run_ahead(&w, &told);
        act(&w);
    }
    while (w.n > 0)
        forget_entry(&w, w.n - 1);
    while (w.pooled > 0)
        twin_drop(app->heap, w.pool[--w.pooled]);
    if (MUTANT != MUTANT_SHARED_STRIPE)
        bbf_stripe_retire(app->t, w.me.tid);
    atomic_fetch_add(&app->opened, w.me.opened);
    atomic_fetch_add(&app->closed, w.me.closed);
    atomic_fetch_add(&app->undone, w.me.undone);
    atomic_fetch_add(&app->unknown, w.me.unknown);
    return NULL;
}

/* Threads come and go. */
static inline void *employ(void *arg)
{
    struct app *app = arg;
    while (!atomic_load(&app->stop)) {
#ifdef BBF_SCHEDULED
        work(app); /* with a number of its own, so to the tracker it is another thread */
        continue;
#endif
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, app) != 0)
            abort();
        pthread_join(thread, NULL);
    }
    return NULL;
}

#endif
