/* SPDX-License-Identifier: Apache-2.0 */
#include "render/forest.h"

#include "core/err.h"

#include <stdlib.h>
#include <string.h>

/* What a node is sorted by, gathered once: the sort of a million nodes is bound by cache misses. */
struct key {
    uint64_t passed;
    uint32_t rank;
    uint32_t node;
    uint8_t ref;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->passed != y->passed)
        return x->passed > y->passed ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->ref != y->ref)
        return x->ref < y->ref ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Index of the run that holds node i's siblings. */
static size_t run_of(const struct bbf_forest *forest, size_t i)
{
    return forest->parents[i] == BBF_NO_PARENT ? forest->snapshot->n_nodes : forest->parents[i];
}

static void sort_run(struct bbf_forest *forest, const struct bbf_names *names, struct key *keys,
                     uint32_t first, uint32_t end)
{
    const struct bbf_snap_node *nodes = forest->snapshot->nodes;
    size_t count = end - first;

    if (count < 2)
        return;
    for (size_t i = 0; i < count; i++) {
        uint32_t at = forest->order[first + i];
        keys[i] =
            (struct key){nodes[at].passed_, names->names[nodes[at].site].rank, at, nodes[at].ref};
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < count; i++)
        forest->order[first + i] = keys[i].node;
}

/* A counting sort by parent, then each run by its keys. */
static int fill_order(struct bbf_forest *forest, const struct bbf_names *names)
{
    size_t n = forest->snapshot->n_nodes;
    uint32_t widest = 0;

    for (size_t i = 0; i < n; i++)
        forest->first[run_of(forest, i) + 1]++;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && forest->first[i + 1] == 0)
            forest->leaves++;
        widest = forest->first[i + 1] > widest ? forest->first[i + 1] : widest;
        forest->first[i + 1] += forest->first[i];
    }
    for (size_t i = 0; i <= n; i++)
        forest->end[i] = forest->first[i];
    for (size_t i = 0; i < n; i++)
        forest->order[forest->end[run_of(forest, i)]++] = (uint32_t)i;
    struct key *keys = calloc((size_t)widest + 1, sizeof *keys);
    if (keys == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i <= n; i++)
        sort_run(forest, names, keys, forest->first[i], forest->end[i]);
    free(keys);
    return 0;
}

int bbf_forest_init(struct bbf_forest *forest, const struct bbf_snapshot *snapshot,
                    const uint32_t *parents, const struct bbf_names *names)
{
    size_t n = snapshot->n_nodes;
    int err = BBF_ENOMEM;

    *forest = (struct bbf_forest){.snapshot = snapshot, .parents = parents};
    forest->order = calloc(n + 1, sizeof *forest->order);
    forest->first = calloc(n + 2, sizeof *forest->first);
    forest->end = calloc(n + 1, sizeof *forest->end);
    if (forest->order != NULL && forest->first != NULL && forest->end != NULL)
        err = fill_order(forest, names);
    if (err != 0)
        bbf_forest_free(forest);
    return err;
}

void bbf_forest_free(struct bbf_forest *forest)
{
    free(forest->order);
    free(forest->first);
    free(forest->end);
    forest->order = forest->first = forest->end = NULL;
}

uint32_t bbf_forest_hidden(const struct bbf_forest *forest, size_t i)
{
    return forest->first[i + 1] - forest->end[i];
}

enum { KEPT = 1, HAS_KEPT_CHILD = 2, COLD = 4, HAS_WARM_CHILD = 8, TROUBLE = 16, LOSES = 32 };

/* A branch that carries less than one life in this number of its parent's is cold, in a tree of
 * more leaf lines than a screen shows at once. */
enum { COLD_SHARE = 100, COLD_LEAVES = 20 };

/* Marks of each node that its subtree has: lives that are not known to be released, lost ones. */
static void mark_troubles(const struct bbf_forest *forest, uint8_t *marks)
{
    for (size_t i = forest->snapshot->n_nodes; i-- > 0;) {
        const struct bbf_snap_node *node = &forest->snapshot->nodes[i];
        const uint32_t parent = forest->parents[i];
        if ((node->leaked_ | node->aged_) != 0)
            marks[i] |= LOSES | TROUBLE;
        if ((node->live_ | node->held_ | node->unknown_) != 0)
            marks[i] |= TROUBLE;
        if (parent != BBF_NO_PARENT)
            marks[parent] |= marks[i] & (LOSES | TROUBLE);
    }
}

static bool has_loss(const struct bbf_forest *forest, const uint8_t *marks)
{
    for (size_t i = 0; i < forest->snapshot->n_nodes; i++)
        if ((marks[i] & LOSES) != 0)
            return true;
    return false;
}

/*
 * Where lives are lost, mark what no reader of a leak needs: roots whose lives were all released,
 * and branches that few of their parent's lives take, all released. A cold node's children are
 * cold. Returns how many are.
 */
