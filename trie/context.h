/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/context.h - context=on: what hooks saw of a life beside its path (its channel, the hint of
 * touch(), an exception that was caught), for the last lives that were lost at each node.
 *
 *     record 71 {g}      context 71 {g | even}  id, kinds, port, site, class, address, hint
 *                          │  java-shim: BBFlowContext writes      trie/context.c copies it when
 *                          └─ under the guard, in any thread       a scan finds life g lost
 *
 * Protocol, like a seqlock with writers that give up:
 *  1. A writer of a life of generation g takes the guard by CAS from an even version of g, or of an
 *     older generation, to an odd one of g. In the second case it clears the words of kinds, sizes
 *     and exception. It gives up, and counts that, where the version is odd, and where the
 *     generation is newer than its own: its life is over.
 *  2. It stores the words and then, with release, the next even version. No thread takes an odd
 *     guard over, so only its owner changes the words; a thread that dies there (Thread.stop) costs
 *     the record its contexts, not their truth.
 *  3. A reader loads the guard (acquire), the words (acquire, so that the next load comes after
 *     them) and the guard again: equal and even, the words are one writer's.
 *
 * Threads: the agent's, unless a function says otherwise. Memory: charged to `memory`.
 */
#ifndef BBF_TRIE_CONTEXT_H
#define BBF_TRIE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bbf_loss;
struct bbf_snapshot;
struct bbf_tracker;

/* New limits. Another `keep` forgets what is kept. */
void bbf_context_limit(struct bbf_tracker *t, uint64_t keep, uint64_t most);

/* Let hooks note contexts, or note no more; what was noted stays. False: the kernel refuses the
 * address space, and nothing is noted. */
bool bbf_context_switch(struct bbf_tracker *t, bool on);

/* Make the context of a record writable. False: the limit `memory` is reached. Any thread. */
bool bbf_context_reach(struct bbf_tracker *t, uint32_t record);

/* The number of a class's name (with dots); 0: there is no room. Takes a lock: once per class. Any
 * thread. */
uint32_t bbf_context_name(struct bbf_tracker *t, const char *name);

/* Copy the words of a life's context. False: it has none, or a thread writes it now. */
bool bbf_context_read(const struct bbf_tracker *t, uint64_t handle, uint64_t *words);

/* A life was found lost; its record is still its own. */
void bbf_context_lost(struct bbf_tracker *t, const struct bbf_loss *loss);
/* Forget all: a reset. */
void bbf_context_clear(struct bbf_tracker *t);

/* Fill snapshot->contexts; `node` is the tracker's, for bbf_tracker_capture(). captured_at_ms is
 * set. BBF_ENOMEM. */
int bbf_context_fill(struct bbf_tracker *t, struct bbf_snapshot *snapshot);

/* Since the start. */
struct bbf_context_counts {
    uint64_t dropped;      /* notes that were not taken: another thread wrote, or no memory */
    uint64_t unread;       /* channels whose id was not read */
    const char *unread_of; /* class of the id of the last of them; NULL: not known */
};
void bbf_context_counts(struct bbf_tracker *t, struct bbf_context_counts *out);

#endif
