/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/model.h - private to trie/ and to the tests that look inside: the tracker's own struct. All
 * others include trie/trie.h.
 *
 * Invariants: design.md: memory safety; the numbers in each comment below are its points. Fields
 * marked "agent" are the agent thread's alone.
 *
 * Units: bytes, seconds since start, counts of lives.
 */
#ifndef BBF_TRIE_MODEL_H
#define BBF_TRIE_MODEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/layout.h"
#include "core/terms.h"
#include "trie/after_table.h"
#include "trie/context_table.h"
#include "trie/fact_table.h"
#include "trie/growth_table.h"
#include "trie/owned_table.h"
#include "trie/scope_table.h"
#include "trie/space.h"
#include "trie/tomb.h"
#include "trie/usage_table.h"
#include "trie/words.h"

/* The rest of the 65,535 sites is reserved for roots, derived buffers and releases, because without
 * those a life is missed as a whole. */
enum { BBF_MAX_STEP_SITES = 64000 };

enum { BBF_SITE_BUCKETS = 16384, BBF_MAX_CLASSES = 4096 };

/*
 * Memory beside nodes and records that `memory` covers, in bytes:
 *   REPORT bytes per row while a report is made and rendered (trie/capture.c,
 *             render; tests/long/limits measures it)
 *   RESERVED  of that, what is kept free for each node, so that a report is always possible; when
 *             there is no more than that, its least used rows become part of their parents
 *   LEAK      what a report takes of each leak, kept free for each tomb
 * Not of the first step of 16,384 nodes, or the smallest `memory` would have room for none.
 */
enum {
    BBF_REPORT_BYTES = 144,
    BBF_RESERVED_BYTES = 64,
    BBF_LEAK_BYTES = 96,
    BBF_ARENAS = 2048, /* id ranges at most: more would be negative ints in the shim */
    BBF_NODES_PER_STEP = (1 << 20) >> BBF_L_NODE_SHIFT
};
static inline size_t bbf_reserved_bytes(uint32_t steps) /* 1 MiB steps of nodes */
{
    return steps > 1 ? (size_t)(steps - 1) * BBF_NODES_PER_STEP * BBF_RESERVED_BYTES : 0;
}

struct bbf_site; /* trie/site.h */
struct bbf_sums; /* trie/sums.h */

struct bbf_tracker {
    struct bbf_budget budget;
    struct bbf_space map; /* open lives by identity hash: trie/map.h */
    struct bbf_space records, extras, nodes, released_counts, overflow, tombs;
    /* Root nodes by sampling rate and site id; and those that the shim's short path may use: roots
     * of rate 0 while only the site decides whether a life is followed, otherwise NONE. */
    _Atomic uint32_t *rate_roots, *roots;
    _Atomic uint32_t
        rates[BBF_L_RATES]; /* one life in this number is followed; at index 0 every life */
    struct bbf_stripe *stripes;
    char *shared;               /* the page of SHARED_ offsets */
    uint32_t arenas;            /* how many id ranges were reserved */
    _Atomic uint32_t next_node; /* id of the next node; its high part follows the window's arena */
    _Atomic uint64_t window;    /* arena in force:32 | MiB of its nodes that are writable:32 */
    _Atomic bool overflow_open[BBF_ARENAS]; /* by arena: its table is writable, and charged */
    _Atomic uint32_t spare_node;            /* one node that lost the race to be published */
    _Atomic uint32_t next_record;
    _Atomic uint8_t asked[BBF_L_MAX_SITES]; /* by site: the short path is closed to it */
    _Atomic uint64_t max_nodes, max_depth, max_children, max_lives;
    _Atomic uint64_t max_age;
    _Atomic uint64_t hit_nodes, hit_depth, hit_children, hit_lives, hit_sites;
    _Atomic uint64_t folded;

    pthread_mutex_t site_lock; /* class load and first sight of a class; never in a step */
    struct bbf_site *site_table[BBF_SITE_BUCKETS];
    _Atomic(struct bbf_site *) sites[BBF_L_MAX_SITES];
    uint32_t n_sites;
    uint32_t n_steps, max_sites; /* sites of methods that are steps, and how many there may be */
    char *classes[BBF_MAX_CLASSES];
    _Atomic uint32_t release_site[BBF_MAX_CLASSES];
    _Atomic uint8_t pool_of[BBF_MAX_CLASSES]; /* 0 = none, else enum bbf_pool + 1 */
    _Atomic uint8_t lost_of[BBF_MAX_CLASSES]; /* enum bbf_lost */
    uint32_t n_classes;
    struct bbf_fact_table facts; /* class load and report; it has a lock of its own */

    struct bbf_after_tables after; /* bbf_after_release_add() */
    struct bbf_usage_tables usage; /* bbf_usage_add() */

