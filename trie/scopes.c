/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/scopes.h"

#include <stdlib.h>

#include "core/err.h"
#include "trie/model.h"
#include "trie/open_life.h"

enum { STEP = BBF_L_SCOPE_SIZE << 14 };
enum { NUMBER_BITS = 24, AMBIGUOUS = BBF_L_SCOPE_NUMBER };
enum { PLACES = BBF_SCOPE_SETS * BBF_SCOPE_WAYS };

/* ---- what the hooks write to ---- */

static bool make(struct bbf_tracker *t)
{
    struct bbf_scope_table *s = &t->scopes;
    const size_t marks = PLACES * sizeof(uint64_t);

    for (int i = 0; i < BBF_SCOPE_MARKS; i++) {
        if (s->marks[i] != NULL)
            continue;
        if (!bbf_budget_charge(&t->budget, marks))
            return false;
        s->marks[i] = calloc(PLACES, sizeof *s->marks[i]);
        if (s->marks[i] == NULL) {
            bbf_budget_uncharge(&t->budget, marks);
            return false;
        }
    }
    size_t size = t->records.size / sizeof(struct bbf_record) * sizeof(struct bbf_scope_words);
    if (s->space.base == NULL) {
        if (bbf_space_reserve(&s->space, size, &t->budget) != BBF_OK) {
            s->space.base = NULL;
            return false;
        }
        s->space.step = STEP;
    }
    return true;
}

bool bbf_scopes_switch(struct bbf_tracker *t, bool on)
{
    _Atomic uint32_t *slow = bbf_shared_int(t, BBF_L_SHARED_SLOW_HOOKS);

    if (on && !make(t))
        return false;
    uint64_t address = on ? (uint64_t)(uintptr_t)t->scopes.space.base : 0;
    atomic_store(&t->scopes.on, on);
    /* Release: a hook that sees the address finds the space behind it reserved. */
    atomic_store_explicit(bbf_shared_long(t, BBF_L_SHARED_SCOPES), address, memory_order_release);
    if (on)
        atomic_fetch_or(slow, (uint32_t)BBF_L_SLOW_SCOPES);
    else
        atomic_fetch_and(slow, ~(uint32_t)BBF_L_SLOW_SCOPES);
    return true;
}

bool bbf_scopes_on(const struct bbf_tracker *t)
{
    return atomic_load(&t->scopes.on);
}

bool bbf_scopes_reach(struct bbf_tracker *t, uint32_t record)
{
    return atomic_load(bbf_shared_long(t, BBF_L_SHARED_SCOPES)) != 0 &&
           bbf_space_reach_entries(&t->scopes.space, sizeof(struct bbf_scope_words),
                                   (size_t)record + 1, bbf_shared_long(t, BBF_L_SHARED_SCOPES_END));
}

/* ---- marks ---- */

/* The finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The places of a key, and its tag, which is never 0: a word of 0 is a free place. */
static _Atomic uint64_t *set_of(const struct bbf_tracker *t, enum bbf_scope_marks of, uint64_t key,
                                uint64_t *tag)
{
    /* Acquire: pairs with the release of the switch, whose thread made the table. */
    if (atomic_load_explicit(bbf_shared_long(t, BBF_L_SHARED_SCOPES), memory_order_acquire) == 0)
        return NULL;
    uint64_t hash = mix(key);
    *tag = (hash >> NUMBER_BITS | 1) << NUMBER_BITS;
    return t->scopes.marks[of] + hash % BBF_SCOPE_SETS * BBF_SCOPE_WAYS;
}

/* Relaxed everywhere: a word is a value by itself, and what leads from one thread to the other (a
 * queue, a selector) orders it. */
static bool mark_known(_Atomic uint64_t *set, uint64_t tag, uint32_t number)
{
    for (int i = 0; i < BBF_SCOPE_WAYS; i++) {
        uint64_t word = atomic_load_explicit(&set[i], memory_order_relaxed);
        while ((word ^ tag) >> NUMBER_BITS == 0) {
            uint64_t now = (word & AMBIGUOUS) == number ? word : tag | AMBIGUOUS;
            if (atomic_compare_exchange_weak_explicit(&set[i], &word, now, memory_order_relaxed,
                                                      memory_order_relaxed))
                return true;
        }
    }
    return false;
}

