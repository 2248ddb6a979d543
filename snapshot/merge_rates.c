/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each sampling rate has nodes of its own (trie/node.c), but a report shows each path once. Rows
 * with the same parent, site and bucket become one, from the roots down, so that a rate changed by
 * budget= or `set sample=` does not give several trees. The rows are weighted already.
 */
#include <stdlib.h>

#include "core/err.h"
#include "snapshot/snapshot.h"

struct merge {
    struct bbf_snapshot *s;
    uint32_t *parents; /* by row: the index of its parent */
    uint32_t
        *into; /* by row: the row that it is merged into; for a row that stays, its new index */
    uint32_t *table; /* rows that stay, index + 1, by their key */
    size_t mask;
};

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33; /* murmur3's finaliser, https://github.com/aappleby/smhasher */
    x *= UINT64_C(0xff51afd7ed558ccd);
    return x ^ x >> 33;
}

/* The first row with the same parent (merged), site and bucket; the row itself if it is the first.
 */
static uint32_t first_like(struct merge *m, uint32_t row)
{
    const struct bbf_snap_node *nodes = m->s->nodes;
    uint64_t key = (uint64_t)m->parents[row] << 32 | nodes[row].site;
    for (uint64_t at = mix(key ^ (uint64_t)nodes[row].ref << 29);; at++) {
        uint32_t *place = &m->table[at & m->mask];
        if (*place == 0) {
            *place = row + 1;
            return row;
        }
        uint32_t other = *place - 1;
        if (m->parents[other] == m->parents[row] && nodes[other].site == nodes[row].site &&
            nodes[other].ref == nodes[row].ref)
            return other;
    }
}

static void merge_rows(struct merge *m)
{
    struct bbf_snap_node *nodes = m->s->nodes;
    for (uint32_t i = 0; i < m->s->n_nodes; i++) {
        if (m->parents[i] != BBF_NO_PARENT)
            m->parents[i] = m->into[m->parents[i]];
        uint32_t to = m->into[i] = first_like(m, i);
        if (to == i) {
            if (m->parents[i] != BBF_NO_PARENT)
                nodes[i].parent = (int64_t)nodes[m->parents[i]].id;
            continue;
        }
        nodes[to].loop = nodes[to].loop || nodes[i].loop;
#define XX(name) nodes[to].name##_ += nodes[i].name##_;
        BBF_NODE_COLUMNS(XX)
#undef XX
    }
}

static void close_gaps(struct merge *m)
{
    struct bbf_snapshot *s = m->s;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        if (m->into[i] != i) {
            m->into[i] = m->into[m->into[i]]; /* an earlier row: its new index */
            continue;
        }
        s->nodes[kept] = s->nodes[i];
        m->into[i] = kept++;
    }
    for (size_t i = 0; i < s->n_leaks; i++)
        s->leaks[i].node = m->into[s->leaks[i].node];
    s->n_nodes = kept;
}

int bbf_snapshot_merge_rates(struct bbf_snapshot *s)
{
    struct merge m = {.s = s, .mask = 1};
    while (m.mask < 2 * s->n_nodes)
        m.mask *= 2;
    m.table = calloc(m.mask--, sizeof *m.table);
    m.parents = calloc(s->n_nodes + 1, sizeof *m.parents);
    m.into = calloc(s->n_nodes + 1, sizeof *m.into);
    int err = m.table == NULL || m.parents == NULL || m.into == NULL ? BBF_ENOMEM : BBF_OK;
    if (err == BBF_OK)
        err = bbf_snapshot_parents(s, m.parents, NULL);
    if (err == BBF_OK) {
        merge_rows(&m);
        close_gaps(&m);
    }
    free(m.into);
    free(m.parents);
    free(m.table);
    return err;
}
