/* SPDX-License-Identifier: Apache-2.0 */
#include "render/diverge_find.h"

#include "core/err.h"
#include "render/diverge_ends.h"
#include "render/diverge_join.h"
#include "render/diverge_walk.h"
#include "render/leaks.h"

#include <stdlib.h>
#include <string.h>

static bool begins(const struct bbf_diverge_walk *w, uint32_t i)
{
    const struct bbf_snapshot *s = w->snapshot;
    return w->parents[i] == BBF_NO_PARENT || s->sites[s->nodes[i].site].kind == BBF_SITE_DERIVE;
}

static int walk_init(struct bbf_diverge_walk *w)
{
    size_t n = w->snapshot->n_nodes + 1;

    w->passed = calloc(n, sizeof *w->passed);
    w->released = calloc(n, sizeof *w->released);
    w->origin = calloc(n, sizeof *w->origin);
    w->losing = calloc(n, sizeof *w->losing);
    w->kept = calloc(n, sizeof *w->kept);
    w->there = calloc(n, sizeof *w->there);
    w->row = calloc(n, sizeof *w->row);
    w->depth = calloc(n, sizeof *w->depth);
    return w->passed == NULL || w->released == NULL || w->origin == NULL || w->losing == NULL ||
                   w->kept == NULL || w->there == NULL || w->row == NULL || w->depth == NULL
               ? BBF_ENOMEM
               : 0;
}

static void walk_free(struct bbf_diverge_walk *w)
{
    free(w->passed);
    free(w->released);
    free(w->origin);
    free(w->losing);
    free(w->kept);
    free(w->there);
    free(w->row);
    free(w->depth);
}

/* Children before parents: sums, and each node's best child. */
static void sum_up(struct bbf_diverge_walk *w)
{
    for (uint32_t i = (uint32_t)w->snapshot->n_nodes; i-- > 0;) {
        const struct bbf_snap_node *node = &w->snapshot->nodes[i];
        w->passed[i] += node->released_ + node->live_ + node->leaked_ + node->held_ +
                        node->harmless_ + node->unknown_;
        w->released[i] += node->released_;
        w->there[i] += node->released_; /* at a limit there was no node left for the release */
        if (begins(w, i))
            continue;
        uint32_t parent = w->parents[i];
        w->passed[parent] += w->passed[i];
        w->released[parent] += w->released[i];
        /* `kept` holds index + 1; of equals the first node stays. */
        if (w->snapshot->sites[node->site].kind == BBF_SITE_RELEASE)
            w->there[parent] += w->released[i];
        else if (w->released[i] > 0 &&
                 (w->kept[parent] == 0 || w->released[w->kept[parent] - 1] <= w->released[i]))
            w->kept[parent] = i + 1;
    }
}

/* Parents before children. */
static void branch_out(struct bbf_diverge_walk *w)
{
    for (uint32_t i = 0; i < w->snapshot->n_nodes; i++) {
        uint32_t parent = w->parents[i];
        bool begin = begins(w, i);
        w->depth[i] = parent == BBF_NO_PARENT ? 1 : w->depth[parent] + 1;
        w->origin[i] = begin ? i : w->origin[parent];
        w->losing[i] =
            w->released[i] > 0 || begin || w->released[parent] > 0 ? i : w->losing[parent];
    }
}

static struct bbf_divergence first_of(const struct bbf_diverge_walk *w, uint32_t losing)
{
    struct bbf_divergence d = {.origin = w->origin[losing],
                               .losing = losing,
                               .kept = BBF_NO_NODE,
                               .branches = 1,
                               .places = 1};
    uint32_t at = d.origin;

    if (w->released[losing] > 0)
        d.shared = at = losing;
    else if (losing != d.origin)
        d.shared = at = w->parents[losing];
    else
        d.shared = BBF_NO_NODE;
    d.passed = w->passed[at];
    d.released = w->released[at];
    if (d.shared == BBF_NO_NODE)
        return d;
    d.kept_released = w->there[at];
    if (w->kept[at] != 0 && w->released[w->kept[at] - 1] > w->there[at]) {
        d.kept = w->kept[at] - 1;
        d.kept_released = w->released[d.kept];
    }
    return d;
}