void bbf_scopes_mark(struct bbf_tracker *t, enum bbf_scope_marks of, uint64_t key, uint32_t number)
{
    uint64_t tag;
    _Atomic uint64_t *set = set_of(t, of, key, &tag);

    if (set == NULL || mark_known(set, tag, number))
        return;
    for (int i = 0; i < BBF_SCOPE_WAYS; i++) {
        uint64_t empty = 0;
        if (atomic_compare_exchange_strong_explicit(&set[i], &empty, tag | number,
                                                    memory_order_relaxed, memory_order_relaxed))
            return;
    }
    uint32_t oldest = atomic_fetch_add_explicit(&t->scopes.oldest, 1, memory_order_relaxed);
    atomic_store_explicit(&set[oldest % BBF_SCOPE_WAYS], tag | number, memory_order_relaxed);
    atomic_fetch_add_explicit(&t->scopes.evicted, 1, memory_order_relaxed);
}

uint32_t bbf_scopes_marked(struct bbf_tracker *t, enum bbf_scope_marks of, uint64_t key, bool take)
{
    uint64_t tag;
    _Atomic uint64_t *set = set_of(t, of, key, &tag);

    for (int i = 0; set != NULL && i < BBF_SCOPE_WAYS; i++) {
        uint64_t word = atomic_load_explicit(&set[i], memory_order_relaxed);
        if ((word ^ tag) >> NUMBER_BITS != 0)
            continue;
        if (take) /* if it was marked again meanwhile it stays, and is ambiguous then */
            (void)atomic_compare_exchange_strong_explicit(&set[i], &word, 0, memory_order_relaxed,
                                                          memory_order_relaxed);
        return (word & AMBIGUOUS) == AMBIGUOUS ? 0 : (uint32_t)(word & AMBIGUOUS);
    }
    return 0;
}

uint32_t bbf_scopes_new(struct bbf_tracker *t)
{
    uint32_t last = atomic_load(&t->scopes.last);

    do
        if (last >= AMBIGUOUS - 1)
            return 0;
    while (!atomic_compare_exchange_weak(&t->scopes.last, &last, last + 1));
    return last + 1;
}

/* ---- lost lives ---- */

/* False: the life was opened before scopes were noted, or had no room. */
static bool read_words(const struct bbf_tracker *t, uint64_t handle, uint32_t *number,
                       uint32_t *during)
{
    const struct bbf_space *space = &t->scopes.space;
    size_t at = (size_t)BBF_LOW(handle) * sizeof(struct bbf_scope_words);

    /* Beyond the writable part it reads as zeros: generation 0 is no life's. */
    if (space->base == NULL || at + sizeof(struct bbf_scope_words) > space->size)
        return false;
    struct bbf_scope_words *words = (struct bbf_scope_words *)(void *)(space->base + at);
    /* Acquire: pairs with the release of the thread that wrote both. */
    uint64_t of = atomic_load_explicit(&words->of, memory_order_acquire);
    uint64_t then = atomic_load_explicit(&words->during, memory_order_relaxed);
    if (BBF_GENERATION(of) != BBF_GENERATION(handle))
        return false;
    *number = BBF_LOW(of);
    *during = BBF_GENERATION(then) == BBF_GENERATION(handle) ? BBF_LOW(then) : 0;
    return true;
}

static struct bbf_scope_place **bucket_of(struct bbf_tracker *t, uint32_t number)
{
    return &t->scopes.buckets[number % BBF_SCOPE_BUCKETS];
}

static bool is_same(const struct bbf_scope_loss *a, const struct bbf_scope_loss *b)
{
    return a->number == b->number && a->during == b->during && a->node == b->node &&
           a->memory == b->memory && a->lost == b->lost;
}

static struct bbf_scope_place *find_or_add(struct bbf_tracker *t, const struct bbf_scope_loss *like)
{
    struct bbf_scope_place **bucket = bucket_of(t, like->number), *place = *bucket;

