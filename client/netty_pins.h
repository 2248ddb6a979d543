/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/netty_pins.h - direct chunks that few buffers keep: the memory of a chunk is given back
 * when its last buffer is freed.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_NETTY_PINS_H
#define BBF_CLIENT_NETTY_PINS_H

#include "client/netty_state.h"
#include "snapshot/snapshot.h"

enum {
    BBF_NETTY_PINS_SHOWN = 5,
    BBF_NETTY_PINNED_PERCENT = 10 /* a chunk with less in use is pinned */
};

/* Add notes to the snapshot, whose sites and nodes are filled: bytes reserved and used of the
 * chunks that are open, and the chunks that are pinned, with the paths of their buffers.
 * BBF_ENOMEM. */
int bbf_netty_note_pins(struct bbf_snapshot *to, const struct bbf_netty_state *state);

#endif
