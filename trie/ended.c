/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/ended.c - finds where and by whom a life was released, to report a use after release. A
 * plain close leaves the thread in its sticky record, and the place in its run word, until the
 * object's next life. Any other release is among the last ENDED_SLOTS ends of its thread's stripe.
 */
#include "trie/ended.h"

#include "trie/model.h"

bool bbf_life_find_closed(const struct bbf_tracker *t, uint64_t handle, uint32_t *node,
                          uint32_t *tid)
{
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    if (BBF_LOW(handle) < BBF_L_FIRST_RECORD || BBF_LOW(handle) >= end)
        return false;
    const struct bbf_record *record = bbf_record_at(t, BBF_LOW(handle));
    uint64_t closed = (handle & ~(uint64_t)UINT32_MAX) | BBF_L_CLOSED | BBF_L_STICKY;
    if (atomic_load_explicit(&record->life, memory_order_acquire) != closed)
        return false;
    uint64_t run = atomic_load_explicit(&record->run, memory_order_relaxed);
    *tid = atomic_load_explicit(&record->batch, memory_order_acquire);
    *node = BBF_GENERATION(run);
    return *tid != 0 && *node != BBF_L_NODE_NONE &&
           atomic_load_explicit(&record->life, memory_order_relaxed) == closed;
}

static bool in_stripe(const struct bbf_stripe *s, uint64_t handle, uint32_t *node, uint32_t *tid)
{
    for (int i = 0; i < BBF_L_ENDED_SLOTS; i++) {
        if (atomic_load_explicit(&s->recent_ends[i].handle, memory_order_acquire) != handle)
            continue;
        uint64_t where = atomic_load_explicit(&s->recent_ends[i].where, memory_order_acquire);
        *node = BBF_GENERATION(where);
        *tid = BBF_LOW(where);
        if (atomic_load_explicit(&s->recent_ends[i].handle, memory_order_relaxed) == handle)
            return true;
    }
    return false;
}

bool bbf_life_find_ended(const struct bbf_tracker *t, uint64_t handle, uint32_t *node,
                         uint32_t *tid)
{
    if (bbf_life_find_closed(t, handle, node, tid))
        return true;
    /* A stripe keeps its ends when its thread ends, so only stripes that never had a thread are
     * skipped. */
    for (unsigned i = 0; i < BBF_L_STRIPES; i++)
        if (bbf_stripe_is_used(t, i) &&
            atomic_load_explicit(&t->stripes[i].next_end, memory_order_relaxed) != 0 &&
            in_stripe(&t->stripes[i], handle, node, tid))
            return true;
    return false;
}
