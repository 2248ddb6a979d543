/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/open_life.h"

#include "trie/model.h"
#include "trie/node.h"
#include "trie/windows.h"

/* Was the buffer made by or for a class initialiser, so that it is most likely in a static field
 * (docs/netty-internals.md)? If it is collected, it was not: then it is a leak like any other. */
static bool is_constant(const struct bbf_tracker *t, uint32_t node)
{
    uint32_t flags = atomic_load_explicit(&bbf_node_at(t, node)->flags, memory_order_relaxed);
    return (flags & BBF_L_FLAG_CLINIT) != 0;
}

bool bbf_open_life_read(const struct bbf_tracker *t, uint32_t r, uint32_t now,
                        struct bbf_open_life *to)
{
    struct bbf_record *record = bbf_record_at(t, r);
    uint64_t life = atomic_load_explicit(&record->life, memory_order_acquire);
    if ((life & BBF_L_STATE) != BBF_L_OPEN)
        return false;
    uint32_t g = BBF_GENERATION(life);
    uint64_t path = atomic_load_explicit(&record->path, memory_order_acquire);
    uint64_t refs = atomic_load_explicit(&record->refs, memory_order_acquire);
    uint64_t size = atomic_load_explicit(&record->size, memory_order_acquire);
    uint32_t seconds = bbf_record_age(record, now), tid = bbf_record_opener(record);
    uint64_t again = atomic_load_explicit(&record->life, memory_order_acquire);
    if (BBF_GENERATION(again) != g || (again & BBF_L_STATE) != BBF_L_OPEN)
        return false; /* its end is counted elsewhere */
    if (BBF_GENERATION(refs) != g)
        refs = BBF_MEM_UNKNOWN << BBF_L_MEM_SHIFT;
    *to = (struct bbf_open_life){
        .node = bbf_windows_charged(t, life, bbf_node_charged(t, path, g)),
        .generation = g,
        .mem = (uint8_t)(refs >> BBF_L_MEM_SHIFT),
        .stopped = (again & BBF_L_STOPPED) != 0,
        .loss = {.memory = (uint8_t)(refs >> BBF_L_MEM_SHIFT & BBF_L_MEM_KIND),
                 .lost = BBF_GENERATION(refs) == g ? bbf_refs_lost(t, refs) : BBF_LOST_UNKNOWN,
                 .bytes = BBF_GENERATION(size) == g ? BBF_LOW(size) : 0,
                 .seconds = seconds,
                 .references = BBF_GENERATION(refs) == g ? BBF_LOW(refs) & BBF_L_REFS_COUNT : 0,
                 .tid = tid}};
    if (is_constant(t, to->node))
        to->mem |= BBF_L_MEM_STATIC;
    return true;
}

bool bbf_open_life_is_judged(const struct bbf_open_life *life)
{
    const uint8_t never = BBF_L_MEM_STATIC | BBF_L_MEM_HARMLESS | BBF_L_MEM_FOREIGN;

    return (life->mem & never) == 0 && !life->stopped;
}
