/* SPDX-License-Identifier: Apache-2.0 */
#include "render/diverge_join.h"

#include <stdlib.h>

#include "core/err.h"
#include "render/components.h"

/* A row, by the bug that it is part of. */
struct part {
    uint32_t origin_site, component, row;
};

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->origin_site != y->origin_site)
        return x->origin_site < y->origin_site ? -1 : 1;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static bool is_same_bug(const struct part *x, const struct part *y)
{
    return x->origin_site == y->origin_site && x->component == y->component;
}

static uint32_t diverges_at(const struct bbf_divergence *d)
{
    return d->shared != BBF_NO_NODE ? d->shared : d->origin;
}

/* Each subtree is an interval, so that "is it below" is a comparison. */
struct order {
    uint32_t *first, *end; /* by node */
};

static int order_init(struct order *o, const struct bbf_diverge_walk *w)
{
    size_t n = w->snapshot->n_nodes;
    uint32_t roots = 0;

    o->first = calloc(n + 1, sizeof *o->first);
    o->end = calloc(n + 1, sizeof *o->end); /* first the size, then where the next child begins */
    if (o->first == NULL || o->end == NULL)
        return BBF_ENOMEM;
    for (size_t i = n; i-- > 0;) {
        o->end[i]++;
        if (w->parents[i] != BBF_NO_PARENT)
            o->end[w->parents[i]] += o->end[i];
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t *next = w->parents[i] == BBF_NO_PARENT ? &roots : &o->end[w->parents[i]];
        uint32_t size = o->end[i];
        o->first[i] = *next;
        *next += size;
        o->end[i] = o->first[i] + 1;
    }
    return BBF_OK; /* all children are placed: end is the end of the subtree */
}

/* A step at which rows of one bug diverge. */
struct place {
    uint32_t origin, first, node;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->origin != y->origin)
        return x->origin < y->origin ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* `passed` and `released` of a bug: the lives that reached any of its places, each counted once. */
static void count_places(const struct bbf_diverge_walk *w, const struct order *o,
                         struct bbf_divergence *sum, struct place *places, size_t n)
{
    uint32_t end = 0;

    qsort(places, n, sizeof *places, compare_places);
    sum->passed = sum->released = 0;
    sum->places = 0;
    for (size_t i = 0; i < n; i++) {
        bool other = i == 0 || places[i].origin != places[i - 1].origin;
        if (!other && places[i].node == places[i - 1].node)
            continue;
        sum->places++;
        if (!other && places[i].first < end)
            continue; /* below the place before it: its lives are counted */
        end = o->end[places[i].node];
        sum->passed += w->passed[places[i].node];
        sum->released += w->released[places[i].node];
    }
}

static uint64_t lost(const struct bbf_divergence *d)
{
    return d->leaked + d->aged;
}

/* Whose names to show: those of the branch that loses most, but of one that has a last step. */
static bool names_better(const struct bbf_diverge_walk *w, const struct bbf_divergence *d,
                         const struct bbf_divergence *than)
{
    bool cut = bbf_diverge_is_cut(w, d->last), than_cut = bbf_diverge_is_cut(w, than->last);
    return cut != than_cut ? than_cut : lost(d) > lost(than);
}

static void add_row(struct bbf_divergence *sum, const struct bbf_divergence *d)
{
    sum->leaked += d->leaked;
    sum->aged += d->aged;
    if (d->oldest_seconds > sum->oldest_seconds)
        sum->oldest_seconds = d->oldest_seconds;
    sum->bytes += d->bytes;
    sum->ways += d->ways;
    sum->branches += d->branches;
    sum->memories |= d->memories;
    sum->rank = d->rank < sum->rank ? d->rank : sum->rank;
}

struct join {
    const struct bbf_diverge_walk *w;
    struct bbf_divergences *out;
    struct part *parts;
    struct place *places;
    uint32_t *into; /* by row: the joined row */
    struct order order;
};

/* parts [first, end) to one row, the next of `rows`. */
static void join_parts(struct join *j, struct bbf_divergence *rows, size_t count, size_t first,
                       size_t end)
{
    const struct bbf_divergence *all = j->out->rows;
    size_t largest = first;

    for (size_t i = first + 1; i < end; i++)
        if (names_better(j->w, &all[j->parts[i].row], &all[j->parts[largest].row]))
            largest = i;
    struct bbf_divergence sum = all[j->parts[largest].row];
    for (size_t i = first; i < end; i++) {
        const struct bbf_divergence *d = &all[j->parts[i].row];
        uint32_t at = diverges_at(d);
        j->into[j->parts[i].row] = (uint32_t)count;
        j->places[i - first] = (struct place){d->origin, j->order.first[at], at};
        if (i != largest)
            add_row(&sum, d);
    }
    if (end - first > 1)
        count_places(j->w, &j->order, &sum, j->places, end - first);
    rows[count] = sum;
}

static int join_rows(struct join *j)
{
    struct bbf_divergences *out = j->out;
    struct bbf_divergence *rows = calloc(j->w->snapshot->n_leaks + 1, sizeof *rows);
    size_t count = 0;

    if (rows == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0, end; i < out->count; i = end) {
        for (end = i + 1; end < out->count && is_same_bug(&j->parts[i], &j->parts[end]);)
            end++;
        join_parts(j, rows, count++, i, end);
    }
    for (size_t i = 0; i < j->w->snapshot->n_nodes; i++)
        if (j->w->row[i] != 0)
            j->w->row[i] = j->into[j->w->row[i] - 1] + 1;
    free(out->rows);
    out->rows = rows;
    out->count = count;
    return BBF_OK;
}

static int find_parts(struct join *j)
{
    const struct bbf_snapshot *s = j->w->snapshot;
    struct bbf_components components;
    int err = bbf_components_init(&components, s, j->w->parents);

    if (err != BBF_OK)
        return err;
    for (uint32_t i = 0; i < j->out->count; i++) {
        struct bbf_divergence *d = &j->out->rows[i];
        uint32_t component = components.of[s->nodes[d->last].site];
        d->loop = components.size[component] > 1;
        j->parts[i] = (struct part){j->w->by_method ? 0 : s->nodes[d->origin].site, component, i};
    }
    bbf_components_free(&components);
    qsort(j->parts, j->out->count, sizeof *j->parts, compare_parts);
    return BBF_OK;
}

int bbf_diverge_join(const struct bbf_diverge_walk *w, struct bbf_divergences *out)
{
    struct join j = {.w = w, .out = out};
    int err = order_init(&j.order, w);

    j.parts = calloc(out->count + 1, sizeof *j.parts);
    j.places = calloc(out->count + 1, sizeof *j.places);
    j.into = calloc(out->count + 1, sizeof *j.into);
    if (err == BBF_OK && (j.parts == NULL || j.places == NULL || j.into == NULL))
        err = BBF_ENOMEM;
    if (err == BBF_OK)
        err = find_parts(&j);
    if (err == BBF_OK)
        err = join_rows(&j);
    free(j.order.end);
    free(j.order.first);
    free(j.into);
    free(j.places);
    free(j.parts);
    return err;
}
