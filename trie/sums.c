#include "trie/sums.h"

#include <stdlib.h>
#include <string.h>

enum { INDEX_MASK = (1 << BBF_L_ARENA_SHIFT) - 1 };

/* Where a run would be charged now; its release row exists once it was flushed, or is made here. */
static void add_run(struct bbf_tracker *t, struct bbf_sums *sums, uint64_t run)
{
    uint32_t node = (uint32_t)(run >> 32), class_id = (uint32_t)(run >> 16) & 0xffff;
    uint64_t count = run & 0xffff;
    if (count == 0)
        return;
    if (node >> BBF_L_ARENA_SHIFT != sums->arena) {
        uint32_t at = node == BBF_L_NODE_RACED ? BBF_L_NODE_RACED : BBF_L_NODE_BEFORE_RESET;
        sums->reserved_released[at] += count;
        return;
    }
    if ((atomic_load(bbf_shared_int(t, BBF_L_SHARED_FLAGS)) & BBF_L_SHARED_NODES_FULL) == 0)
        bbf_node_released(t, node, class_id, 0); /* makes the row, counts nothing */
    uint32_t site = atomic_load(&t->release_site[class_id % BBF_MAX_CLASSES]);
    uint32_t row = bbf_node_find(t, node, (BBF_REF_0 + 1) << BBF_L_KEY_BUCKET_SHIFT | site);
    uint32_t at = (row != 0 && site != 0 ? row : node) & INDEX_MASK;
    if (at < sums->nodes)
        sums->released[at] += count;
}

static void each_run(struct bbf_tracker *t, struct bbf_sums *sums)
{
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        add_run(t, sums, atomic_load_explicit(&bbf_record_at(t, r)->run, memory_order_relaxed));
    for (int s = 0; s < BBF_L_STRIPES; s++)
        for (int i = 0; i < BBF_L_RUN_SLOTS; i++)
            add_run(t, sums, atomic_load_explicit(&t->stripes[s].run[i], memory_order_relaxed));
}

static void sum_shared(struct bbf_tracker *t, struct bbf_sums *sums)
{
    for (uint32_t id = BBF_L_NODE_RACED; id <= BBF_L_NODE_BEFORE_RESET; id++) {
        sums->reserved_released[id] += atomic_load(bbf_ended_at(t, id));
        sums->reserved_unknown[id] = atomic_load(&bbf_node_at(t, id)->unknown);
    }
    for (int i = 0; i < BBF_L_TALLIES; i++) {
        sums->tally[i] = atomic_load(bbf_shared_long(t, BBF_L_SHARED_TALLY + 8 * i));
        for (int s = 0; s < BBF_L_STRIPES; s++)
            sums->tally[i] += atomic_load_explicit(&t->stripes[s].tally[i], memory_order_relaxed);
    }
    sums->undone = atomic_load(bbf_shared_long(t, BBF_L_SHARED_UNDONE));
    sums->errors = atomic_load(bbf_shared_long(t, BBF_L_SHARED_ERRORS));
    sums->untracked = atomic_load(bbf_shared_long(t, BBF_L_SHARED_UNTRACKED));
}

struct bbf_sums *bbf_sums_new(struct bbf_tracker *t)
{
    struct bbf_sums *sums = calloc(1, sizeof *sums);
    if (sums == NULL)
        return NULL;
    uint32_t next = atomic_load_explicit(&t->next_node, memory_order_acquire);
    sums->arena = next >> BBF_L_ARENA_SHIFT;
    /* Once with nodes = 0: makes the release rows that runs will need, so that `nodes` covers them.
     */
    each_run(t, sums);
    memset(sums->reserved_released, 0, sizeof sums->reserved_released);
    next = atomic_load_explicit(&t->next_node, memory_order_acquire);
    sums->nodes = next & INDEX_MASK;
    sums->released = calloc((size_t)sums->nodes + 1, sizeof *sums->released);
    sums->unknown = calloc((size_t)sums->nodes + 1, sizeof *sums->unknown);
    if (sums->released == NULL || sums->unknown == NULL) {
        bbf_sums_free(sums);
        return NULL;
    }
    for (uint32_t i = 0; i < sums->nodes; i++) {
        uint32_t id = (sums->arena << BBF_L_ARENA_SHIFT) + i;
        sums->released[i] = atomic_load_explicit(bbf_ended_at(t, id), memory_order_relaxed);
        sums->unknown[i] = atomic_load_explicit(&bbf_node_at(t, id)->unknown, memory_order_relaxed);
    }
    each_run(t, sums);
    sum_shared(t, sums);
    return sums;
}

void bbf_sums_free(struct bbf_sums *sums)
{
    if (sums == NULL)
        return;
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
    if (base->arena == sums->arena)
        for (uint32_t i = 0; i < base->nodes && i < sums->nodes; i++) {
            take(&sums->released[i], base->released[i]);
            take(&sums->unknown[i], base->unknown[i]);
        }
    for (int i = 0; i <= BBF_L_NODE_BEFORE_RESET; i++) {
        take(&sums->reserved_released[i], base->reserved_released[i]);
        take(&sums->reserved_unknown[i], base->reserved_unknown[i]);
    }
    for (int i = 0; i < BBF_L_TALLIES; i++)
        take(&sums->tally[i], base->tally[i]);
    take(&sums->undone, base->undone);
}
