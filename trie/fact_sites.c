/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts of the methods that a report shows: for each site its flags, which of the shown sites
 * its method calls, also through methods that are no steps (javac's access$ methods, bridges), and
 * where exceptions leave it.
 */
#include "trie/facts.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "snapshot/snapshot.h"
#include "trie/fact_closure.h"
#include "trie/model.h"
#include "trie/site.h"

/* Calls of a site; methods between that are no steps; calls that are looked at for a site. */
enum { CALLS_SHOWN = 256, THROUGH = 3, WORK = 10000 };

/* A shown site by the method that it is a step of. */
struct key {
    uint64_t method;
    uint32_t owner, site;
};

struct fill {
    struct bbf_closure closure;
    struct bbf_snapshot *s;
    struct bbf_closed_method **method_of; /* by site */
    struct key *keys;                     /* by method */
    size_t n_keys;
    uint8_t *called; /* by site: of the current caller */
    bool *lost;      /* by site: on the path of a lost buffer */
    uint32_t calls[CALLS_SHOWN];
    uint32_t n_calls;
    int work; /* left */
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->method != y->method)
        return x->method < y->method ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

/* The method of a step; false: the site is no step. */
static bool key_of(const struct bbf_tracker *t, const struct bbf_snapshot *s, uint32_t i,
                   struct key *key)
{
    const struct bbf_site *site = bbf_site_get(t, s->sites[i].id);
    const size_t suffix = sizeof "_return" - 1;

    if (site == NULL || (site->kind != BBF_SITE_ENTER && site->kind != BBF_SITE_RETURN))
        return false;
    size_t len = strlen(site->method);
    if (site->kind == BBF_SITE_RETURN && len > suffix)
        len -= suffix;
    *key = (struct key){
        bbf_fact_method_key(site->method, len, site->descriptor, strlen(site->descriptor)),
        bbf_fact_class_key(site->class_name, strlen(site->class_name)), i};
    return true;
}

static void find_keys(struct fill *f)
{
    for (uint32_t i = 0; i < f->s->n_sites; i++) {
        struct key key;

        if (!key_of(f->closure.tracker, f->s, i, &key))
            continue;
        f->keys[f->n_keys++] = key;
        f->method_of[i] = bbf_closure_find(&f->closure, key.method, key.owner);
        if (f->method_of[i] != NULL)
            f->method_of[i]->shown = true;
    }
    qsort(f->keys, f->n_keys, sizeof *f->keys, compare_keys);
}

static void add_site(struct fill *f, uint32_t site)
{
    if (f->called[site] || f->n_calls == CALLS_SHOWN)
        return;
    f->called[site] = 1;
    f->calls[f->n_calls++] = site;
}

/* The shown sites of the method `key`; `owner` of that class only. */
static void add_sites(struct fill *f, uint64_t key, const uint32_t *owner)
{
    size_t low = 0, high = f->n_keys;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->keys[middle].method < key)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < f->n_keys && f->keys[low].method == key; low++)
        if (owner == NULL || f->keys[low].owner == *owner)
            add_site(f, f->keys[low].site);
}

static void add_calls(struct fill *f, const struct bbf_closed_method *m, int through)
{
    const struct bbf_fact_call *calls = bbf_fact_calls(m->record);
    struct bbf_closed_method *to;

    for (uint32_t i = 0; i < m->record->n_calls && f->n_calls < CALLS_SHOWN && f->work-- > 0; i++) {
        size_t n = bbf_closure_targets(&f->closure, &calls[i], &to);

        if (calls[i].outside & BBF_FACT_VIRTUAL)
            add_sites(f, calls[i].callee, NULL);
        else
            add_sites(f, calls[i].callee, n > 0 ? &to->owner : &calls[i].owner);
        if (n > BBF_CLOSURE_TARGETS || through == 0 || calls[i].origin == BBF_FACT_NO_ORIGIN)
            continue;
        for (size_t k = 0; k < n; k++)
            if (!to[k].shown)
                add_calls(f, &to[k], through - 1);
    }
}

