/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16 };

struct bbf_jfr_block {
    struct bbf_jfr_block *next;
    size_t used, size;
    _Alignas(16) char bytes[];
};

static struct bbf_jfr_block *add_block(struct bbf_jfr_arena *arena, size_t bytes)
{
    size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    struct bbf_jfr_block *block = malloc(sizeof(*block) + room);

    if (block == NULL)
        return NULL;
    *block = (struct bbf_jfr_block){arena->blocks, 0, room};
    arena->blocks = block;
    arena->bytes += room;
    return block;
}

void *bbf_jfr_take(struct bbf_jfr_arena *arena, size_t n, size_t size)
{
    struct bbf_jfr_block *block = arena->blocks;
    size_t bytes = (n * size + 15) & ~(size_t)15;

    const bool fits = n <= SIZE_MAX / 2 / size;
    if (fits && (block == NULL || block->size - block->used < bytes))
        block = add_block(arena, bytes);
    if (!fits || block == NULL) {
        arena->failed = true;
        return NULL;
    }
    void *to = block->bytes + block->used;
    block->used += bytes;
    memset(to, 0, bytes);
    return to;
}

void bbf_jfr_arena_free(struct bbf_jfr_arena *arena)
{
    while (arena->blocks != NULL) {
        struct bbf_jfr_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
    arena->bytes = 0;
}
