/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/after_release.h - steps of lives that were released before: which method received such a
 * buffer, and where and by which thread it had been released (ADR 48).
 *
 * A row has one key: node where the life ended, class of the buffer, site of the step. The rows are
 * in two tables of a fixed size. Hooks add to the one in force, inside an epoch section; a reset
 * publishes the other one, which is empty, waits for the sections, and empties the first.
 *
 * Invariant: a row's key is written once, by CAS from 0, before any count is added to the row.
 *
 * Threads: bbf_after_release_add() any, lock-free; the rest the agent's.
 */
#ifndef BBF_TRIE_AFTER_RELEASE_H
#define BBF_TRIE_AFTER_RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trie/after_table.h"

struct bbf_tracker;

/* A step at `site`, by thread `tid`, of the released life `handle`, whose buffer has that class
 * number. Not counted if the site is `internal`. */
void bbf_after_release_add(struct bbf_tracker *t, uint64_t handle, uint32_t site,
                           uint32_t class_number, uint64_t tid);

/* A row as it is now. */
struct bbf_after {
    uint32_t node; /* where the life was when it was released; 0: not known */
    uint32_t class_number, site;
    uint32_t released_tid, used_tid; /* of one of the steps; released_tid 0: not known */
    uint64_t count;
    bool *posted; /* the caller's, false at first */
};
/* Fill `out` with the rows that have a count; their number. */
size_t bbf_after_release_rows(struct bbf_tracker *t, struct bbf_after out[BBF_AFTER_ROWS]);
/* All steps since the last reset, also those that are in no row. */
uint64_t bbf_after_release_sum(const struct bbf_tracker *t);
/* A reset. Must not be called inside a section. */
void bbf_after_release_reset(struct bbf_tracker *t);

#endif
