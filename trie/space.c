/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/space.h"

#include <errno.h>
#include <sys/mman.h>

#include "core/err.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1, asm-generic/mman-common.h */
#endif

enum { STEP = 1 << 20, HUGE = 2 << 20, BLOCKS_A_CALL = 4 };

int bbf_space_reserve(struct bbf_space *space, size_t size, struct bbf_budget *budget)
{
    /* PROT_READ private memory is not charged to the process, not even under strict overcommit. */
    void *base = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return BBF_ENOMEM;
    /* Keep gigabytes of unused address space out of core files. */
    (void)madvise(base, size, MADV_DONTDUMP);
    space->base = base;
    space->size = size;
    space->step = STEP;
    space->budget = budget;
    space->collapsed = 0;
    atomic_init(&space->writable, 0);
    return BBF_OK;
}

bool bbf_budget_charge(struct bbf_budget *budget, size_t bytes)
{
    /* Relaxed: the counter only bounds a sum and orders nothing. */
    uint64_t used = atomic_fetch_add_explicit(&budget->used, bytes, memory_order_relaxed);
    if (used + bytes <= atomic_load_explicit(&budget->limit, memory_order_relaxed))
        return true;
    atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&budget->refused, 1, memory_order_relaxed);
    return false;
}

void bbf_budget_take(struct bbf_budget *budget, size_t bytes)
{
    atomic_fetch_add_explicit(&budget->used, bytes, memory_order_relaxed);
}

void bbf_budget_uncharge(struct bbf_budget *budget, size_t bytes)
{
    atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
}

bool bbf_space_open(struct bbf_space *space, size_t from, size_t len)
{
    if (from > space->size || len > space->size - from || !bbf_budget_charge(space->budget, len))
        return false;
    if (mprotect(space->base + from, len, PROT_READ | PROT_WRITE) == 0) {
        (void)madvise(space->base + from, len, MADV_DODUMP);
        return true;
    }
    atomic_fetch_sub_explicit(&space->budget->used, len, memory_order_relaxed);
    atomic_fetch_add_explicit(&space->budget->refused, 1, memory_order_relaxed);
    return false;
}

bool bbf_space_reach(struct bbf_space *space, size_t upto)
{
    if (upto > space->size)
        return false;
    /* Acquire: pairs with the release below, so memory that is seen as writable is writable. */
    size_t have = atomic_load_explicit(&space->writable, memory_order_acquire);
    while (have < upto) {
        size_t step = space->size - have < space->step ? space->size - have : space->step;
        if (!bbf_space_open(space, have, step))
            return false;
        if (atomic_compare_exchange_strong_explicit(&space->writable, &have, have + step,
                                                    memory_order_acq_rel, memory_order_acquire))
            have += step;
        else /* another thread opened the same step: it is charged once */
            atomic_fetch_sub_explicit(&space->budget->used, step, memory_order_relaxed);
    }
    return true;
}

bool bbf_space_reach_entries(struct bbf_space *space, size_t each, size_t count,
                             _Atomic uint64_t *end)
{
    if (!bbf_space_reach(space, count * each))
        return false;
    uint64_t now = atomic_load(&space->writable) / each;
    uint64_t seen = atomic_load(end);
    while (seen < now && !atomic_compare_exchange_weak(end, &seen, now))
        ;
    return true;
}

bool bbf_space_collapse(struct bbf_space *space, size_t from, size_t upto)
{
    if (upto - from < BBF_HUGE_FROM)
        return true;
    size_t at = space->collapsed > from ? space->collapsed : from;
    at += -(uintptr_t)(space->base + at) & (HUGE - 1);
    for (int i = 0; i < BLOCKS_A_CALL && at <= upto - HUGE; i++, at += HUGE)
        if (madvise(space->base + at, HUGE, MADV_COLLAPSE) != 0 && errno != EAGAIN)
            return false;
    space->collapsed = at;
    return true;
}

void bbf_space_drop(struct bbf_space *space, size_t from, size_t len, size_t uncharge)
{
    (void)madvise(space->base + from, len, MADV_DONTNEED);
    atomic_fetch_sub_explicit(&space->budget->used, uncharge, memory_order_relaxed);
}
