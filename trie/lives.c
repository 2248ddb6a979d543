/*
 * trie/lives.c - records, and the agent thread's half of the protocol of design D12.3-D12.8. The
 * application's half is in the boot shim; tests/stress/shim_twin.h is the same in C.
 *
 * Invariants (each interleaving has exactly one resolver):
 *  1. A record that is CLOSED without CONV and STICKY belongs to its free list; OPEN without CONV
 * is decided by the CAS on `life`; CONV, not STICKY, is ours from then on; STICKY belongs to the
 *     Java object until we see its weak reference NULL.
 *  2. Convert: CAS OPEN(g) -> OPEN(g)+CONV *before* the slot is read: whose life is it otherwise?
 *  3. Collect: the weak reference is asked first, `life` is read (acquire) after it. The other way
 *     round a recycled life is lost (facts/model.md V1).
 *  4. A record leaves us as: weak reference deleted, jweak = 0, then life = CLOSED, then push.
 *  5. Only the agent thread creates, tests or deletes weak references.
 */
#include "trie/tracker.h"

#include <stdlib.h>

#include "core/err.h"
#include "trie/section.h"

/* No weak reference could be had: the life is followed without garbage detection. */
enum { NO_WEAK = 1 };

/* A scan that buried more gives the list back. */
enum { DEAD_KEPT = 4096 };

/* What the agent remembers of an owner whose derived lives ended unreleased. */
struct bbf_held {
    uint32_t generation; /* of the owner's life; 0 = none */
    uint32_t node;       /* where the first of them that leaked is charged */
    uint8_t memory;
    bool leaked; /* one of them did: node and memory are known */
};

/* A collected life, between its CAS to DEAD and its end. */
struct bbf_dead {
    uint32_t record, generation, node, bytes, open_seconds;
    uint64_t parent;
    uint8_t mem;
};

/* ---- records ---- */

uint32_t bbf_record_bump(struct bbf_tracker *t)
{
    uint32_t first = atomic_load_explicit(&t->next_record, memory_order_relaxed);
    do {
        uint64_t limit = atomic_load_explicit(&t->max_lives, memory_order_relaxed);
        if (first + BBF_L_BATCH > limit + BBF_L_FIRST_RECORD ||
            !bbf_space_reach(&t->records, (size_t)(first + BBF_L_BATCH) << BBF_L_RECORD_SHIFT)) {
            atomic_fetch_add_explicit(&t->hit_lives, 1, memory_order_relaxed);
            return 0;
        }
        /* Acquire-release: a scan that reads the new end finds the records writable. */
    } while (!atomic_compare_exchange_weak_explicit(&t->next_record, &first, first + BBF_L_BATCH,
                                                    memory_order_acq_rel, memory_order_relaxed));
    for (uint32_t r = first; r < first + BBF_L_BATCH - 1; r++)
        atomic_store_explicit(&bbf_record_at(t, r)->next, r + 1, memory_order_relaxed);
    return first;
}

void bbf_record_push(struct bbf_tracker *t, uint32_t head)
{
    _Atomic uint64_t *free_stack = bbf_shared_long(t, BBF_L_SHARED_FREE);
    uint64_t top = atomic_load_explicit(free_stack, memory_order_relaxed);
    do {
        atomic_store_explicit(&bbf_record_at(t, head)->batch, BBF_LOW(top), memory_order_relaxed);
        /* Release: who pops the batch sees its links. The tag in the high half defeats ABA. */
    } while (!atomic_compare_exchange_weak_explicit(free_stack, &top,
                                                    BBF_WORD(BBF_GENERATION(top) + 1, head),
                                                    memory_order_release, memory_order_relaxed));
}

static uint32_t pop_batch(struct bbf_tracker *t)
{
    _Atomic uint64_t *free_stack = bbf_shared_long(t, BBF_L_SHARED_FREE);
    uint64_t top = atomic_load_explicit(free_stack, memory_order_acquire);
    while (BBF_LOW(top) != 0) {
        /* The record may be popped and reused under us: then the tag differs and the CAS fails. */
        uint32_t below =
            atomic_load_explicit(&bbf_record_at(t, BBF_LOW(top))->batch, memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(free_stack, &top,
                                                  BBF_WORD(BBF_GENERATION(top) + 1, below),
                                                  memory_order_acquire, memory_order_acquire))
            return BBF_LOW(top);
    }
    return 0;
}

