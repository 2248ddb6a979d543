/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/space.h - address space for all that the shim can address (design.md: address space): one
 * private anonymous PROT_READ reservation per kind, never unmapped, moved or reused for another
 * type until the process ends. A read anywhere inside it is safe; unwritten parts read as zeros. A
 * part becomes writable (in steps of 1 MiB, unless its owner sets another size) before an index
 * inside it is published, and is then charged to the `memory` limit.
 *
 * Threads: bbf_space_reach() is lock-free against itself (mprotect is idempotent). Units: bytes.
 */
#ifndef BBF_TRIE_SPACE_H
#define BBF_TRIE_SPACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory that all spaces of a tracker have made writable, and the limit. */
struct bbf_budget {
    _Atomic uint64_t used;
    _Atomic uint64_t limit;
    _Atomic uint64_t refused; /* how often the limit or the kernel refused */
};

struct bbf_space {
    char *base;
    size_t size; /* reserved */
    size_t step; /* the step of bbf_space_reach(); may be set before its first call */
    struct bbf_budget *budget;
    _Atomic size_t writable; /* bytes from base that are writable */
    size_t collapsed;        /* end of the part that bbf_space_collapse() has done */
};

/* Charge memory outside the spaces. False at the limit (counted). Uncharging never fails. */
bool bbf_budget_charge(struct bbf_budget *budget, size_t bytes);
/* Charge memory that is needed in any case, without checking the limit: it is small, and its owner
 * bounds it. */
void bbf_budget_take(struct bbf_budget *budget, size_t bytes);
void bbf_budget_uncharge(struct bbf_budget *budget, size_t bytes);

/* Reserve; charges nothing. BBF_ENOMEM: the kernel refuses this much address space. */
int bbf_space_reserve(struct bbf_space *space, size_t size, struct bbf_budget *budget);

/* Make [0, upto) writable. False: limit reached or mprotect failed; nothing is lost. */
bool bbf_space_reach(struct bbf_space *space, size_t upto);

/* The same for the first `count` entries of `each` bytes. *end, which the shim reads, is then the
 * number of entries that are writable; it never falls. */
bool bbf_space_reach_entries(struct bbf_space *space, size_t each, size_t count,
                             _Atomic uint64_t *end);

/* The same for a part in the middle, [from, from + len); the caller keeps account of it. */
bool bbf_space_open(struct bbf_space *space, size_t from, size_t len);

/*
 * Have the kernel back the used part, [from, upto) as far as it is writable, with huge pages,
 * unless it is smaller than BBF_HUGE_FROM: whole blocks of 2 MiB, each tried once, a few per call.
 * False: this kernel has no huge pages for us (older than 6.1, or memory too fragmented); do not
 * call again. One thread.
 */
enum { BBF_HUGE_FROM = 8 << 20 };
bool bbf_space_collapse(struct bbf_space *space, size_t from, size_t upto);

/* Return the pages of a part to the kernel; they then read as zeros and stay writable. `uncharge`
 * bytes are taken off the budget: 0 if the part remains in use. */
void bbf_space_drop(struct bbf_space *space, size_t from, size_t len, size_t uncharge);

#endif
