/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/lives.c - records, and the agent thread's half of the protocol of design.md: memory safety.
 * The application's half is in the boot shim; tests/stress/shim_twin.h is the same in C.
 *
 * Invariants (each interleaving has exactly one resolver):
 *  1. A record that is CLOSED without CONV and STICKY belongs to its free list. OPEN without CONV:
 *     the CAS on `life` decides. CONV without STICKY: it belongs to the agent thread from then on.
 *     STICKY: it belongs to the Java object until the agent sees its weak reference cleared.
 *  2. Convert: CAS OPEN(g) -> OPEN(g)+CONV *before* the slot is read. Otherwise the slot may hold
 *     the object of another life.
 *  3. Collect: test the weak reference first, read `life` (acquire) after it. In the other order
 *     a recycled life is lost (docs/memory-model.md).
 *  4. The agent frees a record in this order: delete the weak reference, jweak = 0, then life =
 *     CLOSED, then push.
 *  5. Only the agent thread creates, tests or deletes weak references.
 */
#include "trie/lives.h"

#include <stdlib.h>

#include "core/err.h"
#include "trie/growth.h"
#include "trie/map.h"
#include "trie/model.h"
#include "trie/node.h"
#include "trie/owned.h"
#include "trie/section.h"
#include "trie/tombs.h"
#include "trie/usage.h"
#include "trie/windows.h"

/* ---- records ---- */

