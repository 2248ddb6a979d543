/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/owned_table.h - lives by the part of Netty that accounts for them.
 */
#ifndef BBF_TRIE_OWNED_TABLE_H
#define BBF_TRIE_OWNED_TABLE_H

#include <stdint.h>

#include "core/terms.h"

/* Lives of one pool and memory that Netty still counts: open, or collected unreleased. */
struct bbf_owned {
    uint64_t lives, bytes;
    uint64_t rounded; /* pooled: bytes, each life's rounded up to its size class */
};

/* By enum bbf_pool and enum bbf_memory, direct and heap. */
struct bbf_owned_table {
    struct bbf_owned at[BBF_POOLS][2];
};

#endif