    while (place != NULL && !is_same(&place->loss, like))
        place = place->next;
    if (place != NULL)
        return place;
    if (t->scopes.n >= BBF_SCOPE_LOSSES || !bbf_budget_charge(&t->budget, sizeof *place))
        return NULL;
    place = malloc(sizeof *place);
    if (place == NULL) {
        bbf_budget_uncharge(&t->budget, sizeof *place);
        return NULL;
    }
    *place = (struct bbf_scope_place){.next = *bucket, .loss = *like};
    *bucket = place;
    t->scopes.n++;
    return place;
}

void bbf_scopes_lost(struct bbf_tracker *t, const struct bbf_loss *loss)
{
    struct bbf_scope_loss like = {.node = loss->node, .memory = loss->memory, .lost = loss->lost};

    if (loss->handle == 0 || !read_words(t, loss->handle, &like.number, &like.during))
        return;
    pthread_mutex_lock(&t->scopes.lock);
    struct bbf_scope_place *place = find_or_add(t, &like);
    if (place != NULL) {
        place->loss.count++;
        place->loss.bytes += loss->bytes;
    } else {
        t->scopes.hit++;
    }
    pthread_mutex_unlock(&t->scopes.lock);
}

void bbf_scopes_clear(struct bbf_tracker *t)
{
    struct bbf_scope_table *s = &t->scopes;

    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < BBF_SCOPE_BUCKETS; i++)
        while (s->buckets[i] != NULL) {
            struct bbf_scope_place *place = s->buckets[i];
            s->buckets[i] = place->next;
            bbf_budget_uncharge(&t->budget, sizeof *place);
            free(place);
        }
    s->n = 0;
    pthread_mutex_unlock(&s->lock);
}

uint64_t bbf_scopes_losses(struct bbf_tracker *t, uint32_t number)
{
    uint64_t count = 0;

    pthread_mutex_lock(&t->scopes.lock);
    for (struct bbf_scope_place *p = *bucket_of(t, number); p != NULL; p = p->next)
        count += p->loss.number == number ? p->loss.count : 0;
    pthread_mutex_unlock(&t->scopes.lock);
    return count;
}

size_t bbf_scopes_list(struct bbf_tracker *t, uint32_t number, uint32_t during,
                       struct bbf_scope_loss *out, size_t most)
{
    size_t n = 0;

    pthread_mutex_lock(&t->scopes.lock);
    for (struct bbf_scope_place *p = *bucket_of(t, number); p != NULL && n < most; p = p->next)
        if (p->loss.number == number && (during == UINT32_MAX || p->loss.during == during))
            out[n++] = p->loss;
    pthread_mutex_unlock(&t->scopes.lock);
    return n;
}

/* ---- open lives ---- */

uint64_t bbf_scopes_open(const struct bbf_tracker *t, uint32_t number)
{
    /* Acquire: pairs with bbf_record_bump(). */
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    uint32_t now = atomic_load_explicit(bbf_shared_int(t, BBF_L_SHARED_NOW), memory_order_relaxed);
    uint64_t open = 0;

    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++) {
        struct bbf_open_life life;
        uint32_t of, during;
        uint64_t word = atomic_load_explicit(&bbf_record_at(t, r)->life, memory_order_relaxed);
        if ((word & BBF_L_STATE) == BBF_L_OPEN &&
            read_words(t, BBF_WORD(BBF_GENERATION(word), r), &of, &during) && of == number &&
            bbf_open_life_read(t, r, now, &life) && bbf_open_life_is_judged(&life))
            open++;
    }
    return open;
}

void bbf_scopes_counts(struct bbf_tracker *t, struct bbf_scope_counts *out)
{
    out->dropped = atomic_load(bbf_shared_long(t, BBF_L_SHARED_SCOPE_DROPPED));
    out->evicted = atomic_load(&t->scopes.evicted);
    pthread_mutex_lock(&t->scopes.lock);
    out->lost = t->scopes.hit;
    pthread_mutex_unlock(&t->scopes.lock);
}
