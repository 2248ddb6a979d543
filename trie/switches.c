/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/switches.h"

#include "core/err.h"
#include "trie/context.h"
#include "trie/growth.h"
#include "trie/model.h"
#include "trie/node.h"
#include "trie/usage.h"
#include "trie/windows.h"

/* A raised limit reopens the nodes that it had closed; a lowered one closes nodes from now on. */
static void reflag_nodes(struct bbf_tracker *t)
{
    uint32_t end = atomic_load(&t->next_node);
    uint64_t depth = atomic_load(&t->max_depth), children = atomic_load(&t->max_children);
    for (uint32_t id = end >> BBF_L_ARENA_SHIFT << BBF_L_ARENA_SHIFT; id < end; id++) {
        struct bbf_node *n = bbf_node_at(t, id);
        uint32_t set = (n->depth >= depth ? (uint32_t)BBF_L_FLAG_NO_STEPS : 0) |
                       (atomic_load(&n->children) >= children ? (uint32_t)BBF_L_FLAG_FULL : 0);
        atomic_fetch_or(&n->flags, set);
        atomic_fetch_and(&n->flags, set | ~(uint32_t)(BBF_L_FLAG_NO_STEPS | BBF_L_FLAG_FULL));
    }
}

void bbf_tracker_limit(struct bbf_tracker *t, const struct bbf_limits *limits)
{
    atomic_store(&t->max_nodes, limits->max_nodes);
    atomic_store(&t->max_depth, limits->max_depth);
    atomic_store(&t->max_children, limits->max_children);
    atomic_store(&t->max_lives, limits->max_lives);
    atomic_store(&t->max_age, limits->age);
    atomic_store(bbf_shared_int(t, BBF_L_SHARED_ELEMENTS), (uint32_t)limits->max_elements);
    atomic_store(&t->budget.limit, limits->memory);
    pthread_mutex_lock(&t->site_lock);
    t->max_sites = limits->max_sites < BBF_MAX_STEP_SITES ? (uint32_t)limits->max_sites
                                                          : (uint32_t)BBF_MAX_STEP_SITES;
    pthread_mutex_unlock(&t->site_lock);
    pthread_mutex_lock(&t->facts.lock);
    t->facts.limit = limits->max_facts;
    pthread_mutex_unlock(&t->facts.lock);
    bbf_usage_set(t, limits->usage);
    bbf_context_limit(t, limits->context_keep, limits->max_contexts);
    bbf_growth_limit(t, limits->growth_seconds, limits->growth_keep, limits->max_growth);
    atomic_fetch_and(bbf_shared_int(t, BBF_L_SHARED_FLAGS), ~(uint32_t)BBF_L_SHARED_NODES_FULL);
    if (atomic_load(&t->next_node) != 0)
        reflag_nodes(t);
}

/* Update the table of the shim's short path after a change of the settings that decide beside the
 * site. The flags were changed first. */
static void refresh_roots(struct bbf_tracker *t)
{
    uint32_t arena = atomic_load(&t->next_node) >> BBF_L_ARENA_SHIFT;
    for (uint32_t id = 1; id < BBF_L_MAX_SITES; id++) {
        uint32_t root = atomic_load(&t->rate_roots[id]);
        if (root == BBF_L_NODE_NONE)
            continue; /* then the other table has none either */
        bool fast = root >> BBF_L_ARENA_SHIFT == arena && bbf_node_is_fast(t, id);
        atomic_store(&t->roots[id], fast ? root : BBF_L_NODE_NONE);
        if (fast && !bbf_node_is_fast(t, id)) /* another thread turns tracking off */
            atomic_store(&t->roots[id], BBF_L_NODE_NONE);
    }
}

static void set_flag(struct bbf_tracker *t, uint32_t flag, bool on)
{
    _Atomic uint32_t *flags = bbf_shared_int(t, BBF_L_SHARED_FLAGS);
    if (on)
        atomic_fetch_or(flags, flag);
    else
        atomic_fetch_and(flags, ~flag);
    refresh_roots(t);
}

void bbf_tracker_direct_only(struct bbf_tracker *t, bool on)
{
    set_flag(t, BBF_L_SHARED_DIRECT_ONLY, on);
}

void bbf_tracker_pause(struct bbf_tracker *t)
{
    t->paused = true;
    set_flag(t, BBF_L_SHARED_PAUSED, true);
}

void bbf_tracker_resume(struct bbf_tracker *t)
{
    t->paused = false;
    set_flag(t, BBF_L_SHARED_PAUSED, false);
}

