/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/windows.h"

#include "trie/model.h"
#include "trie/node.h"

enum {
    TRIES = 100 /* stores of a life's steps between a load and a CAS; each takes a hook's time */
};

static _Atomic uint32_t *gate(struct bbf_tracker *t)
{
    return bbf_shared_int(t, BBF_L_SHARED_SLOW_HOOKS);
}

void bbf_windows_use(struct bbf_tracker *t, bool seldom)
{
    uint32_t flags = (uint32_t)BBF_L_SHARED_WINDOWS | (seldom ? (uint32_t)BBF_L_SHARED_SELDOM : 0);
    atomic_fetch_or(bbf_shared_int(t, BBF_L_SHARED_FLAGS), flags);
    atomic_fetch_or(gate(t), (uint32_t)BBF_L_SLOW_IDLE | BBF_L_SLOW_GATE);
}

bool bbf_windows_are_used(const struct bbf_tracker *t)
{
    return (atomic_load_explicit(bbf_shared_int(t, BBF_L_SHARED_FLAGS), memory_order_relaxed) &
            BBF_L_SHARED_WINDOWS) != 0;
}

void bbf_windows_rely_on_fields(struct bbf_tracker *t)
{
    _Atomic uint32_t *flags = bbf_shared_int(t, BBF_L_SHARED_FLAGS);
    if ((atomic_load(flags) & (uint32_t)BBF_L_SHARED_SELDOM) != 0)
        atomic_fetch_or(flags, (uint32_t)BBF_L_SHARED_FIELDS);
}

bool bbf_windows_are_by_field(const struct bbf_tracker *t)
{
    return (atomic_load_explicit(bbf_shared_int(t, BBF_L_SHARED_FLAGS), memory_order_relaxed) &
            (uint32_t)BBF_L_SHARED_FIELDS) != 0;
}

/* ---- a life ---- */

static bool may_be_left(const struct bbf_tracker *t, uint32_t node)
{
    uint32_t flags = atomic_load_explicit(&bbf_node_at(t, node)->flags, memory_order_relaxed);
    return (flags & BBF_L_FLAG_NO_STEPS) == 0;
}

uint32_t bbf_windows_charged(const struct bbf_tracker *t, uint64_t life, uint32_t node)
{
    return (life & BBF_L_LATER) != 0 && may_be_left(t, node) ? BBF_L_NODE_RACED : node;
}

/* To the gap of its node. With LATER a step was stored over that, and more may be missing. */
static void move(struct bbf_tracker *t, struct bbf_record *record, uint64_t life)
{
    for (int i = 0; i < TRIES; i++) {
        uint64_t path = atomic_load_explicit(&record->path, memory_order_relaxed);
        uint32_t node = BBF_LOW(path);
        if (BBF_GENERATION(path) != BBF_GENERATION(life) || node == BBF_L_NODE_NONE ||
            !may_be_left(t, node))
            return; /* a late step of the life before, an end, or it was moved already */
        uint32_t to = (life & BBF_L_LATER) != 0 ? BBF_L_NODE_RACED : bbf_node_gap(t, node);
        /* CAS: a step's store, an end or the record's next life may come between. Release: who sees
         * the number sees the node. */
        if (!atomic_compare_exchange_strong_explicit(&record->path, &path,
                                                     BBF_WORD(BBF_GENERATION(life), to),
                                                     memory_order_acq_rel, memory_order_relaxed))
            continue;
        if ((life & BBF_L_LATER) != 0)
            atomic_fetch_add(bbf_shared_long(t, BBF_L_SHARED_TALLY + 8 * BBF_L_TALLY_RACED_STEPS),
                             1);
        return;
    }
}

bool bbf_windows_freeze(struct bbf_tracker *t, uint32_t r)
{
    struct bbf_record *record = bbf_record_at(t, r);
    /* Acquire: the position is that of this life or a later one. */
    uint64_t life = atomic_load_explicit(&record->life, memory_order_acquire);
    while ((life & BBF_L_STATE) == BBF_L_OPEN) {
        move(t, record, life);
        if ((life & BBF_L_LATER) != 0)
            return false;
        /* Behind the position, and release: a closer that sees LATER sees the gap, or what was
         * stored over it. CAS: the agent may convert the life, a thread may end it. */
        if (atomic_compare_exchange_strong_explicit(&record->life, &life, life | BBF_L_LATER,
                                                    memory_order_acq_rel, memory_order_acquire))
            return true;
    }
    return false;
}

/* ---- the gate ---- */

void bbf_windows_open(struct bbf_tracker *t)
{
    /* Release: who sees the gate open again sees the gaps. */
    atomic_fetch_and_explicit(gate(t), ~((uint32_t)BBF_L_SLOW_IDLE | BBF_L_SLOW_GATE),
                              memory_order_release);
}

void bbf_windows_refuse_roots(struct bbf_tracker *t)
{
    atomic_fetch_or_explicit(gate(t), (uint32_t)BBF_L_SLOW_NO_ROOTS, memory_order_relaxed);
}

uint64_t bbf_windows_shut(struct bbf_tracker *t)
{
    uint64_t frozen = 0;
    /* Sequentially consistent, like the fence of the hook that opens a life: either this walk sees
     * the life, or that hook sees FREEZING. */
    atomic_fetch_or(gate(t), (uint32_t)BBF_L_SLOW_NO_ROOTS | BBF_L_SLOW_FREEZING);
#ifndef __SANITIZE_THREAD__ /* TSan knows no fences; the twin's hook also changes the gate's word  \
                             */
    atomic_thread_fence(memory_order_seq_cst);
#endif
    uint32_t end = atomic_load_explicit(&t->next_record, memory_order_acquire);
    for (uint32_t r = BBF_L_FIRST_RECORD; r < end; r++)
        frozen += bbf_windows_freeze(t, r);
    /* Release: who misses a step sees the gap when the life ends. */
    atomic_fetch_or_explicit(gate(t), (uint32_t)BBF_L_SLOW_IDLE, memory_order_release);
    return frozen;
}

/* ---- what root hooks count ---- */

void bbf_windows_count(struct bbf_tracker *t, bool on)
{
    /* Relaxed: a statistic, which orders nothing. */
    if (on)
        atomic_fetch_or_explicit(gate(t), (uint32_t)BBF_L_SLOW_COUNT, memory_order_relaxed);
    else
        atomic_fetch_and_explicit(gate(t), ~(uint32_t)BBF_L_SLOW_COUNT, memory_order_relaxed);
}

uint64_t bbf_windows_roots(const struct bbf_tracker *t)
{
    uint64_t sum =
        atomic_load_explicit(bbf_shared_long(t, BBF_L_SHARED_ROOTS), memory_order_relaxed);
    for (unsigned s = 0; s < BBF_L_STRIPES; s++)
        if (bbf_stripe_is_used(t, s))
            sum += atomic_load_explicit(&t->stripes[s].roots, memory_order_relaxed);
    return sum;
}
