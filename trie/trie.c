/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/trie.h"

#include "trie/model.h"
#include "trie/sums.h"

uint64_t bbf_tracker_scans(const struct bbf_tracker *t)
{
    return t->scans;
}

uint64_t bbf_tracker_converted(const struct bbf_tracker *t)
{
    return t->converted;
}

uint64_t bbf_tracker_live_heap(const struct bbf_tracker *t)
{
    return t->live_heap;
}

uint64_t bbf_tracker_faults(const struct bbf_tracker *t)
{
    return atomic_load_explicit(bbf_shared_long(t, BBF_L_SHARED_ERRORS), memory_order_relaxed);
}

uint64_t bbf_tracker_exhausted(const struct bbf_tracker *t)
{
    return atomic_load_explicit(bbf_shared_long(t, BBF_L_SHARED_EXHAUSTED), memory_order_relaxed);
}

bool bbf_tracker_judges_age(const struct bbf_tracker *t)
{
    return atomic_load(&t->max_age) != 0;
}

uint32_t bbf_class_release_site(const struct bbf_tracker *t, uint32_t class_number)
{
    return class_number < BBF_MAX_CLASSES ? atomic_load(&t->release_site[class_number]) : 0;
}

/* `offset`: of the class's number in the shared page. */
static struct bbf_last_of last_of(const struct bbf_tracker *t, uint64_t count, int offset)
{
    uint32_t number = atomic_load(bbf_shared_int(t, offset)) & BBF_L_CLASS_MASK;
    const struct bbf_site *release = bbf_site_get(t, bbf_class_release_site(t, number));
    return (struct bbf_last_of){count, release != NULL ? release->class_name : NULL};
}

void bbf_tracker_unclear(struct bbf_tracker *t, struct bbf_unclear *out)
{
    struct bbf_sums sums;
    bbf_sums_total(t, &sums);
    if (t->baseline != NULL)
        bbf_sums_subtract(&sums, t->baseline);
    out->unsized = last_of(t, sums.unsized, BBF_L_SHARED_SIZE_OF);
    out->hidden = last_of(t, sums.hidden, BBF_L_SHARED_HIDER);
    out->early = last_of(t, sums.early, BBF_L_SHARED_EARLY_OF);
}

struct bbf_place bbf_node_place(const struct bbf_tracker *t, uint32_t node)
{
    const struct bbf_node *at = bbf_node_at(t, node);
    return (struct bbf_place){at->site, at->parent};
}

uint32_t bbf_node_sampled_by(const struct bbf_tracker *t, uint32_t node)
{
    return bbf_node_weight(t, node);
}

uint32_t bbf_tracker_tombs(const struct bbf_tracker *t)
{
    return t->n_tombs;
}

struct bbf_tomb *bbf_tracker_tomb(struct bbf_tracker *t, uint32_t number)
{
    return bbf_tomb_at(t, number);
}

uint64_t bbf_stripe_owner(const struct bbf_tracker *t, uint64_t stripe)
{
    return bbf_stripe_is_used(t, stripe) ? atomic_load(&t->stripes[stripe].owner) : 0;
}

bool bbf_tracker_charge(struct bbf_tracker *t, size_t bytes)
{
    return bbf_budget_charge(&t->budget, bytes);
}

void bbf_tracker_take(struct bbf_tracker *t, size_t bytes)
{
    bbf_budget_take(&t->budget, bytes);
}

void bbf_tracker_uncharge(struct bbf_tracker *t, size_t bytes)
{
    bbf_budget_uncharge(&t->budget, bytes);
}

void bbf_tracker_memory(const struct bbf_tracker *t, struct bbf_tracker_memory *out)
{
    uint64_t steps = BBF_LOW(atomic_load(&t->window));
    *out = (struct bbf_tracker_memory){
        .used = atomic_load(&t->budget.used),
        .nodes = steps * BBF_NODES_PER_STEP * (sizeof(struct bbf_node) + sizeof(uint64_t)),
        .lives = atomic_load(&t->records.writable) + atomic_load(&t->extras.writable),
        .leaks = (uint64_t)t->n_tombs * sizeof(struct bbf_tomb)};
}

struct bbf_tracker_addresses bbf_tracker_addresses(const struct bbf_tracker *t)
{
    return (struct bbf_tracker_addresses){.nodes = t->nodes.base,
                                          .overflow = t->overflow.base,
                                          .map = t->map.base,
                                          .extras = t->extras.base,
                                          .roots = t->roots,
                                          .rate_roots = t->rate_roots,
                                          .stripes = t->stripes,
                                          .shared = t->shared,
                                          .record_mask =
                                              (t->records.size >> BBF_L_RECORD_SHIFT) - 1};
}
