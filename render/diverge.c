/* SPDX-License-Identifier: Apache-2.0 */
#include "render/diverge.h"

#include "core/err.h"
#include "render/leaks.h"

#include <stdlib.h>
#include <string.h>

/* The facts about each node, collected before the leaks are examined. */
struct walk {
    const struct bbf_snapshot *snapshot;
    const uint32_t *parents;
    uint64_t *passed, *released; /* at the node and below, derived lives left out */
    uint32_t *origin;
    uint32_t *losing; /* itself where lives are released at or below, else the branch's first */
    uint32_t *kept;   /* child through which most were released, but for releases there */
    uint64_t *there;  /* released at the node itself, on no further step */
    uint32_t *row;    /* by `losing`: its row */
};

static bool begins(const struct walk *w, uint32_t i)
{
    const struct bbf_snapshot *s = w->snapshot;
    return w->parents[i] == BBF_NO_PARENT || s->sites[s->nodes[i].site].kind == BBF_SITE_DERIVE;
}

static int walk_init(struct walk *w)
{
    size_t n = w->snapshot->n_nodes + 1;

    w->passed = calloc(n, sizeof *w->passed);
    w->released = calloc(n, sizeof *w->released);
    w->origin = calloc(n, sizeof *w->origin);
    w->losing = calloc(n, sizeof *w->losing);
    w->kept = calloc(n, sizeof *w->kept);
    w->there = calloc(n, sizeof *w->there);
    w->row = calloc(n, sizeof *w->row);
    return w->passed == NULL || w->released == NULL || w->origin == NULL || w->losing == NULL ||
                   w->kept == NULL || w->there == NULL || w->row == NULL
               ? BBF_ENOMEM
               : 0;
}

static void walk_free(struct walk *w)
{
    free(w->passed);
    free(w->released);
    free(w->origin);
    free(w->losing);
    free(w->kept);
    free(w->there);
    free(w->row);
}

