/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/regroup.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"

#define DROPPED UINT32_MAX

struct regroup {
    struct bbf_snapshot *s;
    uint32_t
        *parents;   /* by row: the row of its parent; once placed, of the row that has the parent */
    uint32_t *into; /* by row: the row that it becomes part of, or itself; then the new index */
    uint32_t *depths; /* by row that stays: steps from the root, from 1 */
    uint32_t *table;  /* rows that stay, index + 1, by their key */
    size_t mask;
    size_t depth; /* the longest path */
};

/* Returns the row that `row` becomes part of, an earlier one or itself. Its parent is placed. */
typedef uint32_t place_row(struct regroup *r, uint32_t row);

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33; /* murmur3's finaliser, https://github.com/aappleby/smhasher */
    x *= UINT64_C(0xff51afd7ed558ccd);
    return x ^ x >> 33;
}

/* The first row with the same parent, site and bucket; the row itself if it is the first. */
static uint32_t first_like(struct regroup *r, uint32_t row)
{
    const struct bbf_snap_node *nodes = r->s->nodes;
    uint64_t key = (uint64_t)r->parents[row] << 32 | nodes[row].site;

    for (uint64_t at = mix(key ^ (uint64_t)nodes[row].ref << 29);; at++) {
        uint32_t *place = &r->table[at & r->mask];
        if (*place == 0) {
            *place = row + 1;
            return row;
        }
        uint32_t other = *place - 1;
        if (r->parents[other] == r->parents[row] && nodes[other].site == nodes[row].site &&
            nodes[other].ref == nodes[row].ref)
            return other;
    }
}

/* The way up is short: it has no method twice, except in front of a derive step. */
static uint32_t place_in_loop(struct regroup *r, uint32_t row)
{
    struct bbf_snap_node *nodes = r->s->nodes;

    for (uint32_t at = r->parents[row]; at != BBF_NO_PARENT; at = r->parents[at]) {
        if (nodes[at].site == nodes[row].site) {
            nodes[at].loop = true;
            return at;
        }
        if (r->s->sites[nodes[at].site].kind == BBF_SITE_DERIVE)
            break;
    }
    return first_like(r, row);
}

static uint32_t place_within_depth(struct regroup *r, uint32_t row)
{
    uint32_t parent = r->parents[row];

    if (parent != BBF_NO_PARENT && r->depths[parent] >= r->depth)
        return parent;
    return first_like(r, row);
}

static void add_columns(struct bbf_snap_node *to, const struct bbf_snap_node *from)
{
    to->loop = to->loop || from->loop;
#define XX(name) to->name##_ += from->name##_;
    BBF_NODE_COLUMNS(XX)
#undef XX
}

static void merge_rows(struct regroup *r, place_row *place)
{
    struct bbf_snap_node *nodes = r->s->nodes;

    for (uint32_t i = 0; i < r->s->n_nodes; i++) {
        if (r->parents[i] != BBF_NO_PARENT)
            r->parents[i] = r->into[r->parents[i]];
        uint32_t parent = r->parents[i], to = r->into[i] = place(r, i);
        if (to != i) {
            add_columns(&nodes[to], &nodes[i]);
            continue;
        }
        r->depths[i] = parent == BBF_NO_PARENT ? 1 : r->depths[parent] + 1;
        if (parent != BBF_NO_PARENT)
            nodes[i].parent = (int64_t)nodes[parent].id;
    }
}

static void move_pins(const struct regroup *r)
{
    struct bbf_snapshot *s = r->s;
    size_t pins = 0;

    for (size_t i = 0; i < s->n_pins; i++) {
        uint32_t node = r->into[s->pins[i].node];
        if (node == DROPPED || s->pins[i].buffers == 0)
            continue;
        s->pins[pins] = s->pins[i];
        s->pins[pins++].node = node;
    }
    s->n_pins = pins;
}

static void move_usage(const struct regroup *r)
{
    struct bbf_snapshot *s = r->s;
    size_t rows = 0;

    for (size_t i = 0; i < s->n_usage; i++) {
        uint32_t node = r->into[s->usage[i].node];
        if (node == DROPPED || s->usage[i].lives == 0)
            continue;
        s->usage[rows] = s->usage[i];
        s->usage[rows++].node = node;
    }
    s->n_usage = rows;
}

