/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/growth_table.h - the table of trie/growth.c, which a tracker has.
 *
 * Threads: the agent thread.
 */
#ifndef BBF_TRIE_GROWTH_TABLE_H
#define BBF_TRIE_GROWTH_TABLE_H

#include <stdint.h>

#include "snapshot/snapshot.h"

enum { BBF_GROWTH_BUCKETS = 4096 };

struct bbf_growth {
    struct bbf_growth *next; /* in its bucket */
    uint32_t node;
    uint8_t of, memory, lost; /* enum bbf_growth_of, bbf_memory, bbf_lost */
    uint32_t first, last;     /* seconds since start: of the first and last loss, or look that
                                 found something held */
    uint32_t at;              /* the newest interval in the ring */
    struct bbf_snap_interval ring[]; /* by number modulo keep */
};

struct bbf_growth_table {
    uint32_t seconds, keep; /* of an interval; intervals. 0: off */
    uint32_t most;          /* places of each kind */
    uint32_t looked;        /* the interval in which open lives were looked at last */
    uint32_t n[BBF_GROWTH_KINDS];
    uint64_t hit; /* lives that were not added because their place had no room */
    struct bbf_growth *buckets[BBF_GROWTH_BUCKETS];
};

#endif