static size_t mark_cold(const struct bbf_forest *forest, uint8_t *marks)
{
    const struct bbf_snap_node *nodes = forest->snapshot->nodes;
    size_t cold = 0;

    mark_troubles(forest, marks);
    const bool hides = has_loss(forest, marks);
    for (size_t i = 0; i < forest->snapshot->n_nodes; i++) {
        const uint32_t parent = forest->parents[i];
        const bool root = parent == BBF_NO_PARENT;
        const bool rare = root || (forest->leaves > COLD_LEAVES &&
                                   nodes[i].passed_ < nodes[parent].passed_ / COLD_SHARE);
        if ((!root && (marks[parent] & COLD) != 0) ||
            (hides && rare && (marks[i] & TROUBLE) == 0)) {
            marks[i] |= COLD;
            cold++;
        } else if (!root) {
            marks[parent] |= HAS_WARM_CHILD;
        }
    }
    return cold;
}

/*
 * Keep node i and its ancestors. Returns by how much the number of lines without a line below them
 * grows: 1, or 0 where node i hangs on what was such a line.
 */
static size_t keep_path(const struct bbf_forest *forest, uint8_t *marks, uint32_t i)
{
    size_t grows = 1;

    if (marks[i] & KEPT)
        return 0;
    for (;;) {
        marks[i] |= KEPT;
        uint32_t parent = forest->parents[i];
        if (parent == BBF_NO_PARENT)
            return grows;
        if ((marks[parent] & KEPT) && !(marks[parent] & HAS_KEPT_CHILD))
            grows = 0;
        marks[parent] |= HAS_KEPT_CHILD;
        if (marks[parent] & KEPT)
            return grows;
        i = parent;
    }
}

/* The next node of a walk in the order shown, without a stack: down, else along, else up. `at[i]`
 * is the current place of the walk among the children of i. */
static bool walk_next(const struct bbf_forest *forest, uint32_t *at, size_t *run, uint32_t *node)
{
    size_t roots = forest->snapshot->n_nodes;

    for (;;) {
        if (at[*run] < forest->first[*run + 1]) {
            *node = forest->order[at[*run]++];
            *run = *node;
            return true;
        }
        if (*run == roots)
            return false;
        *run = run_of(forest, *run);
    }
}

static int keep_leaves(const struct bbf_forest *forest, uint8_t *marks, size_t lines,
                       size_t max_leaves)
{
    size_t n = forest->snapshot->n_nodes, run = n;
    uint32_t node;
    uint32_t *at = malloc((n + 1) * sizeof *at);

    if (at == NULL)
        return BBF_ENOMEM;
    memcpy(at, forest->first, (n + 1) * sizeof *at);
    while (lines < max_leaves && walk_next(forest, at, &run, &node))
        if ((marks[node] & (COLD | HAS_WARM_CHILD)) == 0)
            lines += keep_path(forest, marks, node);
    free(at);
    return 0;
}

static void drop_unmarked(struct bbf_forest *forest, const uint8_t *marks)
{
    for (size_t run = 0; run <= forest->snapshot->n_nodes; run++) {
        uint32_t to = forest->first[run];
        for (uint32_t from = to; from < forest->first[run + 1]; from++) {
            uint32_t node = forest->order[from];
            if (marks[node] & KEPT) {
                forest->order[to++] = node;
                continue;
            }
            forest->hidden_nodes++;
            if (forest->first[node] == forest->first[node + 1])
                forest->hidden_leaves++;
        }
        forest->end[run] = to;
    }
}

/* Mark what is kept: the leaks, then other leaves in their order. */
static int keep(struct bbf_forest *forest, uint8_t *marks, size_t max_leaves)
{
    const struct bbf_snap_node *nodes = forest->snapshot->nodes;
    size_t lines = 0;

    /* From the back: a leak below a leak is kept first, so that each line is counted once. */
    for (size_t i = forest->snapshot->n_nodes; i-- > 0;)
        if (nodes[i].leaked_ != 0 || nodes[i].aged_ != 0)
            lines += keep_path(forest, marks, (uint32_t)i);
    return keep_leaves(forest, marks, lines, max_leaves);
}

int bbf_forest_cut(struct bbf_forest *forest, size_t max_leaves)
{
    uint8_t *marks = calloc(forest->snapshot->n_nodes + 1, 1);
    int err = BBF_OK;

    if (marks == NULL)
        return BBF_ENOMEM;
    if (mark_cold(forest, marks) > 0 || forest->leaves > max_leaves) {
        err = keep(forest, marks, max_leaves);
        if (err == BBF_OK)
            drop_unmarked(forest, marks);
    }
    free(marks);
    return err;
}

int bbf_forest_keep(struct bbf_forest *forest, const bool *wanted)
{
    size_t n = forest->snapshot->n_nodes;
    uint8_t *marks = calloc(n + 1, 1);

    if (marks == NULL)
        return BBF_ENOMEM;
    for (size_t i = n; i-- > 0;)
        if (wanted[i])
            (void)keep_path(forest, marks, (uint32_t)i);
    drop_unmarked(forest, marks);
    free(marks);
    return 0;
}
