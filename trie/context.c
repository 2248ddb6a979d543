/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/context.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "snapshot/snapshot.h"
#include "trie/context_text.h"
#include "trie/model.h"

enum {
    GUARD = BBF_L_CONTEXT_GUARD / 8,
    CHANNEL = BBF_L_CONTEXT_CHANNEL / 8,
    STEP = BBF_L_CONTEXT_SIZE << 10
};

static size_t place_bytes(const struct bbf_context_table *c)
{
    return sizeof(struct bbf_context_place) + c->keep * sizeof(struct bbf_lost_context);
}

/* ---- what the hooks write to ---- */

bool bbf_context_switch(struct bbf_tracker *t, bool on)
{
    struct bbf_context_table *c = &t->contexts;
    size_t size = t->records.size / sizeof(struct bbf_record) * sizeof(struct bbf_context);
    uint64_t address = 0;

    if (on && c->space.base == NULL) {
        if (bbf_space_reserve(&c->space, size, &t->budget) != BBF_OK) {
            c->space.base = NULL;
            return false;
        }
        c->space.step = STEP;
    }
    if (on)
        address = (uint64_t)(uintptr_t)c->space.base;
    /* Release: a hook that sees the address finds the space behind it reserved. */
    atomic_store_explicit(bbf_shared_long(t, BBF_L_SHARED_CONTEXTS), address, memory_order_release);
    return true;
}

bool bbf_context_reach(struct bbf_tracker *t, uint32_t record)
{
    return atomic_load(bbf_shared_long(t, BBF_L_SHARED_CONTEXTS)) != 0 &&
           bbf_space_reach_entries(&t->contexts.space, sizeof(struct bbf_context),
                                   (size_t)record + 1,
                                   bbf_shared_long(t, BBF_L_SHARED_CONTEXTS_END));
}

uint32_t bbf_context_name(struct bbf_tracker *t, const char *name)
{
    struct bbf_context_table *c = &t->contexts;
    uint32_t number = 1;

    pthread_mutex_lock(&c->lock);
    while (number <= c->n_names && strcmp(c->names[number], name) != 0)
        number++;
    if (number > c->n_names) {
        size_t bytes = strlen(name) + 1;
        char *copy = number < BBF_CONTEXT_NAMES && bbf_budget_charge(&t->budget, bytes)
                         ? strdup(name)
                         : NULL;
        if (copy != NULL)
            c->names[c->n_names = number] = copy;
        else
            number = 0;
    }
    pthread_mutex_unlock(&c->lock);
    return number;
}

bool bbf_context_read(const struct bbf_tracker *t, uint64_t handle, uint64_t *words)
{
    const struct bbf_space *space = &t->contexts.space;
    size_t at = (size_t)BBF_LOW(handle) * sizeof(struct bbf_context);

    /* Beyond the writable part it reads as zeros: generation 0 is no life's. */
    if (space->base == NULL || at + sizeof(struct bbf_context) > space->size)
        return false;
    struct bbf_context *context = (struct bbf_context *)(void *)(space->base + at);
    /* Acquire: pairs with the release of the writer that made this version. */
    uint64_t guard = atomic_load_explicit(&context->word[GUARD], memory_order_acquire);
    if (BBF_GENERATION(guard) != BBF_GENERATION(handle) || BBF_LOW(guard) == 0 || (guard & 1) != 0)
        return false;
    words[GUARD] = 0;
    for (int i = GUARD + 1; i < BBF_CONTEXT_WORDS; i++)
        /* Acquire: the guard is loaded again after each of them. */
        words[i] = atomic_load_explicit(&context->word[i], memory_order_acquire);
    return atomic_load_explicit(&context->word[GUARD], memory_order_relaxed) == guard;
}

/* ---- lost lives ---- */

void bbf_context_limit(struct bbf_tracker *t, uint64_t keep, uint64_t most)
{
    if (keep != t->contexts.keep) {
        bbf_context_clear(t);
        t->contexts.keep = (uint32_t)keep;
    }
    t->contexts.most = (uint32_t)most;
}

static struct bbf_context_place *find_or_add(struct bbf_tracker *t, uint32_t node)
{
    struct bbf_context_table *c = &t->contexts;
    struct bbf_context_place **bucket = &c->buckets[node % BBF_CONTEXT_BUCKETS], *place = *bucket;

    while (place != NULL && place->node != node)
        place = place->next;
    if (place != NULL)
        return place;
    if (c->n >= c->most || !bbf_budget_charge(&t->budget, place_bytes(c)))
        return NULL;
    place = calloc(1, place_bytes(c));
    if (place == NULL) {
        bbf_budget_uncharge(&t->budget, place_bytes(c));
        return NULL;
    }
    place->node = node;
    place->next = *bucket;
    *bucket = place;
    c->n++;
    return place;
}

/* That of the life itself, or where it never saw a channel that of the nearest life with one of
 * those that it was derived from; each proves itself by its generation. */
