/* SPDX-License-Identifier: Apache-2.0 */
#include "render/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "core/safe.h"
#include "render/fingerprint.h"

/* A set of numbers with a value each: open addressing, at most half full. */
struct map {
    struct pair {
        uint64_t key; /* 0: free */
        uint32_t value;
    } * pairs;
    size_t size, n;
};

struct bbf_metrics {
    size_t most, n;
    struct map of_node; /* a node's id + 1: the place of its losses */
    struct map of_row;  /* the same by the fingerprint of the path that ends there */
    struct map of_id;   /* the place of an entry; also of those that are among the others */
    size_t others;
    const struct bbf_metric_place *worst;
    struct {
        uint64_t now, carried, shown;
        bool was_reset; /* since `now` */
    } totals[BBF_METRIC_TOTALS];
    struct bbf_metric_place places[]; /* most + 1 */
};

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* ---- maps ---- */

/* The pair of the key, or the free one where it would be. */
static struct pair *find(const struct map *map, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (map->size - 1);

    while (map->pairs[at].key != 0 && map->pairs[at].key != key)
        at = (at + 1) & (map->size - 1);
    return &map->pairs[at];
}

static int grow(struct map *map)
{
    struct map larger = {.size = map->size > 0 ? 2 * map->size : 64, .n = map->n};

    larger.pairs = calloc(larger.size, sizeof *larger.pairs);
    if (larger.pairs == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < map->size; i++)
        if (map->pairs[i].key != 0)
            *find(&larger, map->pairs[i].key) = map->pairs[i];
    free(map->pairs);
    *map = larger;
    return BBF_OK;
}

static int put(struct map *map, uint64_t key, uint32_t value)
{
    int err = 2 * map->n >= map->size ? grow(map) : BBF_OK;

    if (err == BBF_OK) {
        *find(map, key) = (struct pair){key, value};
        map->n++;
    }
    return err;
}

static bool get(const struct map *map, uint64_t key, uint32_t *value)
{
    const struct pair *pair = map->size > 0 ? find(map, key) : NULL;

    if (pair == NULL || pair->key == 0)
        return false;
    *value = pair->value;
    return true;
}

static void clear(struct map *map)
{
    free(map->pairs);
    *map = (struct map){NULL, 0, 0};
}

/* ---- places ---- */

struct bbf_metrics *bbf_metrics_new(size_t most)
{
    struct bbf_metrics *m = calloc(1, sizeof *m + (most + 1) * sizeof *m->places);

    if (m != NULL)
        m->most = most;
    return m;
}

void bbf_metrics_free(struct bbf_metrics *m)
{
    if (m == NULL)
        return;
    clear(&m->of_node);
    clear(&m->of_row);
    clear(&m->of_id);
    free(m);
}

/* Cut between two characters. */
static void keep_name(struct bbf_metric_place *place, const struct bbf_name *name)
{
    const char *at = name->text, *end = at + name->len;
    uint32_t code;

    while (at < end) {
        size_t step = bbf_utf8_next(at, end, &code);
        if ((size_t)(at - name->text) + step > BBF_METRIC_PLACE_BYTES)
            break;
        at += step;
    }
    memcpy(place->name, name->text, (size_t)(at - name->text));
}

/* The place of an entry whose last step that is; a new one if there is room, else the others. */
static int place_of_entry(struct bbf_metrics *m, const struct bbf_view *view, uint32_t last,
                          uint32_t *place)
{
    uint64_t id = bbf_fingerprint_leak(view, last);

    if (get(&m->of_id, id, place))
        return BBF_OK;
    bool fits = m->n < m->most;
    *place = fits ? (uint32_t)m->n : (uint32_t)m->most;
    int err = put(&m->of_id, id, *place);
    if (err != BBF_OK)
        return err;
    m->others += !fits;
    if (fits) {
        const struct bbf_snapshot *s = view->snapshot;
        struct bbf_metric_place *row = &m->places[m->n++];
        row->id = id;
        keep_name(row, &view->names.names[s->nodes[bbf_owner_to_mend(view, last)].site]);
    }
    return BBF_OK;
}

/* The place of a leak row: the one it had before, by its node or by its path. */
static int place_of_row(struct bbf_metrics *m, const struct bbf_view *view, size_t row,
                        uint32_t *place)
{
    const struct bbf_snapshot *s = view->snapshot;
    uint32_t node = s->leaks[row].node, entry = view->divergences.of_leak[row];
    uint64_t key = (uint64_t)s->nodes[node].id + 1;

    if (get(&m->of_node, key, place))
        return BBF_OK;
    uint64_t path = bbf_fingerprint_leak(view, node);
    if (!get(&m->of_row, path, place)) {
        int err = place_of_entry(m, view, view->divergences.rows[entry].last, place);
        if (err == BBF_OK)
            err = put(&m->of_row, path, *place);
        if (err != BBF_OK)
            return err;
    }
    return put(&m->of_node, key, *place);
}

