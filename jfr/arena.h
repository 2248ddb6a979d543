/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/arena.h - memory that is freed all at once, with a chunk.
 *
 * Threads: one owner at a time.
 */
#ifndef BBF_JFR_ARENA_H
#define BBF_JFR_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct bbf_jfr_arena {
    struct bbf_jfr_block *blocks;
    size_t bytes; /* of all blocks */
    bool failed;  /* something that was asked for could not be given */
};

/* `n` times `size` bytes, all zero, aligned to 16. NULL: no memory, and `failed` is set. */
void *bbf_jfr_take(struct bbf_jfr_arena *arena, size_t n, size_t size);
/* Frees all that was taken; the arena is then empty. */
void bbf_jfr_arena_free(struct bbf_jfr_arena *arena);

#endif