    /* agent */
    struct bbf_owned_table lost; /* collected unreleased since the start; no reset changes it */
    uint32_t n_tombs;            /* numbered from 1 */
    struct bbf_growth_table growth;
    struct bbf_context_table contexts;              /* its fields say whose they are */
    struct bbf_scope_table scopes;                  /* likewise */
    void (*hear_end)(const struct bbf_loss *loss);  /* bbf_tracker_hear_ends(); may be NULL */
    void (*hear_leak)(const struct bbf_loss *loss); /* bbf_tracker_hear_leaks(); may be NULL */
    uint32_t n_asked;                               /* sites that are asked */
    uint32_t first_dead, last_dead;                 /* list of this scan, by record */
    bool dead_composites;                           /* there are some on it */
    _Atomic bool reserve_lent;    /* a report that is not freed yet has what is kept free */
    struct bbf_sums *baseline;    /* what a reset subtracts; NULL = nothing */
    uint64_t forgotten[BBF_ENDS]; /* lives of the tombs that resets cleared, by end */
    uint64_t forgotten_released, forgotten_unknown; /* of the id ranges that were reset */
    bool paused;
    bool no_huge;       /* the kernel has no huge pages for us */
    uint64_t live_heap; /* open heap lives at the last capture */
    uint32_t push_head, push_count;
    uint64_t resets, no_weakref, empty_slots, kept_slots, converted, scans;
};

static inline struct bbf_node *bbf_node_at(const struct bbf_tracker *t, uint32_t id)
{
    return (struct bbf_node *)(void *)t->nodes.base + id;
}
static inline struct bbf_record *bbf_record_at(const struct bbf_tracker *t, uint32_t id)
{
    return (struct bbf_record *)(void *)t->records.base + id;
}
static inline _Atomic uint64_t *bbf_released_count(const struct bbf_tracker *t, uint32_t id)
{
    return (_Atomic uint64_t *)(void *)t->released_counts.base + id;
}
static inline struct bbf_record_extra *bbf_extra_at(const struct bbf_tracker *t, uint32_t record)
{
    return (struct bbf_record_extra *)(void *)t->extras.base + record;
}
static inline struct bbf_tomb *bbf_tomb_at(const struct bbf_tracker *t, uint32_t number)
{
    return (struct bbf_tomb *)(void *)t->tombs.base + number;
}
/* The loss with a buffer that has this word `refs`. */
static inline uint8_t bbf_refs_lost(const struct bbf_tracker *t, uint64_t refs)
{
    return atomic_load_explicit(&t->lost_of[refs >> BBF_L_CLASS_SHIFT & BBF_L_CLASS_MASK],
                                memory_order_relaxed);
}
/* Bytes reserved for reports by the tombs in the first `writable` bytes of their space; by whole
 * steps. */
static inline size_t bbf_leak_bytes(const struct bbf_tracker *t, size_t writable)
{
    return writable / t->tombs.step * (t->tombs.step / sizeof(struct bbf_tomb)) * BBF_LEAK_BYTES;
}
static inline _Atomic uint32_t *bbf_shared_int(const struct bbf_tracker *t, int offset)
{
    return (_Atomic uint32_t *)(void *)(t->shared + offset);
}
static inline _Atomic uint64_t *bbf_shared_long(const struct bbf_tracker *t, int offset)
{
    return (_Atomic uint64_t *)(void *)(t->shared + offset);
}

/* 1 once a thread has tried to claim the stripe. It is stored before the CAS that makes the thread
 * its owner, so a reader that sees the owner's stores also sees it. Stripes without it are not
 * read: the pages of all stripes are 2 MiB, and reading each for the first time took more than a
 * millisecond at a JVM's exit. */
static inline _Atomic uint8_t *bbf_stripe_mark(const struct bbf_tracker *t, uint64_t stripe)
{
    return (_Atomic uint8_t *)(void *)(t->shared + BBF_L_SHARED_USED + stripe);
}
static inline bool bbf_stripe_is_used(const struct bbf_tracker *t, uint64_t stripe)
{
    /* Relaxed: all counters are exact at rest only. */
    return atomic_load_explicit(bbf_stripe_mark(t, stripe), memory_order_relaxed) != 0;
}
/* Sampling weight of a life at the node: the N of its root's rate. */
static inline uint32_t bbf_node_weight(const struct bbf_tracker *t, uint32_t node)
{
    uint32_t flags = atomic_load_explicit(&((struct bbf_node *)(void *)t->nodes.base + node)->flags,
                                          memory_order_relaxed);
    return atomic_load_explicit(&t->rates[flags >> BBF_L_FLAG_RATE_SHIFT & BBF_L_FLAG_RATE],
                                memory_order_relaxed);
}

#endif
