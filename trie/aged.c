/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/aged.h"

#include <stdlib.h>
#include <string.h>

#include "trie/model.h"
#include "trie/site.h"

/* ---- lifetimes by root ---- */

/* The site of a node's root. NULL: it has no root, or its id range was reset. */
static const struct bbf_site *root_site(const struct bbf_tracker *t, uint32_t node)
{
    /* Parents have smaller numbers, and zeros end the loop: a reset may be in progress. */
    for (uint32_t parent;; node = parent) {
        parent = atomic_load_explicit(&bbf_node_at(t, node)->parent, memory_order_relaxed);
        if (parent == BBF_L_NODE_NONE || parent >= node)
            break;
    }
    return bbf_site_get(t, atomic_load_explicit(&bbf_node_at(t, node)->site, memory_order_relaxed));
}

void bbf_aged_lasted(struct bbf_tracker *t, uint32_t node, uint32_t seconds)
{
    const struct bbf_site *site = root_site(t, node);
    if (site == NULL || site->lifetimes == NULL || seconds == 0)
        return;
    atomic_fetch_add_explicit(&site->lifetimes[31 - __builtin_clz(seconds)], 1,
                              memory_order_relaxed);
}

uint64_t bbf_aged_limit(const struct bbf_tracker *t, uint32_t site_id, uint64_t released)
{
    const struct bbf_site *site = bbf_site_get(t, site_id);
    uint64_t limit = atomic_load(&t->max_age);
    if (limit == 0)
        return UINT64_MAX;
    if (site == NULL || site->lifetimes == NULL || released < BBF_AGED_LIVES)
        return limit;
    uint64_t longest = 1; /* a lifetime that no life reached */
    for (int i = BBF_LIFETIMES - 1; i >= 0 && longest == 1; i--)
        if (atomic_load_explicit(&site->lifetimes[i], memory_order_relaxed) != 0)
            longest = UINT64_C(2) << i;
    return BBF_AGED_TIMES * longest < limit ? BBF_AGED_TIMES * longest : limit;
}

/* ---- aged lives of a report ---- */

static bool charge(struct bbf_aged *aged, struct bbf_tracker *t, size_t bytes)
{
    if (!bbf_budget_charge(&t->budget, bytes))
        return false;
    aged->charged += bytes;
    return true;
}

static bool grow(struct bbf_aged *aged, struct bbf_tracker *t, size_t rows)
{
    if (aged->first == NULL) {
        if (!charge(aged, t, rows * sizeof *aged->first))
            return false;
        aged->first = calloc(rows + 1, sizeof *aged->first);
        if (aged->first == NULL)
            return false;
    }
    if (aged->n < aged->cap)
        return true;
    uint32_t more = aged->cap == 0 ? 16 : 2 * aged->cap;
    if (!charge(aged, t, (more - aged->cap) * (sizeof *aged->tombs + BBF_LEAK_BYTES)))
        return false;
    struct bbf_tomb *tombs = reallocarray(aged->tombs, more, sizeof *tombs);
    if (tombs == NULL)
        return false;
    aged->tombs = tombs;
    aged->cap = more;
    return true;
}

bool bbf_aged_add(struct bbf_aged *aged, struct bbf_tracker *t, size_t rows,
                  const struct bbf_loss *loss)
{
    for (uint32_t i = aged->first != NULL ? aged->first[loss->node] : 0; i != 0;
         i = aged->tombs[i - 1].next) {
        struct bbf_tomb *tomb = &aged->tombs[i - 1];
        if (tomb->memory == loss->memory && tomb->lost == loss->lost) {
            bbf_tomb_add(tomb, loss);
            return true;
        }
    }
    aged->full = aged->full || !grow(aged, t, rows);
    if (aged->full)
        return false;
    struct bbf_tomb *tomb = &aged->tombs[aged->n++];
    memset(tomb, 0, sizeof *tomb);
    tomb->node = loss->node;
    tomb->next = aged->first[loss->node];
    tomb->memory = loss->memory;
    tomb->lost = loss->lost;
    aged->first[loss->node] = aged->n;
    bbf_tomb_add(tomb, loss);
    return true;
}

void bbf_aged_free(struct bbf_aged *aged, struct bbf_tracker *t)
{
    bbf_budget_uncharge(&t->budget, aged->charged);
    free(aged->first);
    free(aged->tombs);
}
