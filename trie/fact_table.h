/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/fact_table.h - private to trie/: the records of trie/facts.h, by class. Fields under `lock`.
 */
#ifndef BBF_TRIE_FACT_TABLE_H
#define BBF_TRIE_FACT_TABLE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "core/facts.h"

enum { BBF_FACT_BUCKETS = 1024 };

/* Never changes once it is in the table. */
struct bbf_fact_class {
    struct bbf_fact_class *next;
    uint32_t key, super; /* bbf_fact_class_key() */
    uint32_t n_facts, len, names_len;
    uint64_t records[]; /* `len` bytes, then those of the names */
};

static inline const struct bbf_fact_method *bbf_fact_first(const struct bbf_fact_class *c)
{
    return (const struct bbf_fact_method *)(const void *)c->records;
}
static inline const void *bbf_fact_end(const struct bbf_fact_class *c)
{
    return (const char *)c->records + c->len;
}

/* Of a throw: the class, then the method behind its 0. */
static inline const char *bbf_fact_name(const struct bbf_fact_class *c,
                                        const struct bbf_fact_throw *one)
{
    return (const char *)c->records + c->len + one->name;
}

struct bbf_fact_table {
    pthread_mutex_t lock;
    struct bbf_fact_class *buckets[BBF_FACT_BUCKETS];
    struct bbf_fact_class *replaced; /* freed once no report reads */
    unsigned readers;
    uint64_t used, limit,
        dropped; /* parameters, calls and throws; classes of which they were dropped */
    size_t n_classes;
};

struct bbf_tracker;

/* All classes, whose records stay until they are let go; NULL and 0: none, or no memory. */
size_t bbf__facts_hold(struct bbf_tracker *t, const struct bbf_fact_class ***out);
void bbf__facts_let_go(struct bbf_tracker *t, const struct bbf_fact_class **held);

#endif
