/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/map.h"

#include "trie/model.h"

bool bbf_map_open(struct bbf_tracker *t)
{
    if (!bbf_space_reach(&t->map, t->map.size))
        return false;
    atomic_fetch_or(bbf_shared_int(t, BBF_L_SHARED_FLAGS), (uint32_t)BBF_L_SHARED_MAP);
    return true;
}

bool bbf_map_is_open(const struct bbf_tracker *t)
{
    return (atomic_load(bbf_shared_int(t, BBF_L_SHARED_FLAGS)) & BBF_L_SHARED_MAP) != 0;
}

void bbf_map_remove(struct bbf_tracker *t, uint32_t record, uint32_t generation)
{
    /* The shim stored its place here (REC_BATCH is not a link while a record is in use). */
    uint32_t place = atomic_load_explicit(&bbf_record_at(t, record)->batch, memory_order_relaxed);
    const uint64_t key = (uint64_t)generation << BBF_L_MAP_GENERATION_SHIFT | record;
    if (place == 0 || place >= t->map.size / sizeof(uint64_t))
        return;
    _Atomic uint64_t *at = (_Atomic uint64_t *)(void *)t->map.base + place;
    uint64_t entry = atomic_load_explicit(at, memory_order_relaxed);
    if ((entry & ((UINT64_C(1) << BBF_L_MAP_TAG_SHIFT) - 1)) == key)
        (void)atomic_compare_exchange_strong_explicit(at, &entry, 0, memory_order_relaxed,
                                                      memory_order_relaxed);
}
