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
/* The first open life from record `from` on that is of a pool and has a weak reference, 0 = none
 * left: *weak is its handle, good until the next scan. Agent. */
uint32_t bbf_owned_next(const struct bbf_tracker *t, uint32_t from, uint64_t *weak);

#endif
