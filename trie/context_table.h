/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/context_table.h - the contexts of trie/context.h, which a tracker has.
 *
 * Threads: `space` any, `names` under `lock`, the rest the agent thread.
 */
#ifndef BBF_TRIE_CONTEXT_TABLE_H
#define BBF_TRIE_CONTEXT_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "core/layout.h"
#include "trie/space.h"

enum { BBF_CONTEXT_BUCKETS = 1024, BBF_CONTEXT_NAMES = 4096 };
enum { BBF_CONTEXT_WORDS = BBF_L_CONTEXT_SIZE / 8 };

/* What hooks noted of the life in the record of the same number; words as in core/layout.h. */
struct bbf_context {
    _Atomic uint64_t word[BBF_CONTEXT_WORDS];
};
_Static_assert(sizeof(struct bbf_context) == BBF_L_CONTEXT_SIZE, "layout");
_Static_assert(BBF_L_CONTEXT_ADDRESS + BBF_L_CONTEXT_ADDRESS_BYTES == BBF_L_CONTEXT_HINT, "layout");
_Static_assert(BBF_L_CONTEXT_HINT + BBF_L_CONTEXT_HINT_BYTES == BBF_L_CONTEXT_SIZE, "layout");
_Static_assert(BBF_L_CONTEXT_ADDRESS % 8 == 0 && BBF_L_CONTEXT_HINT % 8 == 0, "layout");

/* That of a lost life. */
struct bbf_lost_context {
    uint32_t second;                  /* since start, when a scan found it lost */
    uint32_t open;                    /* seconds that it had been open */
    uint64_t word[BBF_CONTEXT_WORDS]; /* that of the guard is not used */
};

/* The last of them that ended at a node. */
struct bbf_context_place {
    struct bbf_context_place *next; /* in its bucket */
    uint32_t node;
    uint32_t n;                     /* so far: the next one is at n % keep */
    struct bbf_lost_context ring[]; /* keep */
};

struct bbf_context_table {
    struct bbf_space space; /* struct bbf_context by record; base NULL: context= was never on */
    uint32_t keep, most;    /* contextKeep=, maxContexts= */
    uint32_t n;             /* places */
    uint64_t hit;           /* lost lives whose place had no room */
    struct bbf_context_place *buckets[BBF_CONTEXT_BUCKETS];
    pthread_mutex_t lock;
    uint32_t n_names;               /* numbered from 1 */
    char *names[BBF_CONTEXT_NAMES]; /* of classes, with dots; never freed */
};

#endif
