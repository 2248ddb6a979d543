/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/scope_table.h - the scopes of trie/scopes.h, which a tracker has.
 *
 * Threads: `space`, `marks` and the counters any, the losses under `lock`.
 */
#ifndef BBF_TRIE_SCOPE_TABLE_H
#define BBF_TRIE_SCOPE_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/layout.h"
#include "trie/scope_loss.h"
#include "trie/space.h"

enum { BBF_SCOPE_WAYS = 8, BBF_SCOPE_SETS = 8192, BBF_SCOPE_BUCKETS = 1024 };
enum { BBF_SCOPE_LOSSES = 65536 }; /* places of all scopes */

/* Of the life in the record of the same number; words as in core/layout.h. */
struct bbf_scope_words {
    _Atomic uint64_t of, during;
};
_Static_assert(sizeof(struct bbf_scope_words) == BBF_L_SCOPE_SIZE, "layout");
_Static_assert(offsetof(struct bbf_scope_words, during) == BBF_L_SCOPE_DURING, "layout");

struct bbf_scope_place {
    struct bbf_scope_place *next; /* in its bucket */
    struct bbf_scope_loss loss;
};

struct bbf_scope_table {
    struct bbf_space space; /* struct bbf_scope_words by record; base NULL: scopes= was never on */
    _Atomic uint64_t *marks[BBF_SCOPE_MARKS]; /* NULL likewise */
    _Atomic uint32_t last, oldest;            /* number of the newest scope; place that goes next */
    _Atomic uint64_t evicted;
    _Atomic bool on;
    pthread_mutex_t lock;
    uint32_t n; /* places */
    uint64_t hit;
    struct bbf_scope_place *buckets[BBF_SCOPE_BUCKETS]; /* by number */
};

#endif
