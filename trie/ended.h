/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/ended.h - lives that were released, for a use after that.
 *
 * Threads: any, lock-free.
 */
#ifndef BBF_TRIE_ENDED_H
#define BBF_TRIE_ENDED_H

#include <stdbool.h>
#include <stdint.h>

struct bbf_tracker;

/* The node where a released life ended, and the low half of the tid that released it. False: it
 * ended otherwise, or too long ago to be known. `*tid` 0: not known. Any thread, lock-free: a look
 * at the last ENDED_SLOTS ends of every thread. */
bool bbf_life_find_ended(const struct bbf_tracker *t, uint64_t handle, uint32_t *node,
                         uint32_t *tid);
/* The same for a life of a reused object that was released by a plain close, whose record has it: a
 * few loads. */
bool bbf_life_find_closed(const struct bbf_tracker *t, uint64_t handle, uint32_t *node,
                          uint32_t *tid);

#endif
