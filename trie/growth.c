/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/growth.h"

#include <stdlib.h>

#include "core/err.h"
#include "trie/model.h"
#include "trie/node.h"
#include "trie/open_life.h"
#include "trie/tomb.h"

static uint32_t now_of(const struct bbf_tracker *t)
{
    return atomic_load_explicit(bbf_shared_int(t, BBF_L_SHARED_NOW), memory_order_relaxed);
}

static bool is_off(const struct bbf_growth_table *g)
{
    return g->seconds == 0 || g->keep == 0 || g->most == 0;
}

/* Of a place, and of its copy in a report. */
static size_t bytes_of(const struct bbf_growth_table *g)
{
    return sizeof(struct bbf_growth) + sizeof(struct bbf_snap_growth) +
           2 * g->keep * sizeof(struct bbf_snap_interval);
}

/* ---- places ---- */

static uint64_t bucket_of(enum bbf_growth_of of, const struct bbf_loss *loss)
{
    uint64_t key = (uint64_t)loss->node << 8 ^ (uint64_t)of << 6 ^ (uint64_t)loss->memory << 3 ^
                   (uint64_t)loss->lost;

    return key * UINT64_C(0x9E3779B97F4A7C15) >> 40 & (BBF_GROWTH_BUCKETS - 1);
}

static struct bbf_growth *find(const struct bbf_growth_table *g, enum bbf_growth_of of,
                               const struct bbf_loss *loss)
{
    struct bbf_growth *place = g->buckets[bucket_of(of, loss)];

    while (place != NULL && (place->node != loss->node || place->of != of ||
                             place->memory != loss->memory || place->lost != loss->lost))
        place = place->next;
    return place;
}

/* NULL: no room. */
static struct bbf_growth *add(struct bbf_tracker *t, enum bbf_growth_of of,
                              const struct bbf_loss *loss)
{
    struct bbf_growth_table *g = &t->growth;
    struct bbf_growth **bucket = &g->buckets[bucket_of(of, loss)];

    if (g->n[of] >= g->most || !bbf_budget_charge(&t->budget, bytes_of(g)))
        return NULL;
    struct bbf_growth *place = calloc(1, sizeof *place + g->keep * sizeof *place->ring);
    if (place == NULL) {
        bbf_budget_uncharge(&t->budget, bytes_of(g));
        return NULL;
    }
    *place = (struct bbf_growth){.next = *bucket,
                                 .node = loss->node,
                                 .of = (uint8_t)of,
                                 .memory = loss->memory,
                                 .lost = loss->lost,
                                 .first = now_of(t),
                                 .at = now_of(t) / g->seconds};
    *bucket = place;
    g->n[of]++;
    return place;
}

/* *link refers to the place; then to the next one. */
static void forget(struct bbf_tracker *t, struct bbf_growth **link)
{
    struct bbf_growth *place = *link;

    *link = place->next;
    t->growth.n[place->of]--;
    bbf_budget_uncharge(&t->budget, bytes_of(&t->growth));
    free(place);
}

/* Make `now` the newest interval, and return it. */
static struct bbf_snap_interval *advance(const struct bbf_growth_table *g, struct bbf_growth *place,
                                         uint32_t now)
{
    const struct bbf_snap_interval none = {0, 0};
    const struct bbf_snap_interval before =
        place->of == BBF_GROWTH_HELD ? place->ring[place->at % g->keep] : none;

    if (now - place->at > g->keep)
        place->at = now - g->keep;
    while (place->at < now)
        place->ring[++place->at % g->keep] = before;
    return &place->ring[now % g->keep];
}

/* ---- lost ---- */

void bbf_growth_lost(struct bbf_tracker *t, const struct bbf_loss *loss)
{
    struct bbf_growth_table *g = &t->growth;

    if (is_off(g))
        return;
    struct bbf_growth *place = find(g, BBF_GROWTH_LOST, loss);
    if (place == NULL)
        place = add(t, BBF_GROWTH_LOST, loss);
    if (place == NULL) {
        g->hit++;
        return;
    }
    struct bbf_snap_interval *at = advance(g, place, now_of(t) / g->seconds);
    at->lives++;
    at->bytes += loss->bytes;
    place->last = now_of(t);
}

void bbf_growth_lost_bytes(struct bbf_tracker *t, const struct bbf_loss *loss, uint64_t bytes)
{
    struct bbf_growth_table *g = &t->growth;
    struct bbf_growth *place = is_off(g) ? NULL : find(g, BBF_GROWTH_LOST, loss);

    if (place != NULL)
        advance(g, place, now_of(t) / g->seconds)->bytes += bytes;
}

/* ---- held ---- */

static void hold(struct bbf_tracker *t, const struct bbf_open_life *life, uint32_t number)
{
    struct bbf_growth_table *g = &t->growth;
    struct bbf_loss loss = life->loss;

    loss.node = life->node;
    struct bbf_growth *place = find(g, BBF_GROWTH_HELD, &loss);
    if (place == NULL)
        place = add(t, BBF_GROWTH_HELD, &loss);
    if (place == NULL) {
        g->hit++;
        return;
    }
    struct bbf_snap_interval *at = &place->ring[number % g->keep];
    at->lives++;
    at->bytes += loss.bytes;
    place->last = now_of(t);
}

