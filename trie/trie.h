/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/trie.h - the tracker's interface for agent/: opaque, with getters for its counters. Its
 * settings are in trie/switches.h; the struct is in trie/model.h, which is private to trie/.
 *
 * Threads: any unless a function says otherwise. Units: bytes, counts of lives.
 */
#ifndef BBF_TRIE_H
#define BBF_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/layout.h"
#include "trie/capture.h"
#include "trie/context.h"
#include "trie/ended.h"
#include "trie/facts.h"
#include "trie/fault.h"
#include "trie/growth.h"
#include "trie/lives.h"
#include "trie/node.h"
#include "trie/owned.h"
#include "trie/reset.h"
#include "trie/site.h"
#include "trie/switches.h"
#include "trie/tomb.h"
#include "trie/tracker.h"
#include "trie/usage.h"

/* ---- what it counts ---- */

uint64_t bbf_tracker_scans(const struct bbf_tracker *t);     /* since the start. Agent thread. */
uint64_t bbf_tracker_converted(const struct bbf_tracker *t); /* slots, since the start. Agent. */
/* Open heap lives at the last capture. Agent thread. */
uint64_t bbf_tracker_live_heap(const struct bbf_tracker *t);
uint64_t bbf_tracker_faults(const struct bbf_tracker *t);
/* How often the JVM reported that direct memory ran out. */
uint64_t bbf_tracker_exhausted(const struct bbf_tracker *t);
bool bbf_tracker_judges_age(const struct bbf_tracker *t); /* age= is not 0 */

/* With the result: the class of the last such buffer, NULL = not known. */
struct bbf_last_of {
    uint64_t count;
    const char *class_name; /* the tracker's */
};
/* Facts that the shim could not find out about some buffers since the last reset. */
struct bbf_unclear {
    struct bbf_last_of unsized; /* of unknown size */
    struct bbf_last_of hidden;  /* ended, and did not begin */
    struct bbf_last_of early;   /* their count came back before the pool had them */
};
/* Agent thread. */
void bbf_tracker_unclear(struct bbf_tracker *t, struct bbf_unclear *out);

/* ---- its parts, by number ---- */

/* The place in code where a node was made, and the node above it; both 0 for no node. */
struct bbf_place {
    uint32_t site, parent;
};
struct bbf_place bbf_node_place(const struct bbf_tracker *t, uint32_t node);
/* How many lives each life at the node represents: the N of sample= when its root was made. */
uint32_t bbf_node_sampled_by(const struct bbf_tracker *t, uint32_t node);
/* The site of releases of that class, 0 = not known. */
uint32_t bbf_class_release_site(const struct bbf_tracker *t, uint32_t class_number);
/* Tombs are numbered from 1 to this. Agent thread; so is what a tomb holds. */
uint32_t bbf_tracker_tombs(const struct bbf_tracker *t);
struct bbf_tomb *bbf_tracker_tomb(struct bbf_tracker *t, uint32_t number);
/* Thread.tid of the thread that owns the stripe, 0 = free. `stripe` < BBF_L_STRIPES. */
uint64_t bbf_stripe_owner(const struct bbf_tracker *t, uint64_t stripe);

/* ---- memory ---- */

/* Charge memory of the caller's own to the limit `memory`; false at the limit (counted). */
bool bbf_tracker_charge(struct bbf_tracker *t, size_t bytes);
/* The same for memory that is needed in any case, without checking the limit: it is small, and its
 * owner bounds it. */
void bbf_tracker_take(struct bbf_tracker *t, size_t bytes);
void bbf_tracker_uncharge(struct bbf_tracker *t, size_t bytes);

/* The bytes charged to `memory`, by purpose. */
struct bbf_tracker_memory {
    uint64_t used; /* in all */
    uint64_t nodes, lives, leaks;
};
/* Agent thread. */
void bbf_tracker_memory(const struct bbf_tracker *t, struct bbf_tracker_memory *out);

/* The addresses that the shim reads and writes, constant for the tracker's life (design.md: address
 * space). The layout there is that of core/layout.h. */
struct bbf_tracker_addresses {
    void *nodes, *overflow, *map, *extras, *roots, *rate_roots, *stripes, *shared;
    uint64_t record_mask; /* the largest record number: every index is masked with it */
};
struct bbf_tracker_addresses bbf_tracker_addresses(const struct bbf_tracker *t);

#endif
