/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/sums.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "trie/model.h"
#include "trie/node.h"

enum { INDEX_MASK = (1 << BBF_L_ARENA_SHIFT) - 1 };

struct visit {
    struct bbf_tracker *t;
    struct bbf_sums *sums;
    void (*add)(void *ctx, uint32_t index, uint64_t count);
    void *ctx;
};

/* The node where a run would be charged now. Its release row exists once a run was flushed there;
 * otherwise it is made here. */
static void add_run(const struct visit *v, uint64_t run)
{
    uint32_t node = (uint32_t)(run >> 32), class_id = (uint32_t)(run >> 16) & 0xffff;
    uint64_t count = run & 0xffff;
    struct bbf_tracker *t = v->t;
    if (count == 0)
        return;
    if (node >> BBF_L_ARENA_SHIFT != v->sums->arena) {
        uint32_t at = node == BBF_L_NODE_RACED ? BBF_L_NODE_RACED : BBF_L_NODE_BEFORE_RESET;
        v->sums->reserved_released[at] += count;
        return;
    }
    if ((atomic_load(bbf_shared_int(t, BBF_L_SHARED_FLAGS)) & BBF_L_SHARED_NODES_FULL) == 0)
        bbf_node_released(t, node, class_id, 0); /* makes the row, counts nothing */
    uint32_t site = atomic_load(&t->release_site[class_id % BBF_MAX_CLASSES]);
    uint32_t row = bbf_node_find(t, node, (BBF_REF_0 + 1) << BBF_L_KEY_BUCKET_SHIFT | site);
    uint32_t at = (row != 0 && site != 0 ? row : node) & INDEX_MASK;
    if (at < v->sums->nodes)
        v->add(v->ctx, at, count);
}

void bbf_sums_runs(struct bbf_tracker *t, struct bbf_sums *sums,
                   void (*add)(void *ctx, uint32_t index, uint64_t count), void *ctx)
{
    const struct visit v = {t, sums, add, ctx};
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        add_run(&v, atomic_load_explicit(&bbf_record_at(t, r)->run, memory_order_relaxed));
    for (unsigned s = 0; s < BBF_L_STRIPES; s++)
        for (int i = 0, n = bbf_stripe_is_used(t, s) ? BBF_L_RUN_SLOTS : 0; i < n; i++)
            add_run(&v, atomic_load_explicit(&t->stripes[s].run[i], memory_order_relaxed));
}

static void sum_shared(struct bbf_tracker *t, struct bbf_sums *sums)
{
    for (uint32_t id = BBF_L_NODE_RACED; id <= BBF_L_NODE_BEFORE_RESET; id++) {
        sums->reserved_released[id] = atomic_load(bbf_released_count(t, id));
        sums->reserved_unknown[id] = atomic_load(&bbf_node_at(t, id)->unknown);
    }
    for (int i = 0; i < BBF_L_TALLIES; i++) {
        sums->tally[i] = atomic_load(bbf_shared_long(t, BBF_L_SHARED_TALLY + 8 * i));
        for (unsigned s = 0; s < BBF_L_STRIPES; s++)
            if (bbf_stripe_is_used(t, s))
                sums->tally[i] +=
                    atomic_load_explicit(&t->stripes[s].tally[i], memory_order_relaxed);
    }
    sums->undone = atomic_load(bbf_shared_long(t, BBF_L_SHARED_UNDONE));
    sums->errors = atomic_load(bbf_shared_long(t, BBF_L_SHARED_ERRORS));
    sums->untracked = atomic_load(bbf_shared_long(t, BBF_L_SHARED_UNTRACKED));
    sums->exhausted = atomic_load(bbf_shared_long(t, BBF_L_SHARED_EXHAUSTED));
    sums->cut = atomic_load(bbf_shared_long(t, BBF_L_SHARED_CUT));
    sums->unsized = atomic_load(bbf_shared_long(t, BBF_L_SHARED_UNSIZED));
    sums->hidden = atomic_load(bbf_shared_long(t, BBF_L_SHARED_HIDDEN));
    sums->early = atomic_load(bbf_shared_long(t, BBF_L_SHARED_EARLY));
}

