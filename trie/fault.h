/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/fault.h - internal faults, counted instead of reported where they happen.
 *
 * Threads: any.
 */
#ifndef BBF_TRIE_FAULT_H
#define BBF_TRIE_FAULT_H

struct bbf_tracker;

/* Count an internal fault: shown as internal_errors; too many turn tracking off (design.md:
 * errors). Any thread.
 */
void bbf_tracker_fault(struct bbf_tracker *t);

#endif
