/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/rewritten_classes.h - which classes the hook changed, by name: those that a stop,
 * or a narrower include=, has to put back. Every other one is left alone, for HotSpot compiles
 * nothing of the old version of a retransformed class: a loop that runs in one just then stays
 * interpreted until it ends.
 *
 * Threads: any. Two loaders' classes of one name are one; above BBF_REWRITTEN_CLASSES_MOST names,
 * or without memory, every class counts as changed.
 */
#ifndef BBF_AGENT_CLASSES_REWRITTEN_CLASSES_H
#define BBF_AGENT_CLASSES_REWRITTEN_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    BBF_REWRITTEN_CLASSES_MOST = 65536
}; /* some 100 bytes each; an application that makes classes for ever */

/* name: as in a class file, copied. at_load_ns: CLOCK_MONOTONIC; 0 if the class was loaded before.
 */
void bbf_rewritten_classes_add(const char *name, uint64_t at_load_ns);
/* Was a class of that name changed, and if since_ns is not 0, as it loaded and not before then? */
bool bbf_rewritten_classes_has(const char *name, uint64_t since_ns);
/* Was any class changed as it loaded, not before then? */
bool bbf_rewritten_classes_any_since(uint64_t since_ns);

#endif
