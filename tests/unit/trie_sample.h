/*
 * tests/unit/trie_sample.h - a tracker of a test's own, and short words for what tests do with it.
 *
 * The product never unmaps a tracker (design.md: address space); a test may, once no thread is left
 * that could step in it: address space is not endless under the sanitizers.
 */
#ifndef BBF_TESTS_UNIT_TRIE_SAMPLE_H
#define BBF_TESTS_UNIT_TRIE_SAMPLE_H

#include "core/err.h"
#include "snapshot/snapshot.h"
#include "trie/sums.h"
#include "trie/model.h"
#include "trie/scopes.h"
#include "trie/trie.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

static inline struct bbf_limits sample_limits(void)
{
    return (struct bbf_limits){.max_nodes = 1000000,
                               .max_depth = 100,
                               .max_children = 1000,
                               .max_lives = 1000000,
                               .max_sites = 64000,
                               .max_facts = 1000000,
                               .memory = 256u << 20,
                               .age = 600};
}

static inline struct bbf_tracker *sample_tracker(struct bbf_limits limits)
{
    struct bbf_tracker *t;
    assert_int_equal(bbf_tracker_create(&t, &limits), BBF_OK);
    return t;
}

static inline struct bbf_tracker *sample_default(void)
{
    return sample_tracker(sample_limits());
}

static inline void sample_free(struct bbf_tracker *t)
{
    for (uint32_t id = 1; id < BBF_L_MAX_SITES; id++) {
        struct bbf_site *site = t->sites[id];
        if (site == NULL)
            continue;
        free(site->class_name);
        free(site->method);
        free(site->descriptor);
        free(site->lifetimes);
        free(site);
    }
    for (uint32_t i = 0; i < t->n_classes; i++)
        free(t->classes[i]);
    for (uint32_t i = 0; i < BBF_FACT_BUCKETS; i++)
        for (struct bbf_fact_class *c = t->facts.buckets[i], *later; c != NULL; c = later) {
            later = c->next;
            free(c);
        }
    bbf_sums_free(t, t->baseline);
    bbf_growth_clear(t);
    bbf_context_clear(t);
    for (uint32_t i = 1; i <= t->contexts.n_names; i++)
        free(t->contexts.names[i]);
    if (t->contexts.space.base != NULL)
        munmap(t->contexts.space.base, t->contexts.space.size);
    bbf_scopes_clear(t);
    for (int i = 0; i < BBF_SCOPE_MARKS; i++)
        free(t->scopes.marks[i]);
    if (t->scopes.space.base != NULL)
        munmap(t->scopes.space.base, t->scopes.space.size);
    pthread_mutex_destroy(&t->scopes.lock);
    pthread_mutex_destroy(&t->contexts.lock);
    pthread_mutex_destroy(&t->facts.lock);
    pthread_mutex_destroy(&t->site_lock);
    munmap(t->records.base, t->records.size);
    munmap(t->extras.base, t->extras.size);
    munmap(t->tombs.base, t->tombs.size);
    munmap(t->nodes.base, t->nodes.size);
    munmap(t->released_counts.base, t->released_counts.size);
    munmap(t->overflow.base, t->overflow.size);
    munmap(t->rate_roots, (size_t)BBF_L_RATES * BBF_L_MAX_SITES * sizeof *t->rate_roots);
    munmap(t->roots, BBF_L_MAX_SITES * sizeof *t->roots);
    munmap(t->stripes, (size_t)BBF_L_STRIPES << BBF_L_STRIPE_SHIFT);
    munmap(t->shared, 4096);
    munmap(t, sizeof *t);
}

/* Site "test.Sample.NAME". */
static inline uint32_t sample_site(struct bbf_tracker *t, enum bbf_site_kind kind, const char *name)
{
    struct bbf_site like = {.class_name = (char *)"test/Sample",
                            .method = (char *)(uintptr_t)name,
                            .descriptor = (char *)"",
                            .kind = kind,
                            .memory = BBF_MEM_DIRECT};
    uint32_t id = bbf_site_intern(t, &like);
    assert_int_not_equal(id, 0);
    return id;
}

/* The i-th of many sites. */
static inline uint32_t sample_step(struct bbf_tracker *t, unsigned i)
{
    char name[32];
    snprintf(name, sizeof name, "step%u", i);
    return sample_site(t, BBF_SITE_ENTER, name);
}

static inline uint32_t sample_root(struct bbf_tracker *t)
{
    uint32_t root = bbf_node_root(t, sample_site(t, BBF_SITE_ROOT, "directBuffer"));
    assert_true(root > BBF_L_NODE_BEFORE_RESET);
    return root;
}

static inline uint32_t sample_flags(const struct bbf_tracker *t, uint32_t node)
{
    return atomic_load(&bbf_node_at(t, node)->flags);
}

static inline uint32_t sample_bucket(const struct bbf_tracker *t, uint32_t node)
{
    return sample_flags(t, node) >> BBF_L_FLAG_BUCKET_SHIFT & 3;
}

/* Ids handed out so far. */
static inline uint32_t sample_made(const struct bbf_tracker *t)
{
    return atomic_load(&((struct bbf_tracker *)(uintptr_t)t)->next_node) &
           ((1u << BBF_L_ARENA_SHIFT) - 1);
}

static inline struct bbf_snapshot *sample_capture(struct bbf_tracker *t)
{
    struct bbf_snapshot *s = bbf_snapshot_new();
    assert_non_null(s);
    assert_int_equal(bbf_tracker_capture(t, s), BBF_OK);
    return s;
}

/* The row of a node id; NULL: no life reached it. */
static inline const struct bbf_snap_node *sample_row(const struct bbf_snapshot *s, uint32_t node)
{
    for (size_t i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].id == node)
            return &s->nodes[i];
    return NULL;
}

#endif
