/* SPDX-License-Identifier: Apache-2.0 */
#include "render/components.h"

#include <stdlib.h>

#include "core/err.h"

/* Tarjan's algorithm without recursion: a path may be 10,000 steps long. */
struct search {
    const struct bbf_snapshot *s;
    const uint32_t *parents;
    uint32_t *first, *to;   /* edges of site i: to[first[i] … first[i + 1]) */
    uint32_t *next;         /* by site: the edge that is looked at */
    uint32_t *number, *low; /* by site: order of the first visit, from 1; the lowest reached */
    uint32_t *way;          /* sites that are being visited, from the first to the current */
    uint32_t *open;         /* sites without a component yet */
    uint32_t n_open, visited, found;
};

static uint8_t *lost_paths(const struct bbf_snapshot *s, const uint32_t *parents)
{
    uint8_t *lost = calloc(s->n_nodes + 1, 1);

    if (lost == NULL)
        return NULL;
    for (size_t i = 0; i < s->n_leaks; i++)
        lost[s->leaks[i].node] = 1;
    for (size_t i = s->n_nodes; i-- > 0;)
        if (lost[i] != 0 && parents[i] != BBF_NO_PARENT)
            lost[parents[i]] = 1;
    return lost;
}

static bool is_edge(const struct search *f, const uint8_t *lost, size_t i)
{
    return lost[i] != 0 && f->parents[i] != BBF_NO_PARENT &&
           f->s->sites[f->s->nodes[i].site].kind != BBF_SITE_DERIVE;
}

static int add_edges(struct search *f)
{
    size_t n = f->s->n_sites;
    uint8_t *lost = lost_paths(f->s, f->parents);

    if (lost == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < f->s->n_nodes; i++)
        if (is_edge(f, lost, i))
            f->first[f->s->nodes[f->parents[i]].site + 1]++;
    for (size_t i = 0; i < n; i++) {
        f->first[i + 1] += f->first[i];
        f->next[i] = f->first[i];
    }
    f->to = calloc((size_t)f->first[n] + 1, sizeof *f->to);
    for (size_t i = 0; f->to != NULL && i < f->s->n_nodes; i++)
        if (is_edge(f, lost, i))
            f->to[f->next[f->s->nodes[f->parents[i]].site]++] = f->s->nodes[i].site;
    for (size_t i = 0; i < n; i++)
        f->next[i] = f->first[i];
    free(lost);
    return f->to != NULL ? BBF_OK : BBF_ENOMEM;
}

static void enter(struct search *f, uint32_t site, uint32_t *length)
{
    f->way[(*length)++] = site;
    f->open[f->n_open++] = site;
    f->number[site] = f->low[site] = ++f->visited;
}

/* All edges of the last site of the way are done: it is the first site of a component, or hands
 * what it reached to the site before it. */
static void leave(struct search *f, struct bbf_components *c, uint32_t site, uint32_t before)
{
    if (f->low[site] != f->number[site]) {
        if (f->low[site] < f->low[before])
            f->low[before] = f->low[site];
        return;
    }
    uint32_t member;
    do {
        member = f->open[--f->n_open];
        c->of[member] = f->found;
        c->size[f->found]++;
        f->low[member] = UINT32_MAX; /* no longer open */
    } while (member != site);
    f->found++;
}

static void visit(struct search *f, struct bbf_components *c, uint32_t start)
{
    uint32_t length = 0;

    enter(f, start, &length);
    while (length > 0) {
        uint32_t site = f->way[length - 1];
        if (f->next[site] == f->first[site + 1]) {
            length--;
            leave(f, c, site, length > 0 ? f->way[length - 1] : site);
            continue;
        }
        uint32_t other = f->to[f->next[site]++];
        if (f->number[other] == 0)
            enter(f, other, &length);
        else if (f->low[other] != UINT32_MAX && f->number[other] < f->low[site])
            f->low[site] = f->number[other];
    }
}

static int search_init(struct search *f, struct bbf_components *c)
{
    size_t n = f->s->n_sites + 2;

    c->of = calloc(n, sizeof *c->of);
    c->size = calloc(n, sizeof *c->size);
    f->first = calloc(n, sizeof *f->first);
    f->next = calloc(n, sizeof *f->next);
    f->number = calloc(n, sizeof *f->number);
    f->low = calloc(n, sizeof *f->low);
    f->way = calloc(n, sizeof *f->way);
    f->open = calloc(n, sizeof *f->open);
    if (c->of == NULL || c->size == NULL || f->first == NULL || f->next == NULL ||
        f->number == NULL || f->low == NULL || f->way == NULL || f->open == NULL)
        return BBF_ENOMEM;
    return add_edges(f);
}

int bbf_components_init(struct bbf_components *components, const struct bbf_snapshot *snapshot,
                        const uint32_t *parents)
{
    struct search f = {.s = snapshot, .parents = parents};
    int err = search_init(&f, components);

    for (uint32_t i = 0; err == BBF_OK && i < snapshot->n_sites; i++)
        if (f.number[i] == 0)
            visit(&f, components, i);
    free(f.open);
    free(f.way);
    free(f.low);
    free(f.number);
    free(f.next);
    free(f.to);
    free(f.first);
    if (err != BBF_OK)
        bbf_components_free(components);
    return err;
}

void bbf_components_free(struct bbf_components *components)
{
    free(components->of);
    free(components->size);
    *components = (struct bbf_components){NULL, NULL};
}
