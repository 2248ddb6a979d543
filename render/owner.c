/* SPDX-License-Identifier: Apache-2.0 */
#include "render/owner.h"

#include "core/err.h"
#include "core/facts.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES = 64 }; /* of a nest that are looked at: it may be as deep as the path is long */

/* ---- methods ---- */

struct by_method {
    const struct bbf_snap_site *site;
    size_t len; /* of the method's name, without "_return" */
    uint32_t index;
};

static struct by_method by_method_of(const struct bbf_snap_site *site, uint32_t index)
{
    const size_t suffix = sizeof "_return" - 1;
    size_t len = strlen(site->method);

    if (site->kind == BBF_SITE_RETURN && len > suffix &&
        strcmp(site->method + len - suffix, "_return") == 0)
        len -= suffix;
    return (struct by_method){site, len, index};
}

static int compare_methods(const void *a, const void *b)
{
    const struct by_method *x = a, *y = b;
    size_t len = x->len < y->len ? x->len : y->len;
    int order = memcmp(x->site->method, y->site->method, len);

    if (order == 0)
        order = (x->len > y->len) - (x->len < y->len);
    if (order == 0)
        order = strcmp(x->site->class_name, y->site->class_name);
    if (order == 0)
        order = strcmp(x->site->descriptor, y->site->descriptor);
    return order;
}

/* Number the methods. */
static int number_methods(struct bbf_owners *o, const struct bbf_snapshot *s)
{
    struct by_method *sites = calloc(s->n_sites + 1, sizeof *sites);

    if (sites == NULL)
        return BBF_ENOMEM;
    for (uint32_t i = 0; i < s->n_sites; i++)
        sites[i] = by_method_of(&s->sites[i], i);
    qsort(sites, s->n_sites, sizeof *sites, compare_methods);
    for (uint32_t i = 0, number = 0; i < s->n_sites; i++) {
        number += i > 0 && compare_methods(&sites[i - 1], &sites[i]) != 0;
        o->method[sites[i].index] = number;
    }
    free(sites);
    return BBF_OK;
}

/* ---- the nest ---- */

struct nest {
    struct bbf_owners *o;
    const struct bbf_snapshot *s;
};

static const struct bbf_snap_site *site_of(const struct bbf_snapshot *s, uint32_t node)
{
    return &s->sites[s->nodes[node].site];
}

static bool calls(const struct nest *n, uint32_t from, uint32_t to)
{
    const struct bbf_snap_site *site = site_of(n->s, from);
    uint32_t low = 0, high = site->n_calls, wanted = n->s->nodes[to].site;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (site->calls[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < site->n_calls && site->calls[low] == wanted;
}

static bool is_method_of(const struct nest *n, uint32_t frame, uint32_t node)
{
    return n->o->method[n->s->nodes[frame].site] == n->o->method[n->s->nodes[node].site];
}

static bool calls_it(const struct nest *n, uint32_t frame, uint32_t node)
{
    return calls(n, frame, node);
}

static bool is_called_by(const struct nest *n, uint32_t frame, uint32_t node)
{
    return calls(n, node, frame);
}

/* It hands buffers to the pipeline, and a handler got this one. */
static bool gives(const struct nest *n, uint32_t frame, uint32_t node)
{
    (void)node;
    return (site_of(n->s, frame)->parameter & BBF_FACT_GIVES) != 0;
}

/* The innermost frame for which it is true. */
static uint32_t find(const struct nest *n, uint32_t top, uint32_t node,
                     bool (*is)(const struct nest *, uint32_t, uint32_t))
{
    for (int i = 0; i < FRAMES && top != BBF_OWNER_NONE; i++, top = n->o->caller[top])
        if (is(n, top, node))
            return top;
    return BBF_OWNER_NONE;
}

/* A method begins, or one that runs gets the buffer back. */
static void enter(struct nest *n, uint32_t node, uint32_t top)
{
    struct bbf_owners *o = n->o;
    uint32_t frame = find(n, top, node, is_method_of);

    o->top[node] = node;
    if (frame != BBF_OWNER_NONE) {
        o->caller[node] = o->caller[frame];
        return;
    }
    frame = find(n, top, node, calls_it);
    if (frame != BBF_OWNER_NONE) {
        o->caller[node] = frame;
        o->lent[node] = (site_of(n->s, node)->parameter & BBF_FACT_SEEN) != 0;
    } else if (find(n, top, node, is_called_by) == BBF_OWNER_NONE) {
        o->caller[node] = find(n, top, node, gives);
    }
}

/* A method ends: its caller has the buffer. */
static void leave(struct nest *n, uint32_t node, uint32_t top)
{
    uint32_t frame = find(n, top, node, is_method_of);

    if (frame == BBF_OWNER_NONE) /* it had none when it began: what it called is over as well */
        frame = find(n, top, node, is_called_by);
    n->o->top[node] = frame != BBF_OWNER_NONE ? n->o->caller[frame] : top;
}

static void step(struct nest *n, uint32_t node, uint32_t parent)
{
    uint32_t top = parent == BBF_NO_PARENT ? BBF_OWNER_NONE : n->o->top[parent];

    n->o->caller[node] = BBF_OWNER_NONE;
    if (site_of(n->s, node)->kind == BBF_SITE_ENTER)
        enter(n, node, top);
    else if (site_of(n->s, node)->kind == BBF_SITE_RETURN)
        leave(n, node, top);
    else
        n->o->top[node] = top;
}

static bool has_facts(const struct bbf_snapshot *s)
{
    for (size_t i = 0; i < s->n_sites; i++)
        if (s->sites[i].n_calls > 0)
            return true;
    return false;
}

int bbf_owners_init(struct bbf_owners *o, const struct bbf_snapshot *s, const uint32_t *parents)
{
    struct nest n = {o, s};
    int err;

    *o = (struct bbf_owners){NULL, NULL, NULL, NULL};
    if (s->n_leaks == 0 || !has_facts(s))
        return BBF_OK;
    o->method = calloc(s->n_sites + 1, sizeof *o->method);
    o->top = calloc(s->n_nodes + 1, sizeof *o->top);
    o->caller = calloc(s->n_nodes + 1, sizeof *o->caller);
    o->lent = calloc(s->n_nodes + 1, sizeof *o->lent);
    err = o->method == NULL || o->top == NULL || o->caller == NULL || o->lent == NULL
              ? BBF_ENOMEM
              : number_methods(o, s);
    if (err != BBF_OK)
        bbf_owners_free(o);
    for (uint32_t i = 0; err == BBF_OK && i < s->n_nodes; i++)
        step(&n, i, parents[i]);
    return err;
}

void bbf_owners_free(struct bbf_owners *o)
{
    free(o->method);
    free(o->top);
    free(o->caller);
    free(o->lent);
    *o = (struct bbf_owners){NULL, NULL, NULL, NULL};
}

/* ---- the climb ---- */

static bool only_borrows(const struct bbf_snapshot *s, uint32_t node)
{
    const unsigned facts = site_of(s, node)->parameter;
    return (facts & BBF_FACT_SEEN) != 0 && (facts & (BBF_FACT_TAKES | BBF_FACT_RETAINS)) == 0;
}

uint32_t bbf_owners_of(const struct bbf_owners *o, const struct bbf_snapshot *s, uint32_t node)
{
    if (o->top == NULL)
        return node;
    while (o->lent[node] && only_borrows(s, node))
        node = o->caller[node];
    return node;
}
