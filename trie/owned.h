/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/owned.h - what Netty's own numbers have to agree with: the lives that its counters still
 * have.
 *
 * Threads: stated at each function. Units: bytes, counts of lives.
 */
#ifndef BBF_TRIE_OWNED_H
#define BBF_TRIE_OWNED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/terms.h"
#include "trie/owned_table.h"

struct bbf_tracker;

/* Buffers of class number `class_id` are of that pool. Any thread. */
void bbf_owned_class(struct bbf_tracker *t, uint32_t class_id, enum bbf_pool pool);
/* A life with these words `refs` and bytes was collected unreleased, whatever its verdict. Agent.
 */
void bbf_owned_lost(struct bbf_tracker *t, uint64_t refs, uint32_t bytes);
/* Open now, or lost since the start. The application runs concurrently. Agent. */
void bbf_owned_sum(const struct bbf_tracker *t, struct bbf_owned_table *out);

/* An open life that has a weak reference. */
struct bbf_owned_life {
    uint64_t weak; /* its handle, good until the next scan */
    uint32_t generation, node, bytes;
    enum bbf_pool pool;
    enum bbf_memory memory; /* direct or heap */
};

/* The first such life from record `from` on whose buffer is of a pool; 0: there is no other. Agent.
 */
uint32_t bbf_owned_next(const struct bbf_tracker *t, uint32_t from, struct bbf_owned_life *life);
/* Is that life of record `r` open now? Agent. */
bool bbf_owned_is_open(const struct bbf_tracker *t, uint32_t r, const struct bbf_owned_life *life);

#endif