static void add_nothing(void *ctx, uint32_t index, uint64_t count)
{
    (void)ctx;
    (void)index;
    (void)count;
}

void bbf_sums_total(struct bbf_tracker *t, struct bbf_sums *sums)
{
    *sums = (struct bbf_sums){0};
    uint32_t next = atomic_load_explicit(&t->next_node, memory_order_acquire);
    sums->arena = next >> BBF_L_ARENA_SHIFT;
    bbf_sums_runs(t, sums, add_nothing, NULL); /* with nodes = 0: only makes rows */
    memset(sums->reserved_released, 0, sizeof sums->reserved_released);
    next = atomic_load_explicit(&t->next_node, memory_order_acquire);
    sums->nodes = next >> BBF_L_ARENA_SHIFT == sums->arena ? next & INDEX_MASK : 0;
    sum_shared(t, sums);
}

static void add_released(void *ctx, uint32_t index, uint64_t count)
{
    ((uint64_t *)ctx)[index] += count;
}

static int fill_tables(struct bbf_tracker *t, struct bbf_sums *sums)
{
    size_t bytes = (size_t)sums->nodes * (sizeof *sums->released + sizeof *sums->unknown);
    if (!bbf_budget_charge(&t->budget, bytes))
        return BBF_ELIMIT;
    sums->charged = bytes;
    sums->released = calloc((size_t)sums->nodes + 1, sizeof *sums->released);
    sums->unknown = calloc((size_t)sums->nodes + 1, sizeof *sums->unknown);
    if (sums->released == NULL || sums->unknown == NULL)
        return BBF_ENOMEM;
    for (uint32_t i = 0; i < sums->nodes; i++) {
        uint32_t id = (sums->arena << BBF_L_ARENA_SHIFT) + i;
        sums->released[i] = atomic_load_explicit(bbf_released_count(t, id), memory_order_relaxed);
        sums->unknown[i] = atomic_load_explicit(&bbf_node_at(t, id)->unknown, memory_order_relaxed);
    }
    bbf_sums_runs(t, sums, add_released, sums->released);
    return BBF_OK;
}

int bbf_sums_new(struct bbf_tracker *t, struct bbf_sums **out)
{
    struct bbf_sums *sums = calloc(1, sizeof *sums);
    *out = NULL;
    if (sums == NULL)
        return BBF_ENOMEM;
    bbf_sums_total(t, sums);
    int err = fill_tables(t, sums);
    if (err != BBF_OK) {
        bbf_sums_free(t, sums);
        return err;
    }
    *out = sums;
    return BBF_OK;
}

void bbf_sums_free(struct bbf_tracker *t, struct bbf_sums *sums)
{
    if (sums == NULL)
        return;
    bbf_budget_uncharge(&t->budget, sums->charged);
    free(sums->released);
    free(sums->unknown);
    free(sums);
}

static void take(uint64_t *from, uint64_t what)
{
    *from = *from > what ? *from - what : 0;
}

void bbf_sums_subtract(struct bbf_sums *sums, const struct bbf_sums *base)
{
    for (int i = 0; i <= BBF_L_NODE_BEFORE_RESET; i++) {
        take(&sums->reserved_released[i], base->reserved_released[i]);
        take(&sums->reserved_unknown[i], base->reserved_unknown[i]);
    }
    for (int i = 0; i < BBF_L_TALLIES; i++)
        take(&sums->tally[i], base->tally[i]);
    take(&sums->undone, base->undone);
    take(&sums->exhausted, base->exhausted);
    take(&sums->cut, base->cut);
    take(&sums->unsized, base->unsized);
    take(&sums->hidden, base->hidden);
    take(&sums->early, base->early);
}
