/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/node.h - the nodes of the trie, by number: where a step leads, what ended where.
 *
 * Threads: any, lock-free; each call is one epoch section (trie/section.h).
 */
#ifndef BBF_TRIE_NODE_H
#define BBF_TRIE_NODE_H

#include <stdbool.h>
#include <stdint.h>

struct bbf_tracker;

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
/* The gap below `node`: a node that no step leaves, not limited by maxChildren. At another limit
 * ?raced; ?before-reset as above. */
uint32_t bbf_node_gap(struct bbf_tracker *t, uint32_t node);
/* The twin of `node` under the same parent whose refCnt bucket is `bucket` (0-3). */
uint32_t bbf_node_bucket(struct bbf_tracker *t, uint32_t node, uint32_t bucket);
/* `count` lives of class number `class_id` were released at `node`. */
void bbf_node_released(struct bbf_tracker *t, uint32_t node, uint32_t class_id, uint64_t count);
/* A life ended at `node` as `unknown`. */
void bbf_node_unknown(struct bbf_tracker *t, uint32_t node);
/* The node of an old handle's position, for charging: itself, ?before-reset or ?raced. */
uint32_t bbf_node_charged(const struct bbf_tracker *t, uint64_t path, uint32_t generation);
/* Take numbers from `arena` from now on, unless this is already so. Called by a reset, or by a
 * thread that finds one half done, so that no thread waits for the agent. */
void bbf_node_begin_arena(struct bbf_tracker *t, uint32_t arena);
/* One step more that is not made: `dropped_steps`. The shim counts those that it answers itself. */
void bbf_node_drop_step(struct bbf_tracker *t);
/* The site of the root if the path of `node` is only that, in whatever bucket; else 0. */
uint32_t bbf_node_bare_root(const struct bbf_tracker *t, uint32_t node);
/* Read only: the child for `key`, or 0. */
uint32_t bbf_node_find(const struct bbf_tracker *t, uint32_t node, uint32_t key);

#endif
