/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/facts.h - what the methods of followed classes do with their parameters (core/facts.h), by
 * class, and its closure over called methods for the steps of a report (ADR 44).
 *
 * Threads: any. A class's records are written as it is loaded, under a mutex that no report holds
 * for longer than a copy of pointers takes.
 */
#ifndef BBF_TRIE_FACTS_H
#define BBF_TRIE_FACTS_H

#include <stddef.h>
#include <stdint.h>

struct bbf_fact_block;
struct bbf_snapshot;
struct bbf_tracker;

/*
 * Keep a copy of a class's records; they replace those of a class of that name. At the limit
 * (maxFacts, memory) they are dropped and counted.
 */
void bbf_facts_put(struct bbf_tracker *t, const char *class_name, size_t class_len,
                   const char *super_name, size_t super_len, const struct bbf_fact_block *block);

/*
 * Give the snapshot's sites what is known of their methods: flags closed over the methods that they
 * call, which of the sites they call, and of lost buffers' sites where exceptions leave them. Agent
 * thread; the sites are there, and their ids are the tracker's. Without memory sites have no facts,
 * which is no error.
 */
void bbf_facts_fill(struct bbf_tracker *t, struct bbf_snapshot *s);

/* Parameters, calls and throws that are kept, how many may be, and of how many classes they were
 * dropped.
 */
struct bbf_facts_usage {
    uint64_t used, limit, dropped;
};
void bbf_facts_usage(struct bbf_tracker *t, struct bbf_facts_usage *out);

#endif