static bool is_counter(size_t value)
{
    return value == BBF_PLACE_LEAKED || value == BBF_PLACE_LEAKED_BYTES;
}

static void show(struct bbf_metric_place *place)
{
    for (size_t v = 0; v < BBF_PLACE_VALUES; v++) {
        uint64_t all = sum(place->carried[v], place->now[v]);
        if (!is_counter(v) || all > place->shown[v])
            place->shown[v] = all;
    }
}

static void add_leak(struct bbf_metric_place *place, const struct bbf_snap_leak *leak)
{
    bool leaked = leak->verdict == BBF_VERDICT_LEAKED;
    uint64_t *count = &place->now[leaked ? BBF_PLACE_LEAKED : BBF_PLACE_AGED];
    uint64_t *bytes = &place->now[leaked ? BBF_PLACE_LEAKED_BYTES : BBF_PLACE_AGED_BYTES];

    *count = sum(*count, leak->count);
    *bytes = sum(*bytes, leak->bytes);
}

static int gather_entries(struct bbf_metrics *m, const struct bbf_view *view)
{
    int err = BBF_OK;

    for (size_t i = 0; i < view->divergences.count && err == BBF_OK; i++) {
        const struct bbf_divergence *d = &view->divergences.rows[i];
        uint32_t place = 0;
        err = place_of_entry(m, view, d->last, &place);
        if (err == BBF_OK)
            m->places[place].now[BBF_PLACE_BUFFERS] =
                sum(m->places[place].now[BBF_PLACE_BUFFERS], d->passed);
    }
    return err;
}

int bbf_metrics_gather(struct bbf_metrics *m, const struct bbf_view *view)
{
    int err = BBF_OK;

    for (size_t i = 0; i <= m->most; i++)
        memset(m->places[i].now, 0, sizeof m->places[i].now);
    for (size_t row = 0; row < view->snapshot->n_leaks && err == BBF_OK; row++) {
        uint32_t place = 0;
        err = place_of_row(m, view, row, &place);
        if (err == BBF_OK)
            add_leak(&m->places[place], &view->snapshot->leaks[row]);
    }
    if (err == BBF_OK)
        err = gather_entries(m, view);
    m->worst = NULL;
    for (size_t i = 0; err == BBF_OK && i <= m->most; i++) {
        struct bbf_metric_place *p = &m->places[i];
        show(p);
        if (i < m->n && p->now[BBF_PLACE_LEAKED] > 0 &&
            (m->worst == NULL ||
             p->now[BBF_PLACE_LEAKED_BYTES] > m->worst->now[BBF_PLACE_LEAKED_BYTES]))
            m->worst = p;
    }
    return err;
}

const struct bbf_metric_place *bbf_metrics_places(const struct bbf_metrics *m, size_t *n)
{
    *n = m->n;
    return m->places;
}

const struct bbf_metric_place *bbf_metrics_rest(const struct bbf_metrics *m)
{
    return &m->places[m->most];
}

size_t bbf_metrics_others(const struct bbf_metrics *m)
{
    return m->others;
}

const struct bbf_metric_place *bbf_metrics_worst(const struct bbf_metrics *m)
{
    return m->worst;
}

/* ---- totals ---- */

uint64_t bbf_metrics_total(struct bbf_metrics *m, size_t of, uint64_t now)
{
    /* A reset leaves some counters as they are. */
    if (m->totals[of].was_reset && now < m->totals[of].now)
        m->totals[of].carried = sum(m->totals[of].carried, m->totals[of].now);
    m->totals[of].was_reset = false;
    m->totals[of].now = now;
    uint64_t all = sum(m->totals[of].carried, now);
    if (all > m->totals[of].shown)
        m->totals[of].shown = all;
    return m->totals[of].shown;
}

void bbf_metrics_carry(struct bbf_metrics *m, bool nodes)
{
    for (size_t i = 0; i <= m->most; i++)
        for (size_t v = 0; v < BBF_PLACE_VALUES; v++)
            if (is_counter(v))
                m->places[i].carried[v] = m->places[i].shown[v];
    for (size_t i = 0; i < BBF_METRIC_TOTALS; i++)
        m->totals[i].was_reset = true;
    if (nodes)
        clear(&m->of_node);
}
