/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/section.h - epoch sections around the slow natives (design.md: slow natives), by ck_epoch: a
 * reset waits until every thread that may still have a node id of the old arena has left its
 * section. A section never blocks, takes no lock and never calls Java.
 *
 * Threads: any; each thread gets an epoch record at its first section and returns it when it ends.
 * Progress: enter and leave are wait-free after a thread's first section.
 */
#ifndef BBF_TRIE_SECTION_H
#define BBF_TRIE_SECTION_H

#include <stdbool.h>

/* Once per process, before any section. BBF_ENOMEM. */
int bbf_section_init(void);
/* False: no memory for this thread's record; the caller must then not access the tables. */
bool bbf_section_enter(void);
void bbf_section_leave(void);
/* Wait until every section that is open at the call has been left. Must not be called inside a
 * section. */
void bbf_section_synchronize(void);

#endif
