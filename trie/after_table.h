/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/after_table.h - private to trie/: the rows of trie/after_release.h.
 *
 * Threads: each word is atomic unless it says whose it is.
 */
#ifndef BBF_TRIE_AFTER_TABLE_H
#define BBF_TRIE_AFTER_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    BBF_AFTER_ROWS = 256,
    /* Searches for the place of a release in a second, in all threads: each reads the last ends of
     * all threads, some microseconds. Beyond them the place is 0. */
    BBF_AFTER_SEARCHES = 1000
};

struct bbf_after_row {
    _Atomic uint64_t key; /* node:32 | class:16 | site:16; 0: free */
    _Atomic uint64_t count;
    _Atomic uint64_t threads; /* of one of the steps: used:32 | released:32; 0: not written yet */
    bool posted;              /* agent: it was an event */
};

struct bbf_after_table {
    struct bbf_after_row rows[BBF_AFTER_ROWS];
    _Atomic uint64_t beyond; /* steps for which no row was free */
};

struct bbf_after_tables {
    struct bbf_after_table table[2];
    _Atomic uint32_t current;  /* index of the table in force */
    _Atomic uint64_t searches; /* second:32 | searches in it:32 */
};

#endif
