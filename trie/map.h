/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/map.h - the table of map mode: open lives of buffers without the hidden field, by identity
 * hash. The application's half, and the protocol, is java-shim/boot/java/lang/BBFlowMap.java; here
 * it is opened, and an entry goes when the agent thread ends its life.
 *
 * Threads: open any, lock-free; remove the agent's.
 */
#ifndef BBF_TRIE_MAP_H
#define BBF_TRIE_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct bbf_tracker;

/* Make the table writable (charged to `memory`) and tell the shim; false at the limit: buffers
 * without the field are then counted as dropped. */
bool bbf_map_open(struct bbf_tracker *t);
bool bbf_map_is_open(const struct bbf_tracker *t); /* any thread */
/* Take the entry of a record's life out, if it has one. Before the record is given back. */
void bbf_map_remove(struct bbf_tracker *t, uint32_t record, uint32_t generation);

#endif