static void move_growth(const struct regroup *r)
{
    struct bbf_snapshot *s = r->s;
    size_t rows = 0;

    for (size_t i = 0; i < s->n_growth; i++) {
        uint32_t node = s->growth[i].at != NULL ? r->into[s->growth[i].node] : DROPPED;
        if (node == DROPPED) {
            free(s->growth[i].at);
            continue;
        }
        s->growth[rows] = s->growth[i];
        s->growth[rows++].node = node;
    }
    s->n_growth = rows;
}

static void move_contexts(const struct regroup *r)
{
    struct bbf_snapshot *s = r->s;
    size_t rows = 0;

    for (size_t i = 0; i < s->n_contexts; i++) {
        uint32_t node = s->contexts[i].node;
        if (node != DROPPED)
            node = r->into[node];
        if (node == DROPPED) {
            bbf_snap_context_free(&s->contexts[i]);
            continue;
        }
        s->contexts[rows] = s->contexts[i];
        s->contexts[rows++].node = node;
    }
    s->n_contexts = rows;
}

/* Move the rows that stay together; leaks, pins, growth, usage and contexts of dropped rows go as
 * well. */
static void close_gaps(struct regroup *r)
{
    struct bbf_snapshot *s = r->s;
    uint32_t kept = 0;
    size_t leaks = 0;

    for (uint32_t i = 0; i < s->n_nodes; i++) {
        uint32_t to = r->into[i];
        if (to == DROPPED)
            continue;
        if (to != i) {
            r->into[i] = r->into[to]; /* an earlier row: its new index */
            continue;
        }
        s->nodes[kept] = s->nodes[i];
        r->into[i] = kept++;
    }
    for (size_t i = 0; i < s->n_leaks; i++) {
        uint32_t node = r->into[s->leaks[i].node];
        if (node == DROPPED || s->leaks[i].count == 0)
            continue;
        s->leaks[leaks] = s->leaks[i];
        s->leaks[leaks++].node = node;
    }
    s->n_leaks = leaks;
    s->n_nodes = kept;
    move_pins(r);
    move_growth(r);
    move_usage(r);
    move_contexts(r);
}

static int regroup_init(struct regroup *r, struct bbf_snapshot *s)
{
    size_t n = s->n_nodes + 1;

    *r = (struct regroup){.s = s, .mask = 1};
    while (r->mask < 2 * s->n_nodes)
        r->mask *= 2;
    r->table = calloc(r->mask--, sizeof *r->table);
    r->parents = calloc(n, sizeof *r->parents);
    r->into = calloc(n, sizeof *r->into);
    r->depths = calloc(n, sizeof *r->depths);
    if (r->table == NULL || r->parents == NULL || r->into == NULL || r->depths == NULL)
        return BBF_ENOMEM;
    return bbf_snapshot_parents(s, r->parents, NULL);
}

static void regroup_free(struct regroup *r)
{
    free(r->depths);
    free(r->into);
    free(r->parents);
    free(r->table);
}

static int regroup(struct bbf_snapshot *s, place_row *place, size_t depth)
{
    struct regroup r;
    int err = regroup_init(&r, s);

    r.depth = depth;
    if (err == BBF_OK) {
        merge_rows(&r, place);
        close_gaps(&r);
    }
    regroup_free(&r);
    return err;
}

int bbf_snapshot_merge_rates(struct bbf_snapshot *s)
{
    return regroup(s, first_like, 0);
}

int bbf_snapshot_fold_loops(struct bbf_snapshot *s)
{
    return regroup(s, place_in_loop, 0);
}

int bbf_snapshot_cut_depth(struct bbf_snapshot *s, size_t depth)
{
    return regroup(s, place_within_depth, depth);
}

/* ---- an overlay ---- */

static void *copy(const void *rows, size_t n, size_t size)
{
    void *to = calloc(n + 1, size);

    return to != NULL && n > 0 ? memcpy(to, rows, n * size) : to;
}

/* Each row has a history of its own. */
static int copy_growth(struct bbf_snapshot *to, const struct bbf_snapshot *from)
{
    to->n_growth = 0;
    to->growth = copy(from->growth, from->n_growth, sizeof *to->growth);
    if (to->growth == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < from->n_growth; i++) {
        const struct bbf_snap_growth *row = &from->growth[i];
        to->growth[i].at = copy(row->at, row->n, sizeof *row->at);
        if (to->growth[i].at == NULL)
            return BBF_ENOMEM;
        to->n_growth++;
    }
    return BBF_OK;
}