static void add_leak(struct bbf_divergence *d, const struct bbf_snap_leak *leak)
{
    unsigned rank = bbf_leak_rank(leak);

    if (leak->verdict == BBF_VERDICT_LEAKED)
        d->leaked += leak->count;
    else {
        d->aged += leak->count;
        if (leak->oldest_seconds > d->oldest_seconds)
            d->oldest_seconds = leak->oldest_seconds;
    }
    d->rank = d->leaked + d->aged == leak->count || rank < d->rank ? rank : d->rank;
    d->bytes += leak->bytes;
    d->memories |= 1U << leak->memory;
}

static int compare_rows(const void *a, const void *b)
{
    const struct bbf_divergence *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->leaked + x->aged != y->leaked + y->aged)
        return x->leaked + x->aged > y->leaked + y->aged ? -1 : 1;
    return (x->losing > y->losing) - (x->losing < y->losing);
}

/* Before the rows are sorted, because w->row has their order. */
static int number_rows(const struct bbf_diverge_walk *w, struct bbf_divergences *out)
{
    const struct bbf_snapshot *s = w->snapshot;

    out->of_growth = calloc(s->n_growth + 1, sizeof *out->of_growth);
    out->of_context = calloc(s->n_contexts + 1, sizeof *out->of_context);
    out->of_leak = calloc(s->n_leaks + 1, sizeof *out->of_leak);
    if (out->of_growth == NULL || out->of_context == NULL || out->of_leak == NULL)
        return BBF_ENOMEM;
    for (uint32_t i = 0; i < out->count; i++)
        out->rows[i].number = i;
    for (size_t i = 0; i < s->n_leaks; i++)
        out->of_leak[i] = w->row[w->losing[s->leaks[i].node]] - 1;
    for (size_t i = 0; i < s->n_growth; i++) {
        uint32_t row = w->row[w->losing[s->growth[i].node]];
        bool lost = s->growth[i].of == BBF_GROWTH_LOST && row != 0;
        out->of_growth[i] = lost ? row - 1 : BBF_NO_NODE;
    }
    for (size_t i = 0; i < s->n_contexts; i++) {
        uint32_t row = w->row[w->losing[s->contexts[i].node]];
        out->of_context[i] = row != 0 ? row - 1 : BBF_NO_NODE;
    }
    for (size_t i = 0; i < s->n_leaks; i++)
        out->of_leak[i] = w->row[w->losing[s->leaks[i].node]] - 1;
    return BBF_OK;
}

static int gather(const struct bbf_diverge_walk *w, struct bbf_divergences *out)
{
    const struct bbf_snapshot *s = w->snapshot;

    out->rows = calloc(s->n_leaks + 1, sizeof *out->rows);
    if (out->rows == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < s->n_leaks; i++) {
        uint32_t losing = w->losing[s->leaks[i].node];
        if (w->row[losing] == 0) {
            out->rows[out->count++] = first_of(w, losing);
            w->row[losing] = (uint32_t)out->count;
        }
        add_leak(&out->rows[w->row[losing] - 1], &s->leaks[i]);
    }
    int err = bbf_diverge_ends(w, out);
    if (err == 0)
        err = bbf_diverge_join(w, out);
    if (err == 0)
        err = bbf_diverge_ends(w, out);
    if (err == 0)
        err = number_rows(w, out);
    qsort(out->rows, out->count, sizeof *out->rows, compare_rows);
    return err;
}

/* What an agent has as maxDepth; a document need not have it. */
static uint64_t max_depth(const struct bbf_snapshot *s)
{
    for (size_t i = 0; i < s->n_limits; i++)
        if (strcmp(s->limits[i].name, "maxDepth") == 0)
            return s->limits[i].limit;
    return UINT64_MAX;
}

int bbf_divergences_init(struct bbf_divergences *divergences, const struct bbf_snapshot *snapshot,
                         const uint32_t *parents, bool by_method)
{
    struct bbf_diverge_walk w = {.snapshot = snapshot,
                                 .parents = parents,
                                 .max_depth = max_depth(snapshot),
                                 .by_method = by_method};

    *divergences = (struct bbf_divergences){.count = 0};
    if (snapshot->n_leaks == 0)
        return 0;
    int err = walk_init(&w);
    if (err == 0) {
        sum_up(&w);
        branch_out(&w);
        err = gather(&w, divergences);
    }
    walk_free(&w);
    if (err != 0)
        bbf_divergences_free(divergences);
    return err;
}