uint32_t bbf_record_pop(struct bbf_tracker *t)
{
    uint32_t head = pop_batch(t);
    if (head == 0 && (head = bbf_record_bump(t)) == 0)
        return 0;
    uint32_t rest =
        atomic_exchange_explicit(&bbf_record_at(t, head)->next, 0, memory_order_relaxed);
    if (rest != 0)
        bbf_record_push(t, rest);
    return head;
}

static void charge_run(struct bbf_tracker *t, uint64_t run)
{
    if (run != 0)
        bbf_node_released(t, (uint32_t)(run >> 32), (uint32_t)(run >> 16) & 0xffff, run & 0xffff);
}

void bbf_stripe_retire(struct bbf_tracker *t, uint64_t tid)
{
    /* A thread claims one of two places (java-shim, claim()). */
    uint64_t places[2] = {tid & (BBF_L_STRIPES - 1), (tid * UINT64_C(0x9E3779B97F4A7C15)) >> 54};
    for (int p = 0; p < 2; p++) {
        struct bbf_stripe *s = &t->stripes[places[p]];
        if (tid == 0 || atomic_load_explicit(&s->owner, memory_order_relaxed) != tid)
            continue;
        for (int i = 0; i < BBF_L_RUN_SLOTS; i++) {
            charge_run(t, atomic_load_explicit(&s->run[i], memory_order_relaxed));
            atomic_store_explicit(&s->run[i], 0, memory_order_relaxed);
        }
        uint32_t head = atomic_load_explicit(&s->head, memory_order_relaxed);
        atomic_store_explicit(&s->head, 0, memory_order_relaxed);
        atomic_store_explicit(&s->count, 0, memory_order_relaxed);
        if (head != 0)
            bbf_record_push(t, head);
        /* Release: the next owner sees empty lists. */
        atomic_store_explicit(&s->owner, 0, memory_order_release);
    }
}

uint64_t bbf_lives_open(const struct bbf_tracker *tracker)
{
    struct bbf_tracker *t = (struct bbf_tracker *)(uintptr_t)tracker;
    uint64_t open = 0;
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        if ((atomic_load_explicit(&bbf_record_at(t, r)->life, memory_order_relaxed) &
             BBF_L_STATE) == BBF_L_OPEN)
            open++;
    return open;
}

/* ---- convert: strong slot -> weak reference ---- */

static void weaken_slot(struct bbf_tracker *t, const struct bbf_heap *heap, uint32_t r)
{
    struct bbf_record *record = bbf_record_at(t, r);
    bool empty = false;
    uint64_t weak = heap->weaken(heap->ctx, r, &empty);
    if (empty) {
        t->empty_slots++;
#ifdef BBF_DEBUG
        abort(); /* the check that finds broken orders of publication (D12.8) */
#endif
    } else if (weak == 0) {
        t->no_weakref++;
    }
    atomic_store_explicit(&record->jweak, weak != 0 ? weak : NO_WEAK, memory_order_relaxed);
    heap->clear(heap->ctx, r);
    t->converted++;
}

static void convert(struct bbf_tracker *t, const struct bbf_heap *heap, uint32_t r)
{
    struct bbf_record *record = bbf_record_at(t, r);
    /* Acquire: OPEN(g) was stored after g's object went into the slot. */
    uint64_t life = atomic_load_explicit(&record->life, memory_order_acquire);
    if ((life & BBF_L_STICKY) != 0) {
        if (atomic_load_explicit(&record->jweak, memory_order_relaxed) == 0)
            weaken_slot(t, heap, r);
    } else if ((life & BBF_L_STATE) == BBF_L_OPEN && (life & BBF_L_CONV) == 0) {
        if (atomic_compare_exchange_strong_explicit(&record->life, &life, life | BBF_L_CONV,
                                                    memory_order_acq_rel, memory_order_relaxed))
            weaken_slot(t, heap, r);
    }
}

