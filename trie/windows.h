/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/windows.h - lives followed by windows of time (docs/adr/0054): the gate of the hooks, and
 * the lives that outlive their window.
 *
 * Invariants (tests/model, windows=N):
 *  1. A path lacks no step without saying so. Before the gate shuts, each open life is moved to a
 *     gap, a node that no step leaves, and then marked LATER.
 *  2. A step that was under way may be stored over the gap. A life with LATER whose node can be
 * left is therefore charged at ?raced.
 *  3. Who opens a life looks at the gate afterwards, and freezes it if the walk may have missed it.
 *  4. The ends are seen whether the gate is shut or not: what a root hook opened is never lost.
 *
 * Threads: any, unless a function says otherwise. Lock-free.
 */
#ifndef BBF_TRIE_WINDOWS_H
#define BBF_TRIE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

struct bbf_tracker;

/* Before the shim's classes are defined: lives are followed by windows for as long as the process
 * lives. The gate is shut until bbf_windows_open(). seldom: hooks are made for a gate that is shut
 * for most of the time; with it open they cost more. */
void bbf_windows_use(struct bbf_tracker *t, bool seldom);
bool bbf_windows_are_used(const struct bbf_tracker *t);

/* Before the shim's classes are defined, as of bbf_windows_use(): where windows are seldom, only a
 * ByteBuf with the hidden field is followed from here on, so that hooks may look at it alone
 * (docs/adr/0075). Without effect where they are not. */
void bbf_windows_rely_on_fields(struct bbf_tracker *t);
bool bbf_windows_are_by_field(const struct bbf_tracker *t);

/* The gate. One thread at a time; open, then no more roots for the time of grace, then shut. */
void bbf_windows_open(struct bbf_tracker *t);
void bbf_windows_refuse_roots(struct bbf_tracker *t);
/* Freezes what is open, then shuts. Returns the number of lives that were frozen. */
uint64_t bbf_windows_shut(struct bbf_tracker *t);

/* While on, root hooks count their calls, whether the gate is open or shut. */
void bbf_windows_count(struct bbf_tracker *t, bool on);
/* The calls that were counted since the start: a counter for each thread, exact at rest only. */
uint64_t bbf_windows_roots(const struct bbf_tracker *t);

/* Freeze the life of a record, if one is open. True if it was not frozen before. */
bool bbf_windows_freeze(struct bbf_tracker *t, uint32_t record);

/* The node to charge a life at, whose word was `life` before its position was read: `node` itself,
 * or ?raced where a step was stored over the gap. */
uint32_t bbf_windows_charged(const struct bbf_tracker *t, uint64_t life, uint32_t node);

#endif
