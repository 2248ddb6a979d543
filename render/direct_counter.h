/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/direct_counter.h - which counter has Netty's direct memory.
 *
 * Threads: any; pure.
 */
#ifndef BBF_RENDER_DIRECT_COUNTER_H
#define BBF_RENDER_DIRECT_COUNTER_H

#include "snapshot/snapshot.h"

enum bbf_direct_counter {
    BBF_COUNTED_BY_NETTY, /* by Netty's own; java.nio's has other memory */
    BBF_COUNTED_BY_NIO,   /* by java.nio's; Netty's is not known, or 0 */
    BBF_COUNTED_BY_BOTH   /* both have it */
};

enum bbf_direct_counter bbf_direct_counter(const struct bbf_snapshot *snapshot);

#endif
