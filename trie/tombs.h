/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/tombs.h - the tombs of a tracker, found by the node where the lives ended.
 *
 * Threads: the agent's.
 */
#ifndef BBF_TRIE_TOMBS_H
#define BBF_TRIE_TOMBS_H

#include "trie/tomb.h"

struct bbf_tracker;

/* The node's tomb of such lives, NULL = none. */
struct bbf_tomb *bbf_tomb_find(const struct bbf_tracker *t, const struct bbf_loss *loss);

/* Charge a life to its tomb, made if need be. Without memory it is counted in the node alone,
 * bytes and all else unknown. */
void bbf_tomb_charge(struct bbf_tracker *t, const struct bbf_loss *loss);

#endif
