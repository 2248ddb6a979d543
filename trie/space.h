/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/space.h - address space for what the shim can address (design.md: address space): one
 * private anonymous PROT_READ reservation per kind, never unmapped, moved or reused for another
 * type until the process is gone. Reading anywhere inside it is safe and gives zeros; a part
 * becomes writable, in steps of 1 MiB unless its owner says otherwise, before an index inside it is
 * published, and is charged to the `memory` limit then.
 *
 * Threads: bbf_space_reach() is lock-free against itself (mprotect is idempotent). Units: bytes.
 */
#ifndef BBF_TRIE_SPACE_H
#define BBF_TRIE_SPACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What all spaces of a tracker together have made writable, and may. */
struct bbf_budget {
    _Atomic uint64_t used;
    _Atomic uint64_t limit;
    _Atomic uint64_t refused; /* how often the limit or the kernel said no */
};

struct bbf_space {
    char *base;
    size_t size; /* reserved */
    size_t step; /* what bbf_space_reach() opens at a time; may be set before its first call */
    struct bbf_budget *budget;
    _Atomic size_t writable; /* bytes from base that are writable */
    size_t collapsed;        /* how far bbf_space_collapse() came */
};

/* Charge what lies in no space; false at the limit (counted). Uncharging never fails. */
bool bbf_budget_charge(struct bbf_budget *budget, size_t bytes);
/* Charge what has to be had, limit or not: it is small, and bounded by its owner. */
void bbf_budget_take(struct bbf_budget *budget, size_t bytes);
void bbf_budget_uncharge(struct bbf_budget *budget, size_t bytes);

/* Reserve; nothing is charged. BBF_ENOMEM: the kernel refuses that much address space. */
int bbf_space_reserve(struct bbf_space *space, size_t size, struct bbf_budget *budget);

/* Make [0, upto) writable. False: limit reached or mprotect failed; nothing is lost. */
bool bbf_space_reach(struct bbf_space *space, size_t upto);

/* The same for a part in the middle, of which the caller keeps account: [from, from + len). */
bool bbf_space_open(struct bbf_space *space, size_t from, size_t len);

/*
 * Have the kernel put huge pages under what is in use, [from, upto) and writable, unless it is
 * below BBF_HUGE_FROM: whole blocks of 2 MiB, each tried once, a few a call. False: this kernel has
 * none for us (before 6.1, no memory in one piece), and need not be asked again. One thread.
 */
enum { BBF_HUGE_FROM = 8 << 20 };
bool bbf_space_collapse(struct bbf_space *space, size_t from, size_t upto);

/* Give the pages of a part back; they read as zeros and stay writable. Not uncharged where the
 * part goes on being used; `uncharge` bytes are taken off the budget. */
void bbf_space_drop(struct bbf_space *space, size_t from, size_t len, size_t uncharge);

#endif
