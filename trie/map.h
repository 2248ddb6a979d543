/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/map.h - the table of map mode: open lives of buffers without the hidden field, by identity
 * hash. The application's half, and the protocol, is java-shim/boot/java/lang/BBFlowMap.java. This
 * half opens the table, and removes an entry when the agent thread ends its life.
 *
 * Threads: open any, lock-free; remove only the agent thread.
 */
#ifndef BBF_TRIE_MAP_H
#define BBF_TRIE_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct bbf_tracker;

/* Make the table writable (charged to `memory`) and set the flag for the shim. False at the limit:
 * buffers without the field are then counted as dropped. */
bool bbf_map_open(struct bbf_tracker *t);
bool bbf_map_is_open(const struct bbf_tracker *t); /* any thread */
/* Remove the entry of a record's life, if it has one. Call it before the record is freed. */
void bbf_map_remove(struct bbf_tracker *t, uint32_t record, uint32_t generation);

#endif
