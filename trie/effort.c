/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/effort.h"

#include "trie/model.h"

enum { INDEX_MASK = (1 << BBF_L_ARENA_SHIFT) - 1 };

/* The number of steps of a life that is at the node; its root and a release row are not steps. */
static uint64_t steps_to(const struct bbf_tracker *t, uint32_t node)
{
    struct bbf_node *n = bbf_node_at(t, node);
    uint32_t depth = atomic_load_explicit(&n->depth, memory_order_relaxed);
    uint32_t flags = atomic_load_explicit(&n->flags, memory_order_relaxed);
    uint32_t not_steps = 1 + ((flags >> BBF_L_FLAG_BUCKET_SHIFT & 3) == BBF_REF_0);
    return depth > not_steps ? depth - not_steps : 0;
}

static void add(const struct bbf_tracker *t, struct bbf_effort *effort, uint32_t node,
                uint64_t lives)
{
    if (lives == 0)
        return;
    uint64_t steps = lives * steps_to(t, node), weight = bbf_node_weight(t, node);
    effort->lives += lives;
    effort->steps += steps;
    if (weight > 1) {
        effort->passed_lives += lives * (weight - 1);
        effort->passed_steps += steps * (weight - 1);
    }
}

static void add_run(const struct bbf_tracker *t, struct bbf_effort *effort, uint64_t run)
{
    add(t, effort, (uint32_t)(run >> 32), run & BBF_L_RUN_FULL);
}

void bbf_effort_sum(struct bbf_tracker *t, struct bbf_effort *effort)
{
    *effort = (struct bbf_effort){0, 0, 0, 0};
    uint32_t next = atomic_load_explicit(&t->next_node, memory_order_acquire);
    for (uint32_t id = next & ~(uint32_t)INDEX_MASK; id < next; id++)
        add(t, effort, id,
            atomic_load_explicit(bbf_released_count(t, id), memory_order_relaxed) +
                atomic_load_explicit(&bbf_node_at(t, id)->unknown, memory_order_relaxed) +
                bbf_node_at(t, id)->leaked);
    for (uint32_t i = 1; i <= t->n_tombs; i++)
        add(t, effort, bbf_tomb_at(t, i)->node, bbf_tomb_at(t, i)->count);
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++) {
        const struct bbf_record *record = bbf_record_at(t, r);
        uint64_t life = atomic_load_explicit(&((struct bbf_record *)(uintptr_t)record)->life,
                                             memory_order_relaxed);
        add_run(t, effort, atomic_load_explicit(&bbf_record_at(t, r)->run, memory_order_relaxed));
        if ((life & BBF_L_STATE) == BBF_L_OPEN)
            add(t, effort,
                BBF_LOW(atomic_load_explicit(&bbf_record_at(t, r)->path, memory_order_relaxed)), 1);
    }
    for (unsigned s = 0; s < BBF_L_STRIPES; s++)
        for (int i = 0, n = bbf_stripe_is_used(t, s) ? BBF_L_RUN_SLOTS : 0; i < n; i++)
            add_run(t, effort, atomic_load_explicit(&t->stripes[s].run[i], memory_order_relaxed));
}
