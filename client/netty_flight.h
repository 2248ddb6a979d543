/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/netty_flight.h - the flight recorder events of Netty 4.2 (io.netty.AllocateBuffer and its
 * siblings) paired into lives: what is still open at the recording's end, what was lost, and which
 * chunks few buffers keep.
 *
 * A path's root is the method of io.netty.buffer that the program called; its callers follow. A
 * life ends at the FreeBuffer of its address. A direct buffer that grows keeps its life: the
 * AllocateBuffer of the same thread that follows ReallocateBuffer is the same buffer elsewhere.
 * Where an event's address is not the buffer's (heap buffers have none; PooledByteBufAllocator with
 * Unsafe records the address of an earlier use, or 0) lives are counted by size class, and a path's
 * share that cannot be known is `unknown`.
 *
 * Threads: one. Memory: what is open, and the nodes that the limit allows.
 */
#ifndef BBF_CLIENT_NETTY_FLIGHT_H
#define BBF_CLIENT_NETTY_FLIGHT_H

#include <stdint.h>

#include "jfr/recording.h"
#include "snapshot/snapshot.h"

enum { BBF_NETTY_NODES = 100000 };

struct bbf_netty_config {
    uint64_t age_ns;           /* open for at least so long at the end: aged; 0: none is */
    int64_t from_ns, until_ns; /* since 1970: report buffers opened from then, and what is open at
                                  until_ns; 0: no limit */
    uint32_t max_nodes; /* of the paths; what has no room is part of its parent. 0: the default */
};

/*
 * Read the whole recording, which was prepared with constants. 0: *out is the caller's;
 * BBF_ENOTFOUND: it has no AllocateBuffer and no FreeBuffer event; BBF_ENOMEM. A part that cannot
 * be read ends the reading: recording->trouble says what, *out has what was before.
 */
int bbf_netty_flight(struct bbf_jfr_recording *recording, const struct bbf_netty_config *config,
                     struct bbf_snapshot **out);

#endif
