/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/fact_closure.h - private to trie/: the records of all classes, and their flags closed over
 * called methods. One thread; the records stay until it is freed.
 */
#ifndef BBF_TRIE_FACT_CLOSURE_H
#define BBF_TRIE_FACT_CLOSURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/facts.h"
#include "trie/fact_table.h"

struct bbf_closed_method {
    const struct bbf_fact_method *record;
    uint32_t owner; /* bbf_fact_class_key() */
    uint32_t flags; /* its origins' first in bbf_closure.flags */
    bool reached;
    bool shown; /* a step of the report is its own */
};

struct bbf_closure {
    struct bbf_tracker *tracker;
    const struct bbf_fact_class **classes; /* by key */
    size_t n_classes;
    struct bbf_closed_method *methods; /* by key, then by owner */
    size_t n_methods;
    uint8_t *flags;
    uint32_t *queue;
    size_t n_queue;
};

/* False: there are no records, or no memory; nothing is to be freed. */
bool bbf_closure_init(struct bbf_closure *c, struct bbf_tracker *t);
void bbf_closure_free(struct bbf_closure *c);

/* Close the flags of the methods `shown` (NULL: none) and of those that they reach. */
void bbf_closure_close(struct bbf_closure *c, struct bbf_closed_method *const *shown, size_t n);

struct bbf_closed_method *bbf_closure_find(const struct bbf_closure *c, uint64_t key,
                                           uint32_t owner);
enum { BBF_CLOSURE_TARGETS = 256 };
/* The methods that a call may run, as far as they have records: a run from *first. More than
 * BBF_CLOSURE_TARGETS are not looked at; the caller takes them as unknown. */
size_t bbf_closure_targets(const struct bbf_closure *c, const struct bbf_fact_call *call,
                           struct bbf_closed_method **first);
/* A call that may throw out of a method, names internal; they stay as long as the closure. */
struct bbf_closed_throw {
    uint32_t line;
    const char *class_name, *method;
};
enum { BBF_CLOSURE_THROWS = 8 };
/* Those of a method that is closed: what they leave behind is taken neither before them nor by a
 * handler, but would be otherwise. Returns how many; *more: further ones that are not known. */
size_t bbf_closure_throws(const struct bbf_closure *c, const struct bbf_closed_method *m,
                          struct bbf_closed_throw out[BBF_CLOSURE_THROWS], uint32_t *more);
/* What a method does with the buffers that it gets as parameters; 0: it gets none. */
unsigned bbf_closure_parameter(const struct bbf_closure *c, const struct bbf_closed_method *m);

#endif