uint32_t bbf_record_bump(struct bbf_tracker *t)
{
    uint32_t first = atomic_load_explicit(&t->next_record, memory_order_relaxed);
    do {
        uint64_t limit = atomic_load_explicit(&t->max_lives, memory_order_relaxed);
        if (first + BBF_L_BATCH > limit + BBF_L_FIRST_RECORD ||
            !bbf_space_reach(&t->extras, (first + BBF_L_BATCH) * sizeof(struct bbf_record_extra)) ||
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
        /* Release: the thread that pops the batch sees its links. The tag in the high half prevents
         * ABA. */
    } while (!atomic_compare_exchange_weak_explicit(free_stack, &top,
                                                    BBF_WORD(BBF_GENERATION(top) + 1, head),
                                                    memory_order_release, memory_order_relaxed));
}

static uint32_t pop_batch(struct bbf_tracker *t)
{
    _Atomic uint64_t *free_stack = bbf_shared_long(t, BBF_L_SHARED_FREE);
    uint64_t top = atomic_load_explicit(free_stack, memory_order_acquire);
    while (BBF_LOW(top) != 0) {
        /* Another thread may pop and reuse the record meanwhile: then the tag differs and the CAS
         * fails. */
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

bool bbf_stripe_retire(struct bbf_tracker *t, uint64_t tid)
{
    bool had = false;
    /* A thread claims one of two places (java-shim, claim()). */
    uint64_t places[2] = {tid & (BBF_L_STRIPES - 1), (tid * UINT64_C(0x9E3779B97F4A7C15)) >> 54};
    for (int p = 0; p < 2; p++) {
        struct bbf_stripe *s = &t->stripes[places[p]];
        if (tid == 0 || !bbf_stripe_is_used(t, places[p]) ||
            atomic_load_explicit(&s->owner, memory_order_relaxed) != tid)
            continue;
        had = true;
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
    return had;
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

/* Change the slot for a converted life. False: it still holds its object. `mapped`: the slot keeps
 * a weak reference to the object, so that the map can still find it. */
static bool leave_slot(const struct bbf_jvm_refs *heap, uint32_t r, bool weakened, bool mapped)
{
    return mapped ? weakened && heap->soften(heap->ctx, r) : heap->clear(heap->ctx, r);
}

static void weaken_slot(struct bbf_tracker *t, const struct bbf_jvm_refs *heap, uint32_t r,
                        bool mapped)
{
    struct bbf_record *record = bbf_record_at(t, r);
    bool empty = false;
    uint64_t weak = heap->weaken(heap->ctx, r, &empty);
    if (empty) {
        t->empty_slots++;
#ifdef BBF_DEBUG
        abort(); /* the check that finds broken orders of publication (design.md: convert and
                    collect) */
#endif
    } else if (weak == 0) {
        t->no_weakref++;
    }
    if (!leave_slot(heap, r, weak != 0, mapped && !empty)) {
        t->kept_slots += weak != 0 || !mapped;
        if (weak != 0)
            heap->forget(heap->ctx, weak);
        atomic_store_explicit(&record->jweak, BBF_STILL_STRONG, memory_order_relaxed);
        return;
    }
    atomic_store_explicit(&record->jweak, weak != 0 ? weak : BBF_NO_WEAK, memory_order_relaxed);
    t->converted++;
}

static void convert(struct bbf_tracker *t, const struct bbf_jvm_refs *heap, uint32_t r)
{
    struct bbf_record *record = bbf_record_at(t, r);
    /* Acquire: OPEN(g) was stored after g's object was put into the slot. */
    uint64_t life = atomic_load_explicit(&record->life, memory_order_acquire);
    uint64_t weak = atomic_load_explicit(&record->jweak, memory_order_relaxed);
    if ((life & BBF_L_STICKY) != 0) {
        if (weak == 0 || weak == BBF_STILL_STRONG)
            weaken_slot(t, heap, r, false);
    } else if ((life & BBF_L_STATE) == BBF_L_OPEN && (life & BBF_L_CONV) != 0) {
        if (weak == BBF_STILL_STRONG)
            weaken_slot(t, heap, r, (life & BBF_L_MAPPED) != 0);
    } else if ((life & BBF_L_STATE) == BBF_L_OPEN) {
        /* Again if it was frozen meanwhile (trie/windows.h). */
        while (!atomic_compare_exchange_strong_explicit(&record->life, &life, life | BBF_L_CONV,
                                                        memory_order_acq_rel, memory_order_acquire))
            if ((life & BBF_L_STATE) != BBF_L_OPEN || (life & (BBF_L_CONV | BBF_L_STICKY)) != 0)
                return;
        weaken_slot(t, heap, r, (life & BBF_L_MAPPED) != 0);
    }
}

/* ---- collect ---- */

/* Free the agent's record, whose object is gone or whose life is closed (invariant 4). */
static void free_record(struct bbf_tracker *t, const struct bbf_jvm_refs *heap, uint32_t r,
                        uint32_t generation)
{
    struct bbf_record *record = bbf_record_at(t, r);
    charge_run(t, atomic_exchange_explicit(&record->run, 0, memory_order_relaxed));
    bool mapped = (atomic_load_explicit(&record->life, memory_order_relaxed) & BBF_L_MAPPED) != 0;
    if (mapped)
        bbf_map_remove(t, r, generation);
    uint64_t weak = atomic_load_explicit(&record->jweak, memory_order_relaxed);
    if ((mapped || weak == BBF_STILL_STRONG) && !heap->clear(heap->ctx, r))
        t->kept_slots++; /* until the record's next life */
    if (weak > BBF_STILL_STRONG)
        heap->forget(heap->ctx, weak);
    atomic_store_explicit(&record->jweak, 0, memory_order_relaxed);
    /* Release: the next owner of the record sees the cleared fields. */
    atomic_store_explicit(&record->life, BBF_WORD(generation, BBF_L_CLOSED), memory_order_release);
    atomic_store_explicit(&record->next, t->push_head, memory_order_relaxed);
    t->push_head = r;
    if (++t->push_count == BBF_L_BATCH) {
        bbf_record_push(t, t->push_head);
        t->push_head = t->push_count = 0;
    }
}

/* A collected OPEN life: claim it by CAS and put it on the list of this scan. */
static bool bury(struct bbf_tracker *t, uint32_t r, uint64_t life)
{
    uint32_t g = BBF_GENERATION(life);
    while (!atomic_compare_exchange_strong_explicit(&bbf_record_at(t, r)->life, &life,
                                                    (life & ~(uint64_t)BBF_L_STATE) | BBF_L_DEAD,
                                                    memory_order_acq_rel, memory_order_relaxed))
        if (BBF_GENERATION(life) != g || (life & BBF_L_STATE) != BBF_L_OPEN)
            return false; /* a closer was first; else it was frozen meanwhile (trie/windows.h) */
    uint64_t refs = atomic_load_explicit(&bbf_record_at(t, r)->refs, memory_order_relaxed);
    if ((refs >> BBF_L_MEM_SHIFT & BBF_L_MEM_KIND) == BBF_MEM_COMPOSITE)
        t->dead_composites = true;
    bbf_extra_at(t, r)->next = 0;
    if (t->first_dead == 0)
        t->first_dead = r;
    else
        bbf_extra_at(t, t->last_dead)->next = r;
    t->last_dead = r;
    return true;
}

/* After conversion: check a record that has or had a weak reference. True: its life was collected
 * unreleased. */
static bool collect(struct bbf_tracker *t, const struct bbf_jvm_refs *heap, uint32_t r)
{
    struct bbf_record *record = bbf_record_at(t, r);
    uint64_t weak = atomic_load_explicit(&record->jweak, memory_order_relaxed);
    if (weak == 0)
        return false;
    bool gone = weak > BBF_STILL_STRONG && heap->collected(heap->ctx, weak);
    /* Acquire, and after the question: invariant 3. */
    uint64_t life = atomic_load_explicit(&record->life, memory_order_acquire);
    bool closed = (life & BBF_L_STATE) == BBF_L_CLOSED, sticky = (life & BBF_L_STICKY) != 0;
    if (closed && !sticky) {
        free_record(t, heap, r, BBF_GENERATION(life));
    } else if (closed && gone) {
        /* CAS, never a plain store: a thread may have opened the object's next life before the
         * object died. */
        if (atomic_compare_exchange_strong_explicit(&record->life, &life,
                                                    life & ~(uint64_t)BBF_L_STICKY,
                                                    memory_order_acq_rel, memory_order_relaxed))
            free_record(t, heap, r, BBF_GENERATION(life));
    } else if (gone && (life & BBF_L_STATE) == BBF_L_OPEN) {
        return bury(t, r, life);
    }
    return false;
}

/* ---- verdicts (design.md: verdicts) ---- */

/* The node where a collected life was, and (below) its memory (MEM_ bits). */
static uint32_t node_of(const struct bbf_tracker *t, uint32_t r, uint32_t g)
{
    uint64_t life = atomic_load_explicit(&bbf_record_at(t, r)->life, memory_order_acquire);
    uint64_t path = atomic_load_explicit(&bbf_record_at(t, r)->path, memory_order_relaxed);
    return bbf_windows_charged(t, life, bbf_node_charged(t, path, g));
}

static uint8_t memory_of(const struct bbf_tracker *t, uint32_t r, uint32_t g)
{
    uint64_t refs = atomic_load_explicit(&bbf_record_at(t, r)->refs, memory_order_relaxed);
    uint64_t life = atomic_load_explicit(&bbf_record_at(t, r)->life, memory_order_relaxed);
    uint8_t mem = BBF_GENERATION(refs) == g ? (uint8_t)(refs >> BBF_L_MEM_SHIFT) : BBF_MEM_UNKNOWN;
    /* It was open when the hooks were removed: its release may not have been seen, like that of a
     * foreign count. */
    bool stopped = t->paused || (life & BBF_L_STOPPED) != 0;
    return stopped ? mem | BBF_L_MEM_FOREIGN : mem;
}

/* The loss, by the class number in its words. */
static uint8_t lost_of(const struct bbf_tracker *t, uint32_t r, uint32_t g)
{
    uint64_t refs = atomic_load_explicit(&bbf_record_at(t, r)->refs, memory_order_relaxed);
    return BBF_GENERATION(refs) == g ? bbf_refs_lost(t, refs) : BBF_LOST_UNKNOWN;
}

static uint32_t generation_of(const struct bbf_tracker *t, uint32_t r)
{
    return BBF_GENERATION(atomic_load_explicit(&bbf_record_at(t, r)->life, memory_order_relaxed));
}

static bool is_held(const struct bbf_tracker *t, uint32_t r)
{
    return bbf_extra_at(t, r)->held == generation_of(t, r);
}

/* Is nothing lost with it? True for the user's own memory, and for a buffer that must not be
 * released (an unreleasable wrapper had it) and whose memory the collector frees. Pooled memory is
 * lost even if it was wrapped. */
static bool is_harmless(const struct bbf_tracker *t, uint32_t r)
{
    uint32_t g = generation_of(t, r);
    uint8_t mem = memory_of(t, r, g);
    return (mem & BBF_L_MEM_HARMLESS) != 0 ||
           ((mem & BBF_L_MEM_STATIC) != 0 && lost_of(t, r, g) != BBF_LOST_FOR_GOOD);
}

static bool is_leak(const struct bbf_tracker *t, uint32_t r)
{
    return !is_harmless(t, r) && !is_held(t, r) &&
           (memory_of(t, r, generation_of(t, r)) & BBF_L_MEM_FOREIGN) == 0;
}

/* Mark the life of `after` as retained by a life that ended unreleased. Once all held lives are
 * known, `loss` says where the first leak that retains it is charged; before that it is NULL. */
static void hold(struct bbf_record_extra *extra, uint32_t g, const struct bbf_record_extra *loss)
{
    if (extra->held != g) {
        extra->held = g;
        extra->leaked = false;
    }
    if (loss != NULL && !extra->leaked) {
        extra->node = loss->node;
        extra->memory = loss->memory;
        extra->lost = loss->lost;
        extra->leaked = true;
    }
}

/* The same for every life from which this dead life was derived. */
static void hold_ancestors(struct bbf_tracker *t, uint32_t dead,
                           const struct bbf_record_extra *loss)
{
    uint64_t parent = atomic_load_explicit(&bbf_record_at(t, dead)->parent, memory_order_relaxed);
    for (int hops = 0; parent != 0 && hops < BBF_L_MAX_UNWRAP; hops++) {
        uint32_t r = BBF_LOW(parent), g = BBF_GENERATION(parent);
        uint64_t above = atomic_load(&bbf_record_at(t, r)->parent);
        /* After its parent was read: the check proves that the parent is that of generation g. */
        if (BBF_GENERATION(atomic_load(&bbf_record_at(t, r)->life)) != g)
            return; /* the owner's life has ended: released, and nothing is left to hold */
        hold(bbf_extra_at(t, r), g, loss);
        parent = above;
    }
}

/* ---- components of composites (design.md: lives) ---- */

/* The composite that this life was a component of, if it was found dead in this scan; 0 = none. */
static uint32_t dead_owner(const struct bbf_tracker *t, uint32_t r)
{
    enum { MASK = (1 << BBF_L_OWNER_GENERATION_BITS) - 1 };
    uint64_t owner = atomic_load_explicit(&bbf_extra_at(t, r)->owner, memory_order_relaxed);
    uint32_t k = (uint32_t)(owner & ((UINT32_C(1) << BBF_L_OWNER_RECORD_BITS) - 1));
    if (k == 0)
        return 0;
    uint64_t life = atomic_load_explicit(&bbf_record_at(t, k)->life, memory_order_relaxed);
    uint64_t generations = (uint64_t)(generation_of(t, r) & MASK) << BBF_L_OWNER_GENERATION_BITS |
                           (BBF_GENERATION(life) & MASK);
    return (life & BBF_L_STATE) == BBF_L_DEAD && owner >> BBF_L_OWNER_RECORD_BITS == generations
               ? k
               : 0;
}

/* The memory and loss of a lost composite are its components', if these are all of one kind. */
static void mix(const struct bbf_tracker *t, struct bbf_record_extra *top, uint32_t r)
{
    uint32_t g = generation_of(t, r);
    uint8_t memory = memory_of(t, r, g) & BBF_L_MEM_KIND, lost = lost_of(t, r, g);
    if (memory == BBF_MEM_COMPOSITE)
        return;
    if (!top->mixed) {
        top->mixed = true;
        top->memory = memory;
        top->lost = lost;
        return;
    }
    if (top->memory != memory)
        top->memory = BBF_MEM_COMPOSITE;
    if (top->lost != lost)
        top->lost = BBF_LOST_UNKNOWN;
}

/*
 * A lost composite still retains its components: they are part of its leak, including those that a
 * later collection finds (pooled buffers are old, composites young). Called twice, like
 * hold_ancestors(): first to find the held lives, then, with `charge`, to set where they are
 * charged.
 */
static void hold_components(struct bbf_tracker *t, uint32_t end, bool charge)
{
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++) {
        uint32_t top = 0, at = r;
        for (int hops = 0; hops < BBF_L_MAX_UNWRAP && (at = dead_owner(t, at)) != 0; hops++)
            top = at; /* for a composite in a composite, the outer one is the leak */
        uint64_t life = atomic_load_explicit(&bbf_record_at(t, r)->life, memory_order_relaxed);
        if (top == 0 || (life & BBF_L_STATE) == BBF_L_CLOSED || !is_leak(t, top))
            continue;
        if (!charge)
            mix(t, bbf_extra_at(t, top), r);
        const struct bbf_record_extra *loss = charge ? bbf_extra_at(t, top) : NULL;
        hold(bbf_extra_at(t, r), BBF_GENERATION(life), loss);
        if ((life & BBF_L_STATE) == BBF_L_DEAD)
            hold_ancestors(t, r, loss);
    }
}

/* The bytes are charged once, to the first life derived from it that leaked (design.md: verdicts).
 * If a reset has dropped that leak since, they are dropped as well. A report multiplies the bytes
 * by the leak's rate (sample=), but a component may have been drawn at another rate; so they are
 * scaled here. */
static void charge_held_bytes(struct bbf_tracker *t, const struct bbf_record_extra *extra,
                              uint32_t node, uint32_t bytes)
{
    const struct bbf_loss first = {
        .node = extra->node, .end = BBF_END_LEAKED, .memory = extra->memory, .lost = extra->lost};
    struct bbf_tomb *tomb = extra->leaked ? bbf_tomb_find(t, &first) : NULL;
    if (tomb == NULL)
        return;
    uint64_t own = bbf_node_weight(t, node), theirs = bbf_node_weight(t, extra->node);
    uint64_t scaled = own == theirs ? bytes : (bytes * own + theirs / 2) / theirs;
    tomb->bytes += scaled;
    bbf_growth_lost_bytes(t, &first, scaled);
}

static void end_life(struct bbf_tracker *t, const struct bbf_jvm_refs *heap, uint32_t r,
                     uint32_t node)
{
    struct bbf_record *record = bbf_record_at(t, r);
    const struct bbf_record_extra *extra = bbf_extra_at(t, r);
    uint32_t g = generation_of(t, r);
    uint64_t size = atomic_load_explicit(&record->size, memory_order_relaxed);
    uint32_t bytes = BBF_GENERATION(size) == g ? BBF_LOW(size) : 0;
    uint32_t now = atomic_load_explicit(bbf_shared_int(t, BBF_L_SHARED_NOW), memory_order_relaxed);
    uint8_t mem = memory_of(t, r, g);
    uint64_t refs = atomic_load_explicit(&record->refs, memory_order_relaxed);
    struct bbf_loss loss = {.node = node,
                            .memory = extra->mixed ? extra->memory : mem & BBF_L_MEM_KIND,
                            .lost = extra->mixed ? extra->lost : lost_of(t, r, g),
                            .seconds = bbf_record_age(record, now),
                            .tid = bbf_record_opener(record),
                            .handle = BBF_WORD(g, r)};
    if (BBF_GENERATION(refs) == g) {
        loss.references = BBF_LOW(refs) & BBF_L_REFS_COUNT;
        bbf_owned_lost(t, refs, bytes);
    }
    if (is_harmless(t, r)) {
        loss.end = BBF_END_HARMLESS;
    } else if ((mem & BBF_L_MEM_FOREIGN) != 0) {
        loss.end = BBF_END_UNKNOWN;
    } else if (extra->held == g) {
        loss.end = BBF_END_HELD;
        charge_held_bytes(t, extra, node, bytes);
    } else {
        loss.end = BBF_END_LEAKED;
        loss.bytes = bytes;
    }
    if (loss.end != BBF_END_UNKNOWN && t->usage.on)
        bbf_usage_add(t, &(struct bbf_usage_life){.node = node,
                                                  .seconds = loss.seconds,
                                                  .bytes = bytes,
                                                  .memory = mem & BBF_L_MEM_KIND,
                                                  .written = BBF_USAGE_NOT_ASKED});
    bbf_tomb_charge(t, &loss);
    atomic_store_explicit(&record->path, BBF_WORD(g, 0), memory_order_relaxed);
    free_record(t, heap, r, g);
}

/* Decide where a dead life that nothing holds is charged. The position is read only once, because a
 * native whose buffer died during the call may still store one. */
static void place(struct bbf_tracker *t, uint32_t r)
{
    struct bbf_record_extra *extra = bbf_extra_at(t, r);
    uint32_t g = generation_of(t, r);
    extra->node = node_of(t, r, g);
    if (!t->dead_composites && atomic_load(&bbf_record_at(t, r)->parent) == 0)
        return; /* it holds nothing */
    if (!extra->mixed) {
        extra->memory = memory_of(t, r, g) & BBF_L_MEM_KIND;
        extra->lost = lost_of(t, r, g);
    }
    if (is_leak(t, r))
        hold_ancestors(t, r, extra);
}

/* Find the held lives and, if composites died, the leak that holds each; before the first life is
 * ended. */
static void find_held(struct bbf_tracker *t, uint32_t end)
{
    for (uint32_t r = t->first_dead; r != 0; r = bbf_extra_at(t, r)->next) {
        bbf_extra_at(t, r)->mixed = false;
        hold_ancestors(t, r, NULL);
    }
    if (t->dead_composites) {
        hold_components(t, end, false);
        for (uint32_t r = t->first_dead; r != 0; r = bbf_extra_at(t, r)->next)
            if (!is_held(t, r))
                place(t, r);
        hold_components(t, end, true);
    }
    for (uint32_t r = t->first_dead; r != 0; r = bbf_extra_at(t, r)->next)
        if (bbf_extra_at(t, r)->leaked &&
            is_held(t, r)) /* a component that was collected after its owner */
            hold_ancestors(t, r, bbf_extra_at(t, r));
}

/* End leaks before the lives that they hold, because these add their bytes to the leaks. Once a
 * life has ended, any thread may take its record: it is not read again. */
static void end_dead(struct bbf_tracker *t, const struct bbf_jvm_refs *heap, uint32_t end)
{
    uint32_t held = 0, last = 0, next;
    find_held(t, end);
    for (uint32_t r = t->first_dead; r != 0; r = next) {
        next = bbf_extra_at(t, r)->next;
        if (!is_held(t, r)) {
            if (!t->dead_composites)
                place(t, r);
            end_life(t, heap, r, bbf_extra_at(t, r)->node);
            continue;
        }
        bbf_extra_at(t, r)->next = 0;
        if (last == 0)
            held = r;
        else
            bbf_extra_at(t, last)->next = r;
        last = r;
    }
    for (uint32_t r = held; r != 0; r = next) {
        next = bbf_extra_at(t, r)->next;
        end_life(t, heap, r, node_of(t, r, generation_of(t, r)));
    }
}

void bbf_lives_scan(struct bbf_tracker *t, const struct bbf_jvm_refs *heap)
{
    /* Acquire: pairs with bbf_record_bump(). */
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    bool found = false;
    t->first_dead = 0;
    t->dead_composites = false;
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        convert(t, heap, r);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        found |= collect(t, heap, r);
    /*
     * An owner is reachable from its derived buffers. So when an owner is found dead, its derived
     * lives are also dead, but they may have been tested before that GC; and so may those derived
     * from them. Repeat until a pass finds no more.
     */
    while (found) {
        found = false;
        for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
            if (atomic_load_explicit(&bbf_record_at(t, r)->parent, memory_order_relaxed) != 0)
                found |= collect(t, heap, r);
    }
    end_dead(t, heap, end);
    if (t->push_head != 0)
        bbf_record_push(t, t->push_head);
    t->push_head = t->push_count = 0;
    t->scans++;
}

void bbf_lives_mark_stopped(struct bbf_tracker *t)
{
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++) {
        struct bbf_record *record = bbf_record_at(t, r);
        uint64_t life = atomic_load_explicit(&record->life, memory_order_relaxed);
        /* CAS: a closer may be first. A sticky close is a plain store that overwrites this flag, so
         * there is still only one end. */
        while ((life & BBF_L_STATE) == BBF_L_OPEN && (life & BBF_L_STOPPED) == 0 &&
               !atomic_compare_exchange_weak_explicit(&record->life, &life, life | BBF_L_STOPPED,
                                                      memory_order_relaxed, memory_order_relaxed))
            ;
    }
}

void bbf_lives_abandon(struct bbf_tracker *t, const struct bbf_jvm_refs *heap)
{
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        (void)heap->clear(heap->ctx,
                          r); /* a chunk of slots that was never made has nothing to clear */
}
