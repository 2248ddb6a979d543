/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/netty_paths.h - stacks of a recording as a tree of paths: equal beginnings share nodes.
 *
 * Threads: one owner. Node and site numbers are indexes, and never change.
 */
#ifndef BBF_CLIENT_NETTY_PATHS_H
#define BBF_CLIENT_NETTY_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/constants.h"
#include "jfr/value.h"

#define BBF_NETTY_NO_NODE UINT32_MAX

struct bbf_netty_site {
    char *class_name, *method, *descriptor; /* owned; the class dotted */
    bool is_buffer;         /* of the package io.netty.buffer, also where it was moved to another */
    bool is_recorder;       /* of jdk.jfr */
    bool sets_address_late; /* PooledUnsafeDirectByteBuf.init */
};

/* Lives and their bytes by how they ended; `again`: their address was opened again. */
struct bbf_netty_node {
    uint32_t parent, site;
    uint64_t released, live, live_bytes, again, again_bytes, again_oldest_ns, again_ages_ns;
    uint64_t unknown;
};

struct bbf_netty_paths {
    struct bbf_netty_site *sites;
    struct bbf_netty_node *nodes;
    size_t n_sites, sites_room, n_nodes, nodes_room, max_nodes;
    struct bbf_jfr_keys by_text;  /* hash of a site's text -> site + 1, first of a chain */
    struct bbf_jfr_keys children; /* parent << 32 | site -> node + 1 */
    struct bbf_jfr_keys of_stack, of_method; /* of the chunk: keys -> node, site + 1 */
    struct bbf_jfr_keys late_stacks;         /* of the chunk: stacks with sets_address_late */
    uint32_t *stack;                         /* sites of the stack that is being read */
    size_t stack_room;
    uint64_t folded, truncated, without_stack;
};

void bbf_netty_paths_free(struct bbf_netty_paths *paths);
/* Constants of the chunk before mean nothing in the next. */
void bbf_netty_paths_next_chunk(struct bbf_netty_paths *paths);
/*
 * The node of a stack trace's path (null: of "?no-stack"); `is_late`, if the buffer had no address
 * yet when the event was recorded. BBF_NETTY_NO_NODE: no memory.
 */
uint32_t bbf_netty_path(struct bbf_netty_paths *paths, const struct bbf_jfr_chunk *chunk,
                        const struct bbf_jfr_value *trace, bool *is_late);

#endif
