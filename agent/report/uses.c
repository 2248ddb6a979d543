/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/uses.h"

enum state { FREE, TAKEN, READY };

static struct bbf_use_seen uses[BBF_USES];
static _Atomic uint32_t next_use;

struct bbf_use_seen *bbf_uses_claim(void)
{
    /* Relaxed: it only spreads the threads over the places. */
    uint32_t number = atomic_fetch_add_explicit(&next_use, 1, memory_order_relaxed);
    struct bbf_use_seen *use = &uses[number % BBF_USES];
    uint32_t is_free = FREE;

    /* Acquire: the agent's reads before its done() come before our writes. */
    return atomic_compare_exchange_strong_explicit(&use->state, &is_free, TAKEN,
                                                   memory_order_acquire, memory_order_relaxed)
               ? use
               : NULL;
}

void bbf_uses_ready(struct bbf_use_seen *use)
{
    atomic_store_explicit(&use->state, READY, memory_order_release); /* with bbf_uses_next() */
}

void bbf_uses_cancel(struct bbf_use_seen *use)
{
    atomic_store_explicit(&use->state, FREE, memory_order_release); /* with the next claim */
}

struct bbf_use_seen *bbf_uses_next(size_t *at)
{
    while (*at < BBF_USES) {
        struct bbf_use_seen *use = &uses[(*at)++];
        if (atomic_load_explicit(&use->state, memory_order_acquire) == READY)
            return use;
    }
    return NULL;
}

void bbf_uses_done(struct bbf_use_seen *use)
{
    atomic_store_explicit(&use->state, FREE, memory_order_release); /* with the next claim */
}
