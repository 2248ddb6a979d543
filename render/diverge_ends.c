/* SPDX-License-Identifier: Apache-2.0 */
#include "render/diverge_ends.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"

/* A leak row, by the divergence that it is part of and the method where it was lost. */
struct end {
    uint32_t row, site, node, leak;
};

static int compare_ends(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->leak > y->leak) - (x->leak < y->leak);
}

/* Lives lost in one method: at the step that lost most, and in all. Where recording stopped at
 * maxDepth is no last step: such a step counts only where there is no other. */
struct method {
    uint64_t all, at_last, beyond; /* beyond: of all, those at a step where recording stopped */
    uint32_t last, ways;
    enum bbf_memory memory;
    bool cut; /* `last` is such a step */
};

static bool is_larger(bool cut, uint64_t lives, bool than_cut, uint64_t than)
{
    return cut != than_cut ? than_cut : lives > than;
}

/* The lives lost at one step: ends [first, *end). */
static uint64_t at_node(const struct bbf_snapshot *s, const struct end *ends, size_t first,
                        size_t all, size_t *end, enum bbf_memory *memory)
{
    uint64_t lives = 0, largest = 0;

    for (*end = first; *end < all && ends[*end].node == ends[first].node; ++*end) {
        const struct bbf_snap_leak *leak = &s->leaks[ends[*end].leak];
        if (leak->count > largest) {
            largest = leak->count;
            *memory = leak->memory;
        }
        lives += leak->count;
    }
    return lives;
}

static struct method in_method(const struct bbf_diverge_walk *w, const struct end *ends,
                               size_t first, size_t end)
{
    struct method m = {.cut = true, .memory = BBF_MEM_UNKNOWN};

    for (size_t i = first, next; i < end; i = next) {
        enum bbf_memory memory = BBF_MEM_UNKNOWN;
        uint64_t lives = at_node(w->snapshot, ends, i, end, &next, &memory);
        bool cut = bbf_diverge_is_cut(w, ends[i].node);
        if (m.ways == 0 || is_larger(cut, lives, m.cut, m.at_last))
            m = (struct method){m.all, lives, m.beyond, ends[i].node, m.ways, memory, cut};
        m.all += lives;
        m.beyond += cut ? lives : 0;
        m.ways++;
    }
    return m;
}

/* Keep the methods that lost most, most first. */
static void add_most(struct bbf_divergence *d, const struct method *m)
{
    struct bbf_lost_in new = {m->last, m->all - m->beyond};

    d->beyond += m->beyond;
    for (size_t i = 0; i < BBF_MOST; i++)
        if (new.lives > d->most[i].lives) {
            struct bbf_lost_in less = d->most[i];
            d->most[i] = new;
            new = less;
        }
}

static void add_method(struct bbf_divergence *d, const struct method *m, struct method *best)
{
    d->ends++;
    add_most(d, m);
    if (best->ways != 0 && !is_larger(m->cut, m->all, best->cut, best->all))
        return;
    *best = *m;
    if (d->places == 1) {
        d->last = m->last;
        d->ways = m->ways;
        d->memory = m->memory;
    }
}

static struct end *sorted_ends(const struct bbf_diverge_walk *w)
{
    const struct bbf_snapshot *s = w->snapshot;
    struct end *ends = calloc(s->n_leaks + 1, sizeof *ends);

    for (size_t i = 0; ends != NULL && i < s->n_leaks; i++) {
        uint32_t node = s->leaks[i].node;
        ends[i] = (struct end){w->row[w->losing[node]] - 1, s->nodes[node].site, node, (uint32_t)i};
    }
    if (ends != NULL)
        qsort(ends, s->n_leaks, sizeof *ends, compare_ends);
    return ends;
}

int bbf_diverge_ends(const struct bbf_diverge_walk *w, struct bbf_divergences *out)
{
    size_t n = w->snapshot->n_leaks;
    struct end *ends = sorted_ends(w);
    struct method best = {0};

    if (ends == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < out->count; i++) {
        out->rows[i].ends = 0;
        out->rows[i].beyond = 0;
        memset(out->rows[i].most, 0, sizeof out->rows[i].most);
    }
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1;
             end < n && ends[end].row == ends[i].row && ends[end].site == ends[i].site;)
            end++;
        if (i == 0 || ends[i].row != ends[i - 1].row)
            best.ways = 0;
        const struct method m = in_method(w, ends, i, end);
        add_method(&out->rows[ends[i].row], &m, &best);
    }
    free(ends);
    return BBF_OK;
}
