/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/tracker.h - the model as one object: sites, nodes, records, stripes, limits. What a buffer's
 * way through it looks like, for `f(b); g(b); b.release()`:
 *
 *   $bbf ──> record 71 {path g|node}     node: PooledByteBufAllocator.directBuffer   (root)
 *                          │                     └─ A.f            step: one 8-byte store into path
 *                          └────────────────────>    └─ A.g        close: CAS on life, charge here
 *                                                       └─ PooledUnsafeDirectByteBuf.release [n]
 *
 * Invariants: design.md: memory safety; the numbers in each comment below are its points. Nothing
 * here knows the JVM. Fields marked "agent" are the agent thread's alone.
 *
 * Threads: stated at each function. Units: bytes, seconds since start, counts of lives.
 */
#ifndef BBF_TRIE_TRACKER_H
#define BBF_TRIE_TRACKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/layout.h"
#include "snapshot/snapshot.h"
#include "trie/space.h"
#include "trie/tomb.h"

/* One life, 64 B, one cache line; words as in core/layout.h. */
struct bbf_record {
    _Atomic uint64_t path, life, run, jweak, refs, size, parent;
    /* While the life is open: seconds at its opening; who opened it (REC_BATCH). */
    _Atomic uint32_t next, batch;
};

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
    _Atomic uint64_t owner; /* Thread.tid, 0 = nobody */
    _Atomic uint32_t head, count;
    _Atomic uint64_t tally[BBF_L_TALLIES];
    _Atomic uint64_t run[BBF_L_RUN_SLOTS];
    _Atomic uint32_t next_ended, use;
    _Atomic uint64_t suspect;
    _Atomic uint64_t random;
    char pad[BBF_L_STRIPE_ENDED - BBF_L_STRIPE_RANDOM - 8];
    struct {
        _Atomic uint64_t handle, where; /* node:32 | tid:32 */
    } ended[BBF_L_ENDED_SLOTS];
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
_Static_assert(offsetof(struct bbf_stripe, ended) == BBF_L_STRIPE_ENDED, "layout");
_Static_assert(offsetof(struct bbf_stripe, random) == BBF_L_STRIPE_RANDOM, "layout");
_Static_assert(offsetof(struct bbf_record, next) == BBF_L_REC_NEXT, "layout");

enum { BBF_LIFETIMES = 32 };

/* A place in code. Never changes once interned. */
struct bbf_site {
    char *class_name; /* dotted */
    char *method;
    char *descriptor;
    enum bbf_site_kind kind;
    enum bbf_memory memory; /* roots */
    bool harmless;          /* roots: an unreleased buffer costs nothing (design.md: verdicts) */
    /* roots: lives released by how long they were open, 1, 2-3, 4-7 … s; NULL without memory */
    _Atomic uint32_t *lifetimes;
    struct bbf_site *chain;
    uint32_t id;
};

struct bbf_limits {
    uint64_t max_nodes, max_depth, max_children, max_lives, max_elements, max_sites, memory;
    uint64_t age; /* seconds after which an open life is aged, at most; 0 = none ever is */
};

/* Beside each record, made writable together with it. The agent's but for `owner`. */
struct bbf_after {
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

_Static_assert(sizeof(struct bbf_after) == BBF_L_AFTER_SIZE, "layout");
_Static_assert(offsetof(struct bbf_after, owner) == BBF_L_AFTER_OWNER, "layout");

/* Lives of one pool and memory that Netty still counts: open, or collected unreleased. */
struct bbf_owned {
    uint64_t lives, bytes;
    uint64_t rounded; /* pooled: bytes, each life's rounded up to its size class */
};

/* By enum bbf_pool and enum bbf_memory, direct and heap. */
struct bbf_owned_table {
    struct bbf_owned at[BBF_POOLS][2];
};

/* Of 65,535 sites the rest are kept for roots, derived buffers and releases: without those a life
 * is missed as a whole. */
enum { BBF_MAX_STEP_SITES = 64000 };

enum { BBF_SITE_BUCKETS = 16384, BBF_MAX_CLASSES = 4096 };

/*
 * Memory beside nodes and records that `memory` covers, in bytes:
 *   REPORT    what a report takes of each row while it is made and rendered (trie/capture.c,
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

struct bbf_tracker {
    struct bbf_budget budget;
    struct bbf_space map; /* open lives by identity hash: trie/map.h */
    struct bbf_space records, after, nodes, ended, overflow, tombs;
    /* Root nodes by sampling rate and site id, and those that the shim's short way may take: of the
     * rate 0, while nothing but the site decides whether a life is followed; else NONE. */
    _Atomic uint32_t *rate_roots, *roots;
    _Atomic uint32_t rates[BBF_L_RATES]; /* one life in so many; of index 0 all */
    struct bbf_stripe *stripes;
    char *shared;               /* the page of SHARED_ offsets */
    uint32_t arenas;            /* how many id ranges were reserved */
    _Atomic uint32_t next_node; /* id of the next node; its high part is the arena in force */
    _Atomic uint64_t window;    /* arena:32 | MiB of nodes that are writable:32 */
    _Atomic bool overflow_open[BBF_ARENAS]; /* by arena: its table is writable, and charged */
    _Atomic uint32_t spare_node;            /* one node that lost the race to be published */
    _Atomic uint32_t next_record;
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

