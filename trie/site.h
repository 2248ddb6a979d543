/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/site.h - places in code, and the concrete classes of buffers, by number. Written when a
 * class is loaded or first seen, under a mutex, never in a step; read lock-free.
 *
 * Threads: any.
 */
#ifndef BBF_TRIE_SITE_H
#define BBF_TRIE_SITE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/terms.h"

struct bbf_tracker;

enum { BBF_LIFETIMES = 32 };

/* A place in code. Never changes once interned. */
struct bbf_site {
    char *class_name; /* dotted */
    char *method;
    char *descriptor;
    enum bbf_site_kind kind;
    enum bbf_memory memory; /* roots */
    bool internal;          /* of a pool, or the like: it handles released buffers rightly */
    bool harmless;          /* roots: an unreleased buffer costs nothing (design.md: verdicts) */
    uint32_t line;          /* of the method's first instruction; 0: not known */
    /* "com.app.Owner.method": what a local or anonymous class was written in (no method: an
     * initialiser); NULL or "": the class is neither */
    char *enclosing;
    /* roots: lives released by how long they were open, 1, 2-3, 4-7 … s; NULL without memory */
    _Atomic uint32_t *lifetimes;
    struct bbf_site *chain;
    uint32_t id;
};

/* The site's number, 1..65535, or 0 at the limit (counted) or without memory. `max_sites` is of
 * steps; what begins, derives and ends lives has numbers of its own. Names are copied; `class_name`
 * may be internal or dotted and is kept dotted. */
uint32_t bbf_site_intern(struct bbf_tracker *t, const struct bbf_site *like);
/* The site of that class, method, descriptor and kind; NULL: there is none. Any thread. */
const struct bbf_site *bbf_site_find(struct bbf_tracker *t, const struct bbf_site *like);
/* NULL for a number never given. Any thread, lock-free. */
const struct bbf_site *bbf_site_get(const struct bbf_tracker *t, uint32_t id);
/* The number under which buffers of a concrete class are charged when released; 0 = limit. */
uint32_t bbf_class_intern(struct bbf_tracker *t, const char *name);
/* The same for objects that another method than release() ends; the first name given stays. */
uint32_t bbf_class_intern_as(struct bbf_tracker *t, const char *name, const char *end);

/* Set the loss if a buffer of class number `class_id` is never released. Any thread. */
void bbf_class_lost(struct bbf_tracker *t, uint32_t class_id, enum bbf_lost lost);

#endif
