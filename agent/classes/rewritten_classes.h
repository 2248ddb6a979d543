/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/rewritten_classes.h - which classes the hook changed, by name: those that a detach
 * or a narrower include= must restore. Every other class is left alone, because HotSpot compiles
 * nothing of the old version of a retransformed class: a loop that is running in it stays
 * interpreted until it ends.
 *
 * Threads: any. Classes of one name count as one, whatever their loaders; above
 * BBF_REWRITTEN_CLASSES_MOST names, or without memory, every class counts as changed.
 */
#ifndef BBF_AGENT_CLASSES_REWRITTEN_CLASSES_H
#define BBF_AGENT_CLASSES_REWRITTEN_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

/* About 100 bytes each; an application may make classes without end. */
enum { BBF_REWRITTEN_CLASSES_MOST = 65536 };

/* name: as in a class file, copied. at_load_ns: CLOCK_MONOTONIC; 0 if the class was loaded before.
 */
void bbf_rewritten_classes_add(const char *name, uint64_t at_load_ns);
/* Was a class of that name changed, and if since_ns is not 0, as it loaded and not before then? */
bool bbf_rewritten_classes_has(const char *name, uint64_t since_ns);
/* Was any class changed as it loaded, not before then? */
bool bbf_rewritten_classes_any_since(uint64_t since_ns);

#endif