/* ---- collect ---- */

/* The record is ours and its object gone or closed: give it back (invariant 4). */
static void free_record(struct bbf_tracker *t, const struct bbf_heap *heap, uint32_t r,
                        uint32_t generation)
{
    struct bbf_record *record = bbf_record_at(t, r);
    charge_run(t, atomic_exchange_explicit(&record->run, 0, memory_order_relaxed));
    uint64_t weak = atomic_load_explicit(&record->jweak, memory_order_relaxed);
    if (weak > NO_WEAK)
        heap->forget(heap->ctx, weak);
    atomic_store_explicit(&record->jweak, 0, memory_order_relaxed);
    /* Release: the next owner of the record sees it clean. */
    atomic_store_explicit(&record->life, BBF_WORD(generation, BBF_L_CLOSED), memory_order_release);
    atomic_store_explicit(&record->next, t->push_head, memory_order_relaxed);
    t->push_head = r;
    if (++t->push_count == BBF_L_BATCH) {
        bbf_record_push(t, t->push_head);
        t->push_head = t->push_count = 0;
    }
}

static bool grow_dead(struct bbf_tracker *t)
{
    size_t cap = t->cap_dead != 0 ? 2 * t->cap_dead : 256;
    struct bbf_dead *dead = realloc(t->dead, cap * sizeof *dead);
    if (dead == NULL)
        return false; /* the rest stays for the next scan */
    t->dead = dead;
    t->cap_dead = cap;
    return true;
}

/* A collected OPEN life: win it by CAS and remember what its end needs. */
static void bury(struct bbf_tracker *t, uint32_t r, uint64_t life, size_t *n)
{
    struct bbf_record *record = bbf_record_at(t, r);
    uint32_t g = BBF_GENERATION(life);
    if (*n == t->cap_dead && !grow_dead(t))
        return;
    uint64_t dead = (life & ~(uint64_t)BBF_L_STATE) | BBF_L_DEAD;
    if (!atomic_compare_exchange_strong_explicit(&record->life, &life, dead, memory_order_acq_rel,
                                                 memory_order_relaxed))
        return; /* a closer was first */
    uint64_t path = atomic_load_explicit(&record->path, memory_order_relaxed);
    uint64_t refs = atomic_load_explicit(&record->refs, memory_order_relaxed);
    uint64_t size = atomic_load_explicit(&record->size, memory_order_relaxed);
    uint32_t now = atomic_load_explicit(bbf_shared_int(t, BBF_L_SHARED_NOW), memory_order_relaxed);
    t->dead[(*n)++] = (struct bbf_dead){
        .record = r,
        .generation = g,
        .node = bbf_node_charged(t, path, g),
        .bytes = BBF_GENERATION(size) == g ? BBF_LOW(size) : 0,
        .open_seconds = now - atomic_load_explicit(&record->next, memory_order_relaxed),
        .parent = atomic_load_explicit(&record->parent, memory_order_relaxed),
        .mem = BBF_GENERATION(refs) == g ? (uint8_t)(refs >> BBF_L_MEM_SHIFT) : BBF_MEM_UNKNOWN,
    };
}

/* After conversion: look at every record that has or had a weak reference. */
static void collect(struct bbf_tracker *t, const struct bbf_heap *heap, uint32_t r, size_t *n)
{
    struct bbf_record *record = bbf_record_at(t, r);
    uint64_t weak = atomic_load_explicit(&record->jweak, memory_order_relaxed);
    if (weak == 0)
        return;
    bool gone = weak > NO_WEAK && heap->collected(heap->ctx, weak);
    /* Acquire, and after the question: invariant 3. */
    uint64_t life = atomic_load_explicit(&record->life, memory_order_acquire);
    bool closed = (life & BBF_L_STATE) == BBF_L_CLOSED, sticky = (life & BBF_L_STICKY) != 0;
    if (closed && !sticky) {
        free_record(t, heap, r, BBF_GENERATION(life));
    } else if (closed && gone) {
        /* CAS: never a plain store, the object's thread may have re-opened it before it died. */
        if (atomic_compare_exchange_strong_explicit(&record->life, &life,
                                                    life & ~(uint64_t)BBF_L_STICKY,
                                                    memory_order_acq_rel, memory_order_relaxed))
            free_record(t, heap, r, BBF_GENERATION(life));
    } else if (gone && (life & BBF_L_STATE) == BBF_L_OPEN) {
        bury(t, r, life, n);
    }
}

