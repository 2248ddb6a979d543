/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/scopes.h - scopes=on: in which scope (a test, or a class of tests) each life was opened, and
 * what each scope lost.
 *
 *     record 71 {g}      scope 71 {g | number}, {g | the test that ran alone then}
 *                          │  java-shim: BBFlowScopes writes    trie/scopes.c adds it up when a
 *                          └─ once, as the life is opened       scan finds life g lost
 *
 * Numbers begin with 1; 0 is the scope of what cannot be said of any. The words of a record are
 * written by the thread that opened the life, before another thread has the buffer, except for a
 * first sight: two threads may have that at once, and the words are then one of theirs each. Each
 * word carries the generation, so that one of an older life is known as such.
 *
 * Marks: a channel or a task is known by a key of 64 bits that the shim makes of identity hashes
 * (for a channel, also of its id). A word of the table is tag:40 | number:24, written as a whole,
 * in one of 8 places that the rest of the key chooses. A key that is marked again with another
 * number has the number AMBIGUOUS from then on: whatever two objects have the same key, none is
 * given the other's scope. Where all 8 places are taken the oldest goes, and that is counted: what
 * is not found belongs to no scope.
 *
 * Threads: stated at each function. Memory: charged to `memory`.
 */
#ifndef BBF_TRIE_SCOPES_H
#define BBF_TRIE_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trie/scope_loss.h"

struct bbf_loss;
struct bbf_tracker;

/* Note scopes from now on, or no more; what was noted stays. False: no memory, and nothing is
 * noted. Agent thread. */
bool bbf_scopes_switch(struct bbf_tracker *t, bool on);
/* Any thread. */
bool bbf_scopes_on(const struct bbf_tracker *t);

/* Make the scope of a record writable. False: the limit `memory` is reached. Any thread. */
bool bbf_scopes_reach(struct bbf_tracker *t, uint32_t record);

/* Any thread, lock-free. */
void bbf_scopes_mark(struct bbf_tracker *t, enum bbf_scope_marks of, uint64_t key, uint32_t number);
/* Its number, 0: it has none. `take`: the mark goes. */
uint32_t bbf_scopes_marked(struct bbf_tracker *t, enum bbf_scope_marks of, uint64_t key, bool take);

/* The number of a new scope; 0: there were too many (16 million). Any thread. */
uint32_t bbf_scopes_new(struct bbf_tracker *t);

/* A life was found lost; its record is still its own. Agent thread. */
void bbf_scopes_lost(struct bbf_tracker *t, const struct bbf_loss *loss);
/* Forget the losses: a reset. Agent thread. */
void bbf_scopes_clear(struct bbf_tracker *t);

/* Lives of a scope that are open now and would be lost if they were dropped. Any thread; reads each
 * record. */
uint64_t bbf_scopes_open(const struct bbf_tracker *t, uint32_t number);

/* How many lives a scope lost so far. Any thread but hooks: takes a lock. */
uint64_t bbf_scopes_losses(struct bbf_tracker *t, uint32_t number);
/* The same by place, for `during` (UINT32_MAX: whatever ran). At most `most`; returns how many. */
size_t bbf_scopes_list(struct bbf_tracker *t, uint32_t number, uint32_t during,
                       struct bbf_scope_loss *out, size_t most);

/* Since the start. */
struct bbf_scope_counts {
    uint64_t dropped; /* lives whose scope had no room: they belong to none */
    uint64_t evicted; /* marks that gave way: what they marked belongs to no scope */
    uint64_t lost;    /* lost lives that had no room among the losses: no scope has them */
};
void bbf_scopes_counts(struct bbf_tracker *t, struct bbf_scope_counts *out);

#endif