static bool read_nearest(const struct bbf_tracker *t, uint64_t handle, uint64_t *words)
{
    uint64_t parent = atomic_load(&bbf_record_at(t, BBF_LOW(handle))->parent);
    uint64_t theirs[BBF_CONTEXT_WORDS];
    bool found = bbf_context_read(t, handle, words);

    for (int hops = 0; parent != 0 && hops < BBF_L_MAX_UNWRAP; hops++) {
        if (found && (words[CHANNEL] & BBF_L_CONTEXT_OF_CHANNEL) != 0)
            break;
        uint64_t above = atomic_load(&bbf_record_at(t, BBF_LOW(parent))->parent);
        if (BBF_GENERATION(atomic_load(&bbf_record_at(t, BBF_LOW(parent))->life)) !=
            BBF_GENERATION(parent))
            break; /* that life is over, and `above` is another's */
        if (bbf_context_read(t, parent, theirs) &&
            (!found || (theirs[CHANNEL] & BBF_L_CONTEXT_OF_CHANNEL) != 0)) {
            memcpy(words, theirs, sizeof theirs);
            found = true;
        }
        parent = above;
    }
    return found;
}

void bbf_context_lost(struct bbf_tracker *t, const struct bbf_loss *loss)
{
    struct bbf_context_table *c = &t->contexts;
    uint64_t words[BBF_CONTEXT_WORDS];

    if (c->space.base == NULL || c->keep == 0 || loss->handle == 0 ||
        !read_nearest(t, loss->handle, words))
        return;
    struct bbf_context_place *place = find_or_add(t, loss->node);
    if (place == NULL) {
        c->hit++;
        return;
    }
    struct bbf_lost_context *to = &place->ring[place->n++ % c->keep];
    to->second = atomic_load_explicit(bbf_shared_int(t, BBF_L_SHARED_NOW), memory_order_relaxed);
    to->open = loss->seconds;
    memcpy(to->word, words, sizeof words);
}

void bbf_context_clear(struct bbf_tracker *t)
{
    struct bbf_context_table *c = &t->contexts;

    for (uint32_t i = 0; i < BBF_CONTEXT_BUCKETS; i++)
        while (c->buckets[i] != NULL) {
            struct bbf_context_place *place = c->buckets[i];
            c->buckets[i] = place->next;
            bbf_budget_uncharge(&t->budget, place_bytes(c));
            free(place);
        }
    c->n = 0;
    c->hit = 0;
}

/* ---- a report ---- */

static const char *name_of(struct bbf_tracker *t, uint64_t number)
{
    const char *name = NULL;

    pthread_mutex_lock(&t->contexts.lock);
    if (number > 0 && number <= t->contexts.n_names)
        name = t->contexts.names[number]; /* never freed */
    pthread_mutex_unlock(&t->contexts.lock);
    return name;
}

static int copy(struct bbf_tracker *t, uint32_t node, const struct bbf_lost_context *from,
                struct bbf_snapshot *s)
{
    uint32_t now = atomic_load_explicit(bbf_shared_int(t, BBF_L_SHARED_NOW), memory_order_relaxed);
    uint64_t thrown = from->word[BBF_L_CONTEXT_THROWN / 8];
    const struct bbf_context_names names = {.hint = name_of(t, from->word[BBF_L_CONTEXT_HINT / 8]),
                                            .thrown = name_of(t, BBF_LOW(thrown)),
                                            .caught_in = bbf_site_get(t, BBF_GENERATION(thrown))};
    struct bbf_snap_context *to = &s->contexts[s->n_contexts++];

    *to = (struct bbf_snap_context){.node = node,
                                    .lost_ms =
                                        s->captured_at_ms - (int64_t)(now - from->second) * 1000,
                                    .open_seconds = from->open};
    return bbf_context_text(from->word, &names, to);
}

int bbf_context_fill(struct bbf_tracker *t, struct bbf_snapshot *s)
{
    struct bbf_context_table *c = &t->contexts;
    int err = BBF_OK;

    if (c->n == 0)
        return BBF_OK;
    s->contexts = calloc((size_t)c->n * c->keep, sizeof *s->contexts);
    if (s->contexts == NULL)
        return BBF_ENOMEM;
    for (uint32_t i = 0; i < BBF_CONTEXT_BUCKETS; i++)
        for (struct bbf_context_place *p = c->buckets[i]; p != NULL && err == BBF_OK; p = p->next)
            for (uint32_t k = 0; k < p->n && k < c->keep && err == BBF_OK; k++)
                err = copy(t, p->node, &p->ring[(p->n - 1 - k) % c->keep], s);
    return err;
}

void bbf_context_counts(struct bbf_tracker *t, struct bbf_context_counts *out)
{
    out->dropped = atomic_load(bbf_shared_long(t, BBF_L_SHARED_CONTEXT_DROPPED));
    out->unread = atomic_load(bbf_shared_long(t, BBF_L_SHARED_CONTEXT_UNREAD));
    out->unread_of = name_of(t, atomic_load(bbf_shared_int(t, BBF_L_SHARED_CONTEXT_UNREAD_OF)));
}