/* ---- verdicts (D8) ---- */

static struct bbf_tomb *tomb_at(struct bbf_tracker *t, uint32_t node, enum bbf_end end,
                                uint8_t memory)
{
    size_t mask = t->cap_tombs - 1;
    for (size_t i = (node * 2654435761u) ^ ((unsigned)end << 2 | memory);; i++) {
        struct bbf_tomb *tomb = &t->tombs[i & mask];
        if (!tomb->used || (tomb->node == node && tomb->end == end && tomb->memory == memory))
            return tomb;
    }
}

static bool grow_tombs(struct bbf_tracker *t)
{
    struct bbf_tomb *old = t->tombs;
    size_t n = t->cap_tombs, cap = n != 0 ? 2 * n : 256;
    struct bbf_tomb *fresh = calloc(cap, sizeof *fresh);
    if (fresh == NULL)
        return false;
    t->tombs = fresh;
    t->cap_tombs = cap;
    for (size_t i = 0; i < n; i++)
        if (old[i].used)
            *tomb_at(t, old[i].node, (enum bbf_end)old[i].end, old[i].memory) = old[i];
    free(old);
    return true;
}

static void charge(struct bbf_tracker *t, uint32_t node, enum bbf_end end, uint8_t memory,
                   uint64_t lives, uint64_t bytes, uint32_t seconds)
{
    if (2 * t->n_tombs >= t->cap_tombs && !grow_tombs(t) && t->n_tombs + 1 >= t->cap_tombs) {
        bbf_node_unknown(t, node); /* out of memory: counted, if not told apart */
        return;
    }
    struct bbf_tomb *tomb = tomb_at(t, node, end, memory);
    if (!tomb->used) {
        *tomb =
            (struct bbf_tomb){.node = node, .end = (uint8_t)end, .memory = memory, .used = true};
        t->n_tombs++;
    }
    tomb->count += lives;
    tomb->bytes += bytes;
    if (seconds > tomb->oldest)
        tomb->oldest = seconds;
}

static struct bbf_held *held_at(struct bbf_tracker *t, uint32_t record)
{
    if (record >= t->cap_held) {
        size_t cap = t->records.size >> BBF_L_RECORD_SHIFT, want = 1024;
        while (want <= record)
            want *= 2;
        struct bbf_held *held = realloc(t->held, (want < cap ? want : cap) * sizeof *held);
        if (held == NULL)
            return NULL;
        for (size_t i = t->cap_held; i < want; i++)
            held[i] = (struct bbf_held){0};
        t->held = held;
        t->cap_held = want;
    }
    return &t->held[record];
}

static bool is_held(const struct bbf_tracker *t, const struct bbf_dead *d)
{
    return d->record < t->cap_held && t->held[d->record].generation == d->generation;
}

static bool is_leak(const struct bbf_tracker *t, const struct bbf_dead *d)
{
    return (d->mem & (BBF_L_MEM_HARMLESS | BBF_L_MEM_STATIC | BBF_L_MEM_FOREIGN)) == 0 &&
           !is_held(t, d);
}

/* Tell every life that `dead` was derived from that it is held by an unreleased one, and, once all
 * that are held are known, where the first that leaked is charged. */