/* Each row has texts of its own. */
static int copy_contexts(struct bbf_snapshot *to, const struct bbf_snapshot *from)
{
    int err = BBF_OK;

    to->n_contexts = 0;
    to->contexts = calloc(from->n_contexts + 1, sizeof *to->contexts);
    if (to->contexts == NULL)
        return BBF_ENOMEM;
    while (to->n_contexts < from->n_contexts && err == BBF_OK) {
        size_t i = to->n_contexts++;
        err = bbf_snap_context_copy(&to->contexts[i], &from->contexts[i]);
    }
    return err;
}

int bbf_snapshot_overlay(struct bbf_snapshot *overlay, const struct bbf_snapshot *from)
{
    struct bbf_snapshot *s = overlay;

    *s = *from;
    s->nodes = copy(from->nodes, from->n_nodes, sizeof *s->nodes);
    s->leaks = copy(from->leaks, from->n_leaks, sizeof *s->leaks);
    s->pins = copy(from->pins, from->n_pins, sizeof *s->pins);
    s->usage = copy(from->usage, from->n_usage, sizeof *s->usage);
    s->callers = copy(from->callers, from->n_callers, sizeof *s->callers);
    int err = copy_growth(s, from), copied = copy_contexts(s, from);

    err = err == BBF_OK ? copied : err;
    return s->nodes == NULL || s->leaks == NULL || s->pins == NULL || s->usage == NULL ||
                   s->callers == NULL
               ? BBF_ENOMEM
               : err;
}

void bbf_snapshot_overlay_free(struct bbf_snapshot *overlay)
{
    for (size_t i = 0; i < overlay->n_growth; i++)
        free(overlay->growth[i].at);
    free(overlay->growth);
    free(overlay->usage);
    for (size_t i = 0; i < overlay->n_contexts; i++)
        bbf_snap_context_free(&overlay->contexts[i]);
    free(overlay->contexts);
    free(overlay->callers);
    free(overlay->pins);
    free(overlay->leaks);
    free(overlay->nodes);
}

/* ---- bbf_snapshot_only() ---- */

static void forget_lives(struct bbf_snap_node *node)
{
#define XX(name) node->name##_ = 0;
    BBF_NODE_COLUMNS(XX)
#undef XX
}

/* `into` first says which paths have such a step: 1 if this step or one before it is wanted. Then,
 * from the back, which rows lead to one. */
static void mark_wanted(struct regroup *r,
                        bool (*wanted)(const struct bbf_snap_site *site, void *ctx), void *ctx)
{
    struct bbf_snapshot *s = r->s;

    for (uint32_t i = 0; i < s->n_nodes; i++)
        r->into[i] = (r->parents[i] != BBF_NO_PARENT && r->into[r->parents[i]] == 1) ||
                     wanted(&s->sites[s->nodes[i].site], ctx);
    for (size_t i = 0; i < s->n_leaks; i++)
        if (r->into[s->leaks[i].node] == 0)
            s->leaks[i].count = 0;
    for (size_t i = 0; i < s->n_pins; i++)
        if (r->into[s->pins[i].node] == 0)
            s->pins[i].buffers = 0;
    s->usage_of.unlisted = 0; /* of which paths is not known */
    for (size_t i = 0; i < s->n_usage; i++)
        if (r->into[s->usage[i].node] == 0)
            s->usage[i].lives = 0;
    for (size_t i = 0; i < s->n_growth; i++)
        if (r->into[s->growth[i].node] == 0) {
            free(s->growth[i].at);
            s->growth[i].at = NULL;
            s->growth[i].n = 0;
        }
    for (size_t i = 0; i < s->n_contexts; i++)
        if (r->into[s->contexts[i].node] == 0) {
            bbf_snap_context_free(&s->contexts[i]);
            s->contexts[i].node = DROPPED;
        }
    for (uint32_t i = (uint32_t)s->n_nodes; i-- > 0;) {
        bool leads = r->depths[i] != 0; /* a row below it stays */
        if (r->into[i] == 0)
            forget_lives(&s->nodes[i]);
        if ((r->into[i] == 1 || leads) && r->parents[i] != BBF_NO_PARENT)
            r->depths[r->parents[i]] = 1;
        r->into[i] = r->into[i] == 1 || leads ? i : DROPPED;
    }
}

int bbf_snapshot_only(struct bbf_snapshot *s,
                      bool (*wanted)(const struct bbf_snap_site *site, void *ctx), void *ctx)
{
    struct regroup r;
    int err = regroup_init(&r, s);

    if (err == BBF_OK) {
        mark_wanted(&r, wanted, ctx);
        close_gaps(&r);
    }
    regroup_free(&r);
    return err;
}