/* Children before parents: sums, and each node's best child. */
static void sum_up(struct walk *w)
{
    for (uint32_t i = (uint32_t)w->snapshot->n_nodes; i-- > 0;) {
        const struct bbf_snap_node *node = &w->snapshot->nodes[i];
        w->passed[i] += node->released_ + node->live_ + node->leaked_ + node->held_ +
                        node->harmless_ + node->unknown_;
        w->released[i] += node->released_;
        w->there[i] += node->released_; /* at a limit there was no room for the release's line */
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
static void branch_out(struct walk *w)
{
    for (uint32_t i = 0; i < w->snapshot->n_nodes; i++) {
        uint32_t parent = w->parents[i];
        bool begin = begins(w, i);
        w->origin[i] = begin ? i : w->origin[parent];
        w->losing[i] =
            w->released[i] > 0 || begin || w->released[parent] > 0 ? i : w->losing[parent];
    }
}

static struct bbf_divergence first_of(const struct walk *w, uint32_t losing)
{
    struct bbf_divergence d = {
        .origin = w->origin[losing], .losing = losing, .kept = BBF_NO_NODE, .branches = 1};
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
    else
        d->aged += leak->count;
    d->rank = d->leaked + d->aged == leak->count || rank < d->rank ? rank : d->rank;
    d->bytes += leak->bytes;
    d->memories |= 1U << leak->memory;
}

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

/* The ends [first, end) of one divergence in one method: the step that lost most, if they are more
 * than `most`. Returns how many that are. */
static uint64_t add_method(struct bbf_divergence *d, const struct bbf_snapshot *s,
                           const struct end *ends, size_t first, size_t end, uint64_t most)
{
    uint64_t all = 0, at_node = 0, at_last = 0, largest = 0;
    uint32_t ways = 0, last = 0;
    enum bbf_memory memory = BBF_MEM_UNKNOWN, here = BBF_MEM_UNKNOWN;

    for (size_t i = first; i < end; i++) {
        const struct bbf_snap_leak *leak = &s->leaks[ends[i].leak];
        if (i == first || ends[i].node != ends[i - 1].node) {
            ways++;
            at_node = largest = 0;
        }
        if (leak->count > largest) {
            largest = leak->count;
            here = leak->memory;
        }
        all += leak->count;
        at_node += leak->count;
        if (at_node > at_last) {
            at_last = at_node;
            last = ends[i].node;
            memory = here;
        }
    }
    d->ends++;
    if (all > most) {
        d->last = last;
        d->ways = ways;
        d->memory = memory;
    }
    return all;
}

/* Each divergence's last step, and how many methods and ways there are. */
static int find_ends(const struct walk *w, struct bbf_divergences *out)
{
    const struct bbf_snapshot *s = w->snapshot;
    struct end *ends = calloc(s->n_leaks + 1, sizeof *ends);
    uint64_t most = 0;

    if (ends == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < s->n_leaks; i++) {
        uint32_t node = s->leaks[i].node;
        ends[i] = (struct end){w->row[w->losing[node]] - 1, s->nodes[node].site, node, (uint32_t)i};
    }
    qsort(ends, s->n_leaks, sizeof *ends, compare_ends);
    for (size_t i = 0, end; i < s->n_leaks; i = end) {
        for (end = i + 1;
             end < s->n_leaks && ends[end].row == ends[i].row && ends[end].site == ends[i].site;)
            end++;
        if (i == 0 || ends[i].row != ends[i - 1].row)
            most = 0;
        uint64_t all = add_method(&out->rows[ends[i].row], s, ends, i, end, most);
        most = all > most ? all : most;
    }
    free(ends);
    return 0;
}

bool bbf_diverge_twins(const struct bbf_snapshot *s, uint32_t a, uint32_t b)
{
    return a != BBF_NO_NODE && b != BBF_NO_NODE && s->nodes[a].site == s->nodes[b].site &&
           s->nodes[a].ref != s->nodes[b].ref;
}

/* Branches that leave one step and end in one method are one bug. */
struct bug {
    uint32_t shared, site, row;
};

static int compare_bugs(const void *a, const void *b)
{
    const struct bug *x = a, *y = b;
    if (x->shared != y->shared)
        return x->shared < y->shared ? -1 : 1;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void merge_row(struct bbf_divergence *to, struct bbf_divergence *from)
{
    struct bbf_divergence sum = to->leaked + to->aged >= from->leaked + from->aged ? *to : *from;

    sum.leaked = to->leaked + from->leaked;
    sum.aged = to->aged + from->aged;
    sum.bytes = to->bytes + from->bytes;
    sum.ways = to->ways + from->ways;
    sum.branches = to->branches + from->branches;
    sum.memories = to->memories | from->memories;
    sum.rank = to->rank < from->rank ? to->rank : from->rank;
    *to = sum;
    from->branches = 0;
}

static int merge_rows(const struct bbf_snapshot *s, struct bbf_divergences *out)
{
    struct bug *bugs = calloc(out->count + 1, sizeof *bugs);
    size_t n = 0, left = 0;

    if (bugs == NULL)
        return BBF_ENOMEM;
    for (uint32_t i = 0; i < out->count; i++) {
        const struct bbf_divergence *d = &out->rows[i];
        if (d->shared != BBF_NO_NODE && d->losing != d->shared && d->ends == 1 &&
            !bbf_diverge_twins(s, d->losing, d->kept))
            bugs[n++] = (struct bug){d->shared, s->nodes[d->last].site, i};
    }
    qsort(bugs, n, sizeof *bugs, compare_bugs);
    for (size_t i = 1, first = 0; i < n; i++) {
        if (bugs[i].shared == bugs[first].shared && bugs[i].site == bugs[first].site)
            merge_row(&out->rows[bugs[first].row], &out->rows[bugs[i].row]);
        else
            first = i;
    }
    free(bugs);
    for (size_t i = 0; i < out->count; i++)
        if (out->rows[i].branches != 0)
            out->rows[left++] = out->rows[i];
    out->count = left;
    return 0;
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

static int gather(const struct walk *w, struct bbf_divergences *out)
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
    int err = find_ends(w, out);
    if (err == 0)
        err = merge_rows(s, out);
    qsort(out->rows, out->count, sizeof *out->rows, compare_rows);
    return err;
}

int bbf_divergences_init(struct bbf_divergences *divergences, const struct bbf_snapshot *snapshot,
                         const uint32_t *parents)
{
    struct walk w = {.snapshot = snapshot, .parents = parents};

    *divergences = (struct bbf_divergences){NULL, 0};
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

void bbf_divergences_free(struct bbf_divergences *divergences)
{
    free(divergences->rows);
    *divergences = (struct bbf_divergences){NULL, 0};
}