static void hold_ancestors(struct bbf_tracker *t, const struct bbf_dead *dead, bool leaked)
{
    uint64_t parent = dead->parent;
    for (int hops = 0; parent != 0 && hops < BBF_L_MAX_UNWRAP; hops++) {
        uint32_t r = BBF_LOW(parent), g = BBF_GENERATION(parent);
        struct bbf_held *held = held_at(t, r);
        if (held == NULL || BBF_GENERATION(atomic_load(&bbf_record_at(t, r)->life)) != g)
            return; /* the owner's life is over: released, with nothing left to hold */
        if (held->generation != g)
            *held = (struct bbf_held){.generation = g};
        if (leaked && !held->leaked) {
            held->node = dead->node;
            held->memory = dead->mem & BBF_L_MEM_KIND;
            held->leaked = true;
        }
        parent = atomic_load_explicit(&bbf_record_at(t, r)->parent, memory_order_relaxed);
    }
}

/* The bytes belong to the first life derived from it that leaked, once (D8); if a reset has
 * forgotten that leak since, they are forgotten with it. */
static void charge_held_bytes(struct bbf_tracker *t, const struct bbf_held *held, uint32_t bytes)
{
    struct bbf_tomb *tomb = held->leaked && t->cap_tombs > 0
                                ? tomb_at(t, held->node, BBF_END_LEAKED, held->memory)
                                : NULL;
    if (tomb != NULL && tomb->used)
        tomb->bytes += bytes;
}

static void end_life(struct bbf_tracker *t, const struct bbf_heap *heap, const struct bbf_dead *d)
{
    uint8_t memory = d->mem & BBF_L_MEM_KIND;
    if ((d->mem & (BBF_L_MEM_HARMLESS | BBF_L_MEM_STATIC)) != 0) {
        charge(t, d->node, BBF_END_HARMLESS, memory, 1, 0, d->open_seconds);
    } else if ((d->mem & BBF_L_MEM_FOREIGN) != 0) {
        charge(t, d->node, BBF_END_UNKNOWN, memory, 1, 0, d->open_seconds);
    } else if (is_held(t, d)) {
        charge(t, d->node, BBF_END_HELD, memory, 1, 0, d->open_seconds);
        charge_held_bytes(t, &t->held[d->record], d->bytes);
    } else {
        charge(t, d->node, BBF_END_LEAKED, memory, 1, d->bytes, d->open_seconds);
    }
    atomic_store_explicit(&bbf_record_at(t, d->record)->path, BBF_WORD(d->generation, 0),
                          memory_order_relaxed);
    free_record(t, heap, d->record, d->generation);
}

void bbf_lives_scan(struct bbf_tracker *t, const struct bbf_heap *heap)
{
    /* Acquire: pairs with bbf_record_bump(). */
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    size_t n = 0;
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        convert(t, heap, r);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        collect(t, heap, r, &n);
    /*
     * An owner is reachable from what was derived from it, so when an owner is found dead, its
     * derived lives are dead too, but may have been asked before that GC; and so on for theirs:
     * again until a pass finds none.
     */
    for (size_t seen = 0; seen < n;) {
        seen = n;
        for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
            if (atomic_load_explicit(&bbf_record_at(t, r)->parent, memory_order_relaxed) != 0)
                collect(t, heap, r, &n);
    }
    for (size_t i = 0; i < n; i++)
        hold_ancestors(t, &t->dead[i], false);
    for (size_t i = 0; i < n; i++)
        if (is_leak(t, &t->dead[i]))
            hold_ancestors(t, &t->dead[i], true);
    /* Leaks first: what they hold adds its bytes to them. */
    for (size_t i = 0; i < n; i++)
        if (!is_held(t, &t->dead[i]))
            end_life(t, heap, &t->dead[i]);
    for (size_t i = 0; i < n; i++)
        if (is_held(t, &t->dead[i]))
            end_life(t, heap, &t->dead[i]);
    if (t->push_head != 0)
        bbf_record_push(t, t->push_head);
    t->push_head = t->push_count = 0;
    if (t->cap_dead > DEAD_KEPT) {
        free(t->dead);
        t->dead = NULL;
        t->cap_dead = 0;
    }
    t->scans++;
}

void bbf_lives_abandon(struct bbf_tracker *t, const struct bbf_heap *heap)
{
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        heap->clear(heap->ctx, r);
}
