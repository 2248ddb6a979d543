/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/tombs.h - the tombs of a tracker, found by the node where the lives ended.
 *
 * Threads: only the agent thread.
 */
#ifndef BBF_TRIE_TOMBS_H
#define BBF_TRIE_TOMBS_H

#include "trie/tomb.h"

struct bbf_tracker;

/* The node's tomb of such lives; NULL: there is none. */
struct bbf_tomb *bbf_tomb_find(const struct bbf_tracker *t, const struct bbf_loss *loss);

/* Charge a life to its tomb, which is made if needed. Without memory the life is counted in the
 * node only; its bytes and all else are then unknown. */
void bbf_tomb_charge(struct bbf_tracker *t, const struct bbf_loss *loss);

#endif
