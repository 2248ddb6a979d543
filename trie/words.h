/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/words.h - the memory that the shim reads and writes beside the C code: records, nodes and
 * stripes, as structs of the words that core/layout.h names for both.
 *
 * Threads: each word is atomic unless it says whose it is.
 */
#ifndef BBF_TRIE_WORDS_H
#define BBF_TRIE_WORDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/layout.h"

/* One life, 64 B, one cache line; words as in core/layout.h. */
struct bbf_record {
    _Atomic uint64_t path, life, run, jweak, refs, size, parent;
    /* While the life is open: seconds at its opening; who opened it (REC_BATCH). */
    _Atomic uint32_t next, batch;
};

/* In a record's jweak in the place of a handle. NO_WEAK: none could be had; the life is followed
 * without garbage detection. STILL_STRONG: the slot could not be emptied; again at the next scan.
 */
enum { BBF_NO_WEAK = 1, BBF_STILL_STRONG = 2 };

/* 64 B, read-mostly: a written line would cost every reader 16-37 ns (design.md: trie). */
struct bbf_node {
    _Atomic uint64_t child[BBF_L_INLINE_CHILDREN];
    /* Constant once the node is published; atomic for those who read it meanwhile by its number. */
    _Atomic uint32_t site, parent, depth;
    _Atomic uint32_t flags;
    _Atomic uint32_t children;
    uint32_t leaked;          /* agent: leaks here for which no tomb could be had; no bytes */
    _Atomic uint32_t unknown; /* lives that ended here as `unknown` by an application thread */
    uint32_t tomb;            /* agent: the first of its tombs, 0 = none */
};

/* 2 KiB, written by its owning carrier thread only; others read (design.md: garbage detection).
 */
struct bbf_stripe {
    _Atomic uint64_t owner; /* Thread.tid, 0 = free */
    _Atomic uint32_t head, count;
    _Atomic uint64_t tally[BBF_L_TALLIES];
    _Atomic uint64_t run[BBF_L_RUN_SLOTS];
    _Atomic uint32_t next_end, use;
    _Atomic uint64_t suspect;
    _Atomic uint64_t random;
    uint64_t sights; /* the shim's */
    _Atomic uint64_t roots;
    char pad[BBF_L_STRIPE_ENDED - BBF_L_STRIPE_ROOTS - 8];
    struct {
        _Atomic uint64_t handle, where; /* node:32 | tid:32 */
    } recent_ends[BBF_L_ENDED_SLOTS];
};

_Static_assert(sizeof(void *) == 8, "64-bit only (design.md: memory safety)");
_Static_assert(sizeof(struct bbf_record) == 1 << BBF_L_RECORD_SHIFT, "layout");
_Static_assert(sizeof(struct bbf_node) == 1 << BBF_L_NODE_SHIFT, "layout");
_Static_assert(sizeof(struct bbf_stripe) == 1 << BBF_L_STRIPE_SHIFT, "layout");
_Static_assert(offsetof(struct bbf_node, site) == BBF_L_NODE_SITE, "layout");
_Static_assert(offsetof(struct bbf_node, flags) == BBF_L_NODE_FLAGS, "layout");
_Static_assert(offsetof(struct bbf_node, unknown) == BBF_L_NODE_UNKNOWN, "layout");
_Static_assert(offsetof(struct bbf_stripe, run) == BBF_L_STRIPE_RUN, "layout");
_Static_assert(offsetof(struct bbf_stripe, suspect) == BBF_L_STRIPE_SUSPECT, "layout");
_Static_assert(offsetof(struct bbf_stripe, recent_ends) == BBF_L_STRIPE_ENDED, "layout");
_Static_assert(offsetof(struct bbf_stripe, random) == BBF_L_STRIPE_RANDOM, "layout");
_Static_assert(offsetof(struct bbf_stripe, roots) == BBF_L_STRIPE_ROOTS, "layout");
_Static_assert(offsetof(struct bbf_record, next) == BBF_L_REC_NEXT, "layout");

/* Beside each record, made writable together with it. The agent's but for `owner`. */
struct bbf_record_extra {
    /* The composite that took the buffer over, with the generations that it holds for; written by
     * the thread that adds it, read once the composite was found collected. */
    _Atomic uint64_t owner;
    uint32_t held;  /* generation of the life if one that retains it ended unreleased, else 0 */
    uint32_t node;  /* where the first of those that leaked is charged */
    uint32_t next;  /* the next life that this scan found collected, 0 = last */
    uint8_t memory; /* of that first one */
    uint8_t lost;   /* likewise */
    bool leaked;    /* one of them did: node, memory and lost are known */
    bool mixed;     /* this scan: memory and lost are those of a composite's components */
};

_Static_assert(sizeof(struct bbf_record_extra) == BBF_L_AFTER_SIZE, "layout");
_Static_assert(offsetof(struct bbf_record_extra, owner) == BBF_L_AFTER_OWNER, "layout");

/* How long a life was open at second `now`, of its record's words while it is open or ours. */
static inline uint32_t bbf_record_age(const struct bbf_record *record, uint32_t now)
{
    uint32_t opened = atomic_load_explicit(&record->next, memory_order_relaxed);
    return now > opened ? now - opened : 0;
}
/* Low half of the tid of the thread that opened it; 0 = not known: the map has its place there. */
static inline uint32_t bbf_record_opener(const struct bbf_record *record)
{
    uint64_t life = atomic_load_explicit(&record->life, memory_order_relaxed);
    uint32_t tid = atomic_load_explicit(&record->batch, memory_order_relaxed);
    return (life & BBF_L_MAPPED) != 0 ? 0 : tid;
}

#endif