/* The index of a rate, or a free index for it; RATES: there is none. */
static uint32_t rate_of(const struct bbf_tracker *t, uint32_t n)
{
    uint32_t rate = 0;
    while (rate < BBF_L_RATES && atomic_load(&t->rates[rate]) != n &&
           atomic_load(&t->rates[rate]) != 0)
        rate++;
    return rate;
}

bool bbf_tracker_can_sample(const struct bbf_tracker *t, uint32_t n)
{
    return rate_of(t, n) < BBF_L_RATES;
}

int bbf_tracker_sample(struct bbf_tracker *t, uint32_t n)
{
    uint32_t rate = rate_of(t, n);
    if (rate == BBF_L_RATES)
        return BBF_ELIMIT;
    atomic_store(&t->rates[rate], n);
    atomic_store(bbf_shared_int(t, BBF_L_SHARED_SAMPLE),
                 rate == 0 ? 0 : rate << BBF_L_SAMPLE_RATE_SHIFT | n);
    refresh_roots(t);
    return BBF_OK;
}

void bbf_tracker_off(struct bbf_tracker *t)
{
    set_flag(t, BBF_L_SHARED_OFF, true);
}

bool bbf_tracker_sampled(const struct bbf_tracker *t)
{
    return bbf_windows_are_used(t) || atomic_load_explicit(&t->rates[1], memory_order_relaxed) != 0;
}

/* ---- what the hooks must expect ---- */

void bbf_tracker_hold(struct bbf_tracker *t)
{
    atomic_fetch_or(bbf_shared_int(t, BBF_L_SHARED_FLAGS), (uint32_t)BBF_L_SHARED_PAUSED);
}

void bbf_tracker_expect_fieldless(struct bbf_tracker *t)
{
    atomic_fetch_or(bbf_shared_int(t, BBF_L_SHARED_SLOW_HOOKS), (uint32_t)BBF_L_SLOW_FIELDLESS);
}

void bbf_tracker_set_idle(struct bbf_tracker *t, bool idle)
{
    _Atomic uint32_t *slow = bbf_shared_int(t, BBF_L_SHARED_SLOW_HOOKS);
    if (idle)
        atomic_fetch_or(slow, (uint32_t)BBF_L_SLOW_IDLE);
    else
        atomic_fetch_and(slow, ~(uint32_t)BBF_L_SLOW_IDLE);
}

bool bbf_tracker_is_idle(const struct bbf_tracker *t)
{
    uint32_t slow =
        atomic_load_explicit(bbf_shared_int(t, BBF_L_SHARED_SLOW_HOOKS), memory_order_relaxed);
    return (slow & (uint32_t)BBF_L_SLOW_IDLE) != 0;
}

void bbf_tracker_expect_unseen(struct bbf_tracker *t)
{
    atomic_fetch_or(bbf_shared_int(t, BBF_L_SHARED_FLAGS), (uint32_t)BBF_L_SHARED_UNSEEN);
}

void bbf_tracker_expect_own_counts(struct bbf_tracker *t)
{
    atomic_store(bbf_shared_int(t, BBF_L_SHARED_OWN), 1);
}

void bbf_tracker_set_now(struct bbf_tracker *t, uint32_t second)
{
    atomic_store_explicit(bbf_shared_int(t, BBF_L_SHARED_NOW), second, memory_order_relaxed);
}

void bbf_tracker_hear_ends(struct bbf_tracker *t, void (*hear)(const struct bbf_loss *loss))
{
    t->hear_end = hear;
}

void bbf_tracker_hear_leaks(struct bbf_tracker *t, void (*hear)(const struct bbf_loss *loss))
{
    t->hear_leak = hear;
}

void bbf_tracker_ask(struct bbf_tracker *t, uint32_t site, bool on)
{
    _Atomic uint32_t *flags = bbf_shared_int(t, BBF_L_SHARED_FLAGS);
    if (atomic_exchange(&t->asked[site], on) == on)
        return;
    t->n_asked += on ? 1 : UINT32_MAX;
    if (t->n_asked == 0)
        atomic_fetch_and(flags, ~(uint32_t)BBF_L_SHARED_ASKED);
    else
        atomic_fetch_or(flags, (uint32_t)BBF_L_SHARED_ASKED);
    /* After `asked`: a thread that stores the root meanwhile reads that again and undoes it. When
     * it is over, the next life puts the root back. */
    if (on)
        atomic_store(&t->roots[site], BBF_L_NODE_NONE);
}

bool bbf_tracker_asks(const struct bbf_tracker *t, uint32_t site)
{
    /* Relaxed: a life at the moment of a change may be on either side. */
    return site < BBF_L_MAX_SITES &&
           atomic_load_explicit(&t->asked[site], memory_order_relaxed) != 0;
}
