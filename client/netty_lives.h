/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/netty_lives.h - what is open, by its address.
 *
 * Threads: one owner.
 */
#ifndef BBF_CLIENT_NETTY_LIVES_H
#define BBF_CLIENT_NETTY_LIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer that is open, or a chunk; `address` 0: the place is free. A chunk that was given back
 * for reuse (io.netty.ReturnChunk) starts anew then: no buffer from before is in it. */
struct bbf_netty_life {
    uint64_t address, bytes;
    int64_t start_ns;
    uint32_t node; /* a chunk: 1 if it was given back */
};

enum { BBF_NETTY_BEFORE = UINT32_MAX - 1 }; /* the node of a buffer that is not reported */

/* Open addressing by address; room is 0 or a power of two. */
struct bbf_netty_lives {
    struct bbf_netty_life *places;
    size_t n, room;
};

/* NULL: there is none. */
struct bbf_netty_life *bbf_netty_life_at(const struct bbf_netty_lives *lives, uint64_t address);
/* Adds it, or replaces the one of that address. False: no memory. */
bool bbf_netty_life_put(struct bbf_netty_lives *lives, struct bbf_netty_life life);
void bbf_netty_life_remove(struct bbf_netty_lives *lives, struct bbf_netty_life *life);

#endif
