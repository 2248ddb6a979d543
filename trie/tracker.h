/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/tracker.h - the model as one object, made once. The path of a buffer through it, for `f(b);
 * g(b); b.release()`:
 *
 *   $bbf ──> record 71 {path g|node}     node: PooledByteBufAllocator.directBuffer   (root)
 *                          │                     └─ A.f            step: one 8-byte store into path
 *                          └────────────────────>    └─ A.g        close: CAS on life, charge here
 *                                                       └─ PooledUnsafeDirectByteBuf.release [n]
 *
 * Invariants: design.md: memory safety; the struct is in trie/model.h. Nothing here
 * knows the JVM.
 *
 * Threads: stated at each function.
 */
#ifndef BBF_TRIE_TRACKER_H
#define BBF_TRIE_TRACKER_H

#include "trie/switches.h"

struct bbf_tracker;

/* Reserve everything. Never freed: see design.md: address space. BBF_ENOMEM. */
int bbf_tracker_create(struct bbf_tracker **out, const struct bbf_limits *limits);

/* Huge pages for many nodes and records (docs/adr/0033), a few more with each call, so that no
 * thread of the application waits for them. Agent thread. */
void bbf_tracker_collapse(struct bbf_tracker *t);

#endif
