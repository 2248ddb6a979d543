/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/netty_state.h - what is gathered from a recording, and reported.
 *
 * Threads: one owner.
 */
#ifndef BBF_CLIENT_NETTY_STATE_H
#define BBF_CLIENT_NETTY_STATE_H

#include "client/netty_lives.h"
#include "client/netty_paths.h"

/* Buffers without an address, of one allocator, memory, largest size and size class. */
struct bbf_netty_class {
    uint64_t opened, ended;
    uint64_t before; /* opened before from_ns, and open then */
    bool is_direct;
};

/* What of a class one path opened. */
struct bbf_netty_share {
    uint32_t class, node;
    uint64_t opened, bytes;
};

struct bbf_netty_unpaired {
    struct bbf_jfr_keys class_of; /* of what -> class + 1 */
    struct bbf_jfr_keys share_of; /* class << 32 | node -> share + 1 */
    struct bbf_netty_class *classes;
    struct bbf_netty_share *shares;
    size_t n_classes, classes_room, n_shares, shares_room;
};

/* A buffer that is about to move because it grows. */
struct bbf_netty_growth {
    uint64_t thread, address, capacity; /* address 0: none */
    bool is_known;                      /* it opened in the recording */
};

enum { BBF_NETTY_GROWING = 64 };

struct bbf_netty_state {
    struct bbf_netty_paths paths;
    struct bbf_netty_lives buffers, chunks;
    struct bbf_netty_unpaired unpaired;
    struct bbf_netty_growth growing[BBF_NETTY_GROWING];
    size_t next_growth;
    bool has_late_addresses; /* PooledByteBufAllocator's events have another use's address */
    uint64_t allocations, frees;
    uint64_t heap, late;       /* buffers without an address: these memories */
    uint64_t early;            /* freed; opened before the recording */
    uint64_t grown_early;      /* grew; opened before the recording */
    uint64_t grown_unpaired;   /* grew, without an address */
    uint64_t chunks_unplaced;  /* direct, without an address */
    uint64_t lost_bytes;       /* of events, that the JVM says it lost */
    int64_t from_ns, until_ns; /* which buffers are reported; 0: all */
    uint64_t outside;          /* events of buffers before from_ns and after until_ns */
    int64_t end_ns;
    int64_t pid;
    char *main, *version;
};

#endif
