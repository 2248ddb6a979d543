/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/reset.h - counting begins anew, without or with the nodes (design.md: reset).
 *
 * Threads: the agent's.
 */
#ifndef BBF_TRIE_RESET_H
#define BBF_TRIE_RESET_H

struct bbf_tracker;

/* Counters start at zero again; nodes and open lives stay. BBF_ENOMEM, BBF_ELIMIT (`memory` has no
 * room for 12 B a node; what was remembered before stays). */
int bbf_tracker_baseline(struct bbf_tracker *t);
/* Also begin with an empty trie (design.md: reset). BBF_EREFUSED: no id range is left. */
int bbf_tracker_reset_nodes(struct bbf_tracker *t);

#endif