static bool is_empty(const struct bbf_growth_table *g, const struct bbf_growth *place)
{
    for (uint32_t i = 0; i < g->keep; i++)
        if (place->ring[i].lives != 0)
            return false;
    return true;
}

/* Begin an interval at every place that holds; forget those that have held nothing for long. */
static void begin_interval(struct bbf_tracker *t, uint32_t number)
{
    struct bbf_growth_table *g = &t->growth;

    for (uint32_t i = 0; i < BBF_GROWTH_BUCKETS; i++)
        for (struct bbf_growth **link = &g->buckets[i]; *link != NULL;) {
            struct bbf_growth *place = *link;
            if (place->of == BBF_GROWTH_HELD)
                *advance(g, place, number) = (struct bbf_snap_interval){0, 0};
            if (place->of == BBF_GROWTH_HELD && is_empty(g, place))
                forget(t, link);
            else
                link = &place->next;
        }
}

/* Does a leak retain it? Then its bytes are the leak's. */
static bool is_retained(const struct bbf_tracker *t, uint32_t r, uint32_t generation)
{
    const struct bbf_record_extra *extra = bbf_extra_at(t, r);
    const struct bbf_loss leak = {
        .node = extra->node, .memory = extra->memory, .lost = extra->lost};

    return extra->held == generation && extra->leaked &&
           find(&t->growth, BBF_GROWTH_LOST, &leak) != NULL;
}

void bbf_growth_look(struct bbf_tracker *t)
{
    struct bbf_growth_table *g = &t->growth;
    struct bbf_open_life life;
    uint32_t now = now_of(t);

    if (is_off(g) || now / g->seconds == g->looked)
        return;
    g->looked = now / g->seconds;
    begin_interval(t, g->looked);
    /* Acquire: pairs with bbf_record_bump(). */
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        if (bbf_open_life_read(t, r, now, &life) && life.loss.seconds > g->seconds &&
            bbf_open_life_is_judged(&life) && !is_retained(t, r, life.generation))
            hold(t, &life, g->looked);
}

/* ---- all ---- */

void bbf_growth_clear(struct bbf_tracker *t)
{
    for (uint32_t i = 0; i < BBF_GROWTH_BUCKETS; i++)
        while (t->growth.buckets[i] != NULL)
            forget(t, &t->growth.buckets[i]);
    t->growth.hit = 0;
}

void bbf_growth_limit(struct bbf_tracker *t, uint64_t seconds, uint64_t keep, uint64_t most)
{
    struct bbf_growth_table *g = &t->growth;

    if (seconds != g->seconds || keep != g->keep || most == 0) {
        bbf_growth_clear(t);
        g->seconds = (uint32_t)seconds;
        g->keep = (uint32_t)keep;
        g->looked = seconds != 0 ? now_of(t) / g->seconds : 0;
    }
    g->most = (uint32_t)most;
}

/* ---- a report ---- */

/* Milliseconds since 1970 of a second since the start. */
static int64_t time_of(const struct bbf_snapshot *s, uint32_t now, uint32_t second)
{
    return s->captured_at_ms - (int64_t)(now - second) * 1000;
}

static int copy(struct bbf_tracker *t, struct bbf_growth *place, uint32_t now,
                struct bbf_snapshot *s)
{
    const struct bbf_growth_table *g = &t->growth;
    const uint32_t number = now / g->seconds, n = number < g->keep ? number + 1 : g->keep;
    const uint64_t weight = bbf_node_weight(t, place->node);
    struct bbf_snap_interval *to = calloc(n, sizeof *to);

    if (to == NULL)
        return BBF_ENOMEM;
    (void)advance(g, place, number);
    for (uint32_t i = 0; i < n; i++) {
        const struct bbf_snap_interval *from = &place->ring[(number - n + 1 + i) % g->keep];
        to[i] = (struct bbf_snap_interval){from->lives * weight, from->bytes * weight};
    }
    s->growth[s->n_growth++] = (struct bbf_snap_growth){.node = place->node,
                                                        .of = (enum bbf_growth_of)place->of,
                                                        .memory = (enum bbf_memory)place->memory,
                                                        .lost = (enum bbf_lost)place->lost,
                                                        .first_ms = time_of(s, now, place->first),
                                                        .last_ms = time_of(s, now, place->last),
                                                        .at = to,
                                                        .n = n};
    return BBF_OK;
}

int bbf_growth_fill(struct bbf_tracker *t, struct bbf_snapshot *s)
{
    struct bbf_growth_table *g = &t->growth;
    const uint32_t now = now_of(t);
    int err = BBF_OK;

    if (is_off(g))
        return BBF_OK;
    s->history.seconds = g->seconds;
    s->history.intervals = g->keep;
    s->history.current_seconds = now % g->seconds;
    s->growth =
        calloc((size_t)g->n[BBF_GROWTH_LOST] + g->n[BBF_GROWTH_HELD] + 1, sizeof *s->growth);
    if (s->growth == NULL)
        return BBF_ENOMEM;
    for (uint32_t i = 0; i < BBF_GROWTH_BUCKETS && err == BBF_OK; i++)
        for (struct bbf_growth *p = g->buckets[i]; p != NULL && err == BBF_OK; p = p->next)
            err = copy(t, p, now, s);
    return err;
}