static char *dotted(const char *name)
{
    char *copy = strdup(name);

    for (char *p = copy; p != NULL && *p != '\0'; p++)
        if (*p == '/')
            *p = '.';
    return copy;
}

/* Where exceptions leave the method, if lost buffers were in it. Without memory there is less. */
static void fill_throws(const struct fill *f, uint32_t i)
{
    struct bbf_snap_site *site = &f->s->sites[i];
    struct bbf_closed_throw found[BBF_CLOSURE_THROWS];
    size_t n;

    if (!f->lost[i])
        return;
    n = bbf_closure_throws(&f->closure, f->method_of[i], found, &site->more_throws);
    site->throws = n > 0 ? calloc(n, sizeof *site->throws) : NULL;
    for (size_t k = 0; site->throws != NULL && k < n; k++) {
        struct bbf_snap_throw *to = &site->throws[site->n_throws];

        *to = (struct bbf_snap_throw){found[k].line, dotted(found[k].class_name),
                                      strdup(found[k].method)};
        if (to->class_name != NULL && to->method != NULL) {
            site->n_throws++;
            continue;
        }
        free(to->class_name);
        free(to->method);
    }
}

/* Mark the sites on the paths of lost buffers. Without memory no site is marked. */
static void mark_lost(struct fill *f)
{
    const struct bbf_snapshot *s = f->s;
    uint32_t *parents = calloc(s->n_nodes + 1, sizeof *parents);
    bool *seen = calloc(s->n_nodes + 1, sizeof *seen);
    size_t bad;

    if (parents != NULL && seen != NULL && bbf_snapshot_parents(s, parents, &bad) == BBF_OK)
        for (size_t i = 0; i < s->n_leaks; i++) {
            uint32_t node = s->leaks[i].node < s->n_nodes ? s->leaks[i].node : BBF_NO_PARENT;
            for (; node != BBF_NO_PARENT && !seen[node]; node = parents[node]) {
                seen[node] = true;
                f->lost[s->nodes[node].site] = true;
            }
        }
    free(parents);
    free(seen);
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void fill_site(struct fill *f, uint32_t i)
{
    struct bbf_snap_site *site = &f->s->sites[i];

    if (f->method_of[i] == NULL)
        return;
    fill_throws(f, i);
    site->parameter = (uint8_t)bbf_closure_parameter(&f->closure, f->method_of[i]);
    f->n_calls = 0;
    f->work = WORK;
    add_calls(f, f->method_of[i], THROUGH);
    site->calls = f->n_calls > 0 ? calloc(f->n_calls, sizeof *site->calls) : NULL;
    for (uint32_t k = 0; k < f->n_calls; k++)
        f->called[f->calls[k]] = 0;
    if (site->calls == NULL)
        return;
    memcpy(site->calls, f->calls, f->n_calls * sizeof *site->calls);
    qsort(site->calls, f->n_calls, sizeof *site->calls, compare_numbers);
    site->n_calls = f->n_calls;
}

void bbf_facts_fill(struct bbf_tracker *t, struct bbf_snapshot *s)
{
    struct fill f = {.s = s};

    if (s->n_leaks == 0 || !bbf_closure_init(&f.closure, t))
        return;
    f.method_of = calloc(s->n_sites + 1, sizeof(struct bbf_closed_method *));
    f.keys = calloc(s->n_sites + 1, sizeof *f.keys);
    f.called = calloc(s->n_sites + 1, 1);
    f.lost = calloc(s->n_sites + 1, sizeof *f.lost);
    if (f.method_of != NULL && f.keys != NULL && f.called != NULL && f.lost != NULL) {
        find_keys(&f);
        mark_lost(&f);
        bbf_closure_close(&f.closure, f.method_of, s->n_sites);
        for (uint32_t i = 0; i < s->n_sites; i++)
            fill_site(&f, i);
    }
    free(f.method_of);
    free(f.keys);
    free(f.called);
    free(f.lost);
    bbf_closure_free(&f.closure);
}
