/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/scope_loss.h - the words of trie/scopes.h and of its table. Units: lives, bytes.
 */
#ifndef BBF_TRIE_SCOPE_LOSS_H
#define BBF_TRIE_SCOPE_LOSS_H

#include <stdint.h>

enum bbf_scope_marks { BBF_SCOPE_CHANNELS, BBF_SCOPE_TASKS };
enum { BBF_SCOPE_MARKS = BBF_SCOPE_TASKS + 1 };

/* What a scope lost at one place. */
struct bbf_scope_loss {
    uint32_t number, during; /* 0: several tests ran, or none */
    uint32_t node;           /* the tracker's */
    uint8_t memory, lost;
    uint64_t count, bytes;
};

#endif