    /* agent */
    struct bbf_owned_table lost;    /* collected unreleased since the start; no reset changes it */
    uint32_t n_tombs;               /* numbered from 1 */
    uint32_t first_dead, last_dead; /* list of this scan, by record */
    bool dead_composites;           /* there are some on it */
    _Atomic bool reserve_lent;      /* a report that is not freed yet has what is kept free */
    struct bbf_sums *baseline;      /* what a reset subtracts; NULL = nothing */
    uint64_t forgotten[BBF_ENDS];   /* lives of the tombs that resets cleared, by end */
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
static inline _Atomic uint64_t *bbf_ended_at(const struct bbf_tracker *t, uint32_t id)
{
    return (_Atomic uint64_t *)(void *)t->ended.base + id;
}
static inline struct bbf_after *bbf_after_at(const struct bbf_tracker *t, uint32_t record)
{
    return (struct bbf_after *)(void *)t->after.base + record;
}
static inline struct bbf_tomb *bbf_tomb_at(const struct bbf_tracker *t, uint32_t number)
{
    return (struct bbf_tomb *)(void *)t->tombs.base + number;
}
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
/* What is lost with a buffer whose word `refs` is this. */
static inline uint8_t bbf_refs_lost(const struct bbf_tracker *t, uint64_t refs)
{
    return atomic_load_explicit(&t->lost_of[refs >> BBF_L_CLASS_SHIFT & BBF_L_CLASS_MASK],
                                memory_order_relaxed);
}
/* What the tombs that lie in so much of their space have reserved for reports; by whole steps. */
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

/* 1 once a thread wanted that stripe; it is stored before the CAS that makes the thread its owner,
 * so who comes after what the owner did finds it. A stripe without is not read: the pages of all of
 * them are 2 MiB, and to read each first took more than a millisecond at a JVM's exit. */
static inline _Atomic uint8_t *bbf_stripe_mark(const struct bbf_tracker *t, uint64_t stripe)
{
    return (_Atomic uint8_t *)(void *)(t->shared + BBF_L_SHARED_USED + stripe);
}
static inline bool bbf_stripe_is_used(const struct bbf_tracker *t, uint64_t stripe)
{
    /* Relaxed: all counters are exact at rest only. */
    return atomic_load_explicit(bbf_stripe_mark(t, stripe), memory_order_relaxed) != 0;
}

/* ---- life cycle ---- */

/* Reserve everything. Never freed: see design.md: address space. BBF_ENOMEM. */
int bbf_tracker_create(struct bbf_tracker **out, const struct bbf_limits *limits);
/* New limits of a running tracker; a lower one only stops growth. Agent thread. */
void bbf_tracker_limit(struct bbf_tracker *t, const struct bbf_limits *limits);

/* trackDirectOnly: lives opened from now on; open ones go on (design.md: verdicts). Agent thread.
 */
void bbf_tracker_direct_only(struct bbf_tracker *t, bool on);

/*
 * sample=N: of the lives opened from now on one in N is followed, each drawn by itself; open ones
 * go on. Each rate has roots of its own, so that a report knows what the lives below them stand
 * for. Agent thread. BBF_ELIMIT: there were 15 other rates already; nothing is changed.
 */
int bbf_tracker_sample(struct bbf_tracker *t, uint32_t n);
/* Has bbf_tracker_sample() room for that rate? Once asked it has until another is set. */
bool bbf_tracker_can_sample(const struct bbf_tracker *t, uint32_t n);
/* Was a rate but 1 ever set? Then buffers were passed over. Any thread. */
static inline bool bbf_tracker_sampled(const struct bbf_tracker *t)
{
    return atomic_load_explicit(&t->rates[1], memory_order_relaxed) != 0;
}
/* What a life that stands at the node stands for: the N of its root's rate. */
static inline uint32_t bbf_node_weight(const struct bbf_tracker *t, uint32_t node)
{
    uint32_t flags = atomic_load_explicit(&((struct bbf_node *)(void *)t->nodes.base + node)->flags,
                                          memory_order_relaxed);
    return atomic_load_explicit(&t->rates[flags >> BBF_L_FLAG_RATE_SHIFT & BBF_L_FLAG_RATE],
                                memory_order_relaxed);
}

/* Count an internal fault: shown as internal_errors; too many turn tracking off (design.md:
 * errors). Any thread.
 */
void bbf_tracker_fault(struct bbf_tracker *t);

/* Huge pages for many nodes and records (docs/adr/0033), a few more with each call; what an
 * application's thread would wait for is done here. Agent thread. */
void bbf_tracker_collapse(struct bbf_tracker *t);

/* Open no more lives, for good; open ones go on. Any thread. */
void bbf_tracker_off(struct bbf_tracker *t);

/* Between pause and resume no life is opened and no buffer is marked: the hooks are coming (attach)
 * or going (stop), and a life whose release nobody sees would be a false leak. Agent thread; either
 * may be called twice. */
void bbf_tracker_pause(struct bbf_tracker *t);
void bbf_tracker_resume(struct bbf_tracker *t);

/* ---- sites and classes (trie/site.c); any thread, a mutex, never in a step ---- */

/* The site's number, 1..65535, or 0 at the limit (counted) or without memory. `max_sites` is of
 * steps; what begins, derives and ends lives has numbers of its own. Names are copied; `class_name`
 * may be internal or dotted and is kept dotted. */
uint32_t bbf_site_intern(struct bbf_tracker *t, const struct bbf_site *like);
/* NULL for a number never given. Any thread, lock-free. */
const struct bbf_site *bbf_site_get(const struct bbf_tracker *t, uint32_t id);
/* The number under which buffers of a concrete class are charged when released; 0 = limit. */
uint32_t bbf_class_intern(struct bbf_tracker *t, const char *name);
/* The same for objects that another method than release() ends; the first name given stays. */
uint32_t bbf_class_intern_as(struct bbf_tracker *t, const char *name, const char *end);

/* What is lost when a buffer of class number `class_id` is never released. Any thread. */
void bbf_class_lost(struct bbf_tracker *t, uint32_t class_id, enum bbf_lost lost);

/* ---- nodes (trie/node.c); any thread, lock-free, each call one epoch section ---- */

/* Where `key` leads from `node`, added if absent. At a limit `node` itself, counted; ?before-reset
 * if `node` belongs to an arena that was reset. */
uint32_t bbf_node_child(struct bbf_tracker *t, uint32_t node, uint32_t key);
/* The root node of a site of that sampling rate (its index), 0 at the limit. */
uint32_t bbf_node_rate_root(struct bbf_tracker *t, uint32_t site, uint32_t rate);
static inline uint32_t bbf_node_root(struct bbf_tracker *t, uint32_t site)
{
    return bbf_node_rate_root(t, site, 0);
}
/* May the shim's short way take the site's root now? */
bool bbf_node_is_fast(const struct bbf_tracker *t, uint32_t site);
/* The twin of `node` under the same parent whose refCnt bucket is `bucket` (0-3). */
uint32_t bbf_node_bucket(struct bbf_tracker *t, uint32_t node, uint32_t bucket);
/* `count` lives of class number `class_id` were released at `node`. */
void bbf_node_released(struct bbf_tracker *t, uint32_t node, uint32_t class_id, uint64_t count);
/* A life ended at `node` as `unknown`. */
void bbf_node_unknown(struct bbf_tracker *t, uint32_t node);
/* The node of an old handle's position, for charging: itself, ?before-reset or ?raced. */
uint32_t bbf_node_charged(const struct bbf_tracker *t, uint64_t path, uint32_t generation);
/* Numbers come from `arena` from now on, if they did not already: a reset, or a thread that finds
 * one half done, so that nobody waits for the agent. */
void bbf_node_begin_arena(struct bbf_tracker *t, uint32_t arena);
/* One step more that is not made: `dropped_steps`. The shim counts those that it answers itself. */
void bbf_node_drop_step(struct bbf_tracker *t);
/* Read only: the child for `key`, or 0. */
uint32_t bbf_node_find(const struct bbf_tracker *t, uint32_t node, uint32_t key);

/* ---- records (trie/lives.c) ---- */

/* 64 fresh records, linked; the first one's number, 0 at a limit. Any thread, lock-free. */
uint32_t bbf_record_bump(struct bbf_tracker *t);
/* Take one record from the shared stack or fresh; 0 at a limit. Any thread, lock-free. */
uint32_t bbf_record_pop(struct bbf_tracker *t);
/* Give a chain of records (linked by next) to the shared stack. Any thread, lock-free. */
void bbf_record_push(struct bbf_tracker *t, uint32_t head);
/* A carrier thread ended: charge what its stripe holds, give its records back, free the stripe.
 * False: it had none, so it opened and released nothing. */
bool bbf_stripe_retire(struct bbf_tracker *t, uint64_t tid);

/* In a record's jweak in the place of a handle. NO_WEAK: none could be had; the life is followed
 * without garbage detection. STILL_STRONG: the slot could not be emptied; again at the next scan.
 */
enum { BBF_NO_WEAK = 1, BBF_STILL_STRONG = 2 };

/* The JVM as the scan sees it. All calls come from the agent thread. */
struct bbf_heap {
    void *ctx;
    /* Make a weak reference to the object in strong slot `record`: its handle, 0 if none could be
     * had; *empty is set if the slot held nothing (a bug, counted). */
    uint64_t (*weaken)(void *ctx, uint32_t record, bool *empty);
    bool (*clear)(void *ctx, uint32_t record); /* empty the slot; false: it is as it was */
    /* Put a java.lang.ref.WeakReference in the place of the object in the slot, which the map finds
     * its lives by; false: the slot is as it was. */
    bool (*soften)(void *ctx, uint32_t record);
    bool (*collected)(void *ctx, uint64_t weak);
    void (*forget)(void *ctx, uint64_t weak);
};

/* Convert the slots of open lives, find what was collected, free what is free (design.md: convert
 * and collect). Agent. */
void bbf_lives_scan(struct bbf_tracker *t, const struct bbf_heap *heap);
/* Empty every slot, for good: nobody will scan again (the agent thread dies). What is open can
 * still be released; what is dropped is collected by the JVM and stays `live` here. Agent. */
void bbf_lives_abandon(struct bbf_tracker *t, const struct bbf_heap *heap);
/* Mark every open life: it ends only as `unknown` from now on (design.md: stop). Agent. */
void bbf_lives_mark_stopped(struct bbf_tracker *t);
/* A life that was released: where it stood and the low half of the tid that released it. False: it
 * ended otherwise, or so long ago that nothing is known of it. `*tid` 0: not known. Any thread,
 * lock-free: a look at the last ENDED_SLOTS ends of every thread. */
bool bbf_life_ended(const struct bbf_tracker *t, uint64_t handle, uint32_t *node, uint32_t *tid);
/* Lives not followed to an end yet: what tests at rest compare with. Any thread, no snapshot. */
uint64_t bbf_lives_open(const struct bbf_tracker *t);

/* ---- what Netty's own numbers have to agree with (trie/owned.c) ---- */

/* Buffers of class number `class_id` are of that pool. Any thread. */
void bbf_owned_class(struct bbf_tracker *t, uint32_t class_id, enum bbf_pool pool);
/* A life with these words `refs` and bytes was collected unreleased, whatever its verdict. Agent.
 */
void bbf_owned_lost(struct bbf_tracker *t, uint64_t refs, uint32_t bytes);
/* Open now, or lost since the start. The application goes on meanwhile. Agent. */
void bbf_owned_sum(const struct bbf_tracker *t, struct bbf_owned_table *out);
/* The first open life from record `from` on that is of a pool and has a weak reference, 0 = none
 * left: *weak is its handle, good until the next scan. Agent. */
uint32_t bbf_owned_next(const struct bbf_tracker *t, uint32_t from, uint64_t *weak);

/* ---- reset (trie/reset.c), agent ---- */

/* Counters start at zero again; nodes and open lives stay. BBF_ENOMEM, BBF_ELIMIT (`memory` has no
 * room for 12 B a node; what was remembered before stays). */
int bbf_tracker_baseline(struct bbf_tracker *t);
/* Also begin with an empty trie (design.md: reset). BBF_EREFUSED: no id range is left. */
int bbf_tracker_reset_nodes(struct bbf_tracker *t);

/* ---- capture (trie/capture.c), agent ---- */

/* The `live` total that a capture would have now; *estimated: sampled lives are among it. */
uint64_t bbf_tracker_live(const struct bbf_tracker *t, bool *estimated);

/* Fill sites, nodes, leaks, limits and the totals the tracker knows; bbf_snapshot_finish() done.
 * What its rows need is charged to `memory` until the snapshot is freed; rows that have no room
 * become part of their parents', the least used first, leaks last (folded_rows). BBF_ENOMEM. The
 * application goes on meanwhile. */
int bbf_tracker_capture(struct bbf_tracker *t, struct bbf_snapshot *snapshot);

#endif
