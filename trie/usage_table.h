/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/usage_table.h - private to trie/: the rows of trie/usage.h.
 *
 * Threads: each word is atomic.
 */
#ifndef BBF_TRIE_USAGE_TABLE_H
#define BBF_TRIE_USAGE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { BBF_USAGE_ROWS = 4096 };

/* One cache line. Byte-seconds: bytes times seconds, of each life, summed. A life is measured or
 * one of the others: an addition takes 6 ns. */
struct bbf_usage_row {
    _Atomic uint64_t key; /* node:32 | enum bbf_memory:8; 0: free */
    _Atomic uint64_t other_lives, other_byte_seconds;
    _Atomic uint64_t measured, measured_bytes, measured_byte_seconds, unwritten_byte_seconds;
    _Atomic uint64_t not_read;
};

_Static_assert(sizeof(struct bbf_usage_row) == 64, "one cache line");

struct bbf_usage_table {
    struct bbf_usage_row rows[BBF_USAGE_ROWS];
    _Atomic uint64_t beyond; /* byte-seconds of lives for which no row was free */
};

struct bbf_usage_tables {
    struct bbf_usage_table table[2];
    _Atomic uint32_t current; /* index of the table in force */
    _Atomic uint32_t since;   /* the second of the last reset */
    bool on;                  /* agent */
};

#endif
