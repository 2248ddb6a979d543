/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/facts.h"

#include <stdlib.h>
#include <string.h>

#include "trie/fault.h"
#include "trie/model.h"

static size_t bytes_of(const struct bbf_fact_class *c)
{
    return sizeof *c + c->len + c->names_len;
}

static void discard(struct bbf_tracker *t, struct bbf_fact_class *c)
{
    bbf_budget_uncharge(&t->budget, bytes_of(c));
    free(c);
}

/* Replaced records are freed when no report has a pointer to them. */
static void retire(struct bbf_tracker *t, struct bbf_fact_class *c)
{
    t->facts.used -= c->n_facts;
    t->facts.n_classes--;
    if (t->facts.readers == 0) {
        discard(t, c);
        return;
    }
    c->next = t->facts.replaced;
    t->facts.replaced = c;
}

static void replace(struct bbf_tracker *t, struct bbf_fact_class *c)
{
    struct bbf_fact_class **at = &t->facts.buckets[c->key % BBF_FACT_BUCKETS];

    for (struct bbf_fact_class **p = at; *p != NULL; p = &(*p)->next)
        if ((*p)->key == c->key) {
            struct bbf_fact_class *old = *p;

            *p = old->next;
            retire(t, old);
            break;
        }
    c->next = *at;
    *at = c;
    t->facts.used += c->n_facts;
    t->facts.n_classes++;
}

static struct bbf_fact_class *class_new(struct bbf_tracker *t, const struct bbf_fact_block *block)
{
    struct bbf_fact_class *c;
    size_t size = sizeof *c + block->len + block->names_len;

    if (!bbf_budget_charge(&t->budget, size))
        return NULL;
    c = malloc(size);
    if (c == NULL) {
        bbf_budget_uncharge(&t->budget, size);
        bbf_tracker_fault(t);
        return NULL;
    }
    c->len = (uint32_t)block->len;
    c->names_len = (uint32_t)block->names_len;
    memcpy(c->records, block->records, block->len);
    if (block->names_len > 0)
        memcpy((char *)c->records + block->len, block->names, block->names_len);
    return c;
}

void bbf_facts_put(struct bbf_tracker *t, const char *class_name, size_t class_len,
                   const char *super_name, size_t super_len, const struct bbf_fact_block *block)
{
    const uint32_t n_facts = block->n_facts;
    struct bbf_fact_class *c = NULL;

    pthread_mutex_lock(&t->facts.lock);
    bool room = n_facts <= t->facts.limit && t->facts.used <= t->facts.limit - n_facts;
    pthread_mutex_unlock(&t->facts.lock);
    if (room && block->len <= UINT32_MAX && block->names_len <= UINT16_MAX)
        c = class_new(t, block);
    pthread_mutex_lock(&t->facts.lock);
    if (c != NULL) {
        c->key = bbf_fact_class_key(class_name, class_len);
        c->super = bbf_fact_class_key(super_name, super_len);
        c->n_facts = n_facts;
        replace(t, c);
    } else if (t->facts.limit != 0) { /* 0: they are not wanted */
        t->facts.dropped++;
    }
    pthread_mutex_unlock(&t->facts.lock);
}

size_t bbf__facts_hold(struct bbf_tracker *t, const struct bbf_fact_class ***out)
{
    size_t n = 0;

    pthread_mutex_lock(&t->facts.lock);
    *out = t->facts.n_classes > 0 ? calloc(t->facts.n_classes, sizeof **out) : NULL;
    for (size_t i = 0; *out != NULL && i < BBF_FACT_BUCKETS; i++)
        for (const struct bbf_fact_class *c = t->facts.buckets[i]; c != NULL; c = c->next)
            (*out)[n++] = c;
    t->facts.readers += *out != NULL;
    pthread_mutex_unlock(&t->facts.lock);
    return n;
}

void bbf__facts_let_go(struct bbf_tracker *t, const struct bbf_fact_class **held)
{
    struct bbf_fact_class *old = NULL, *next;

    if (held == NULL)
        return;
    pthread_mutex_lock(&t->facts.lock);
    if (--t->facts.readers == 0) {
        old = t->facts.replaced;
        t->facts.replaced = NULL;
    }
    pthread_mutex_unlock(&t->facts.lock);
    free(held);
    for (; old != NULL; old = next) {
        next = old->next;
        discard(t, old);
    }
}

void bbf_facts_usage(struct bbf_tracker *t, struct bbf_facts_usage *out)
{
    pthread_mutex_lock(&t->facts.lock);
    *out = (struct bbf_facts_usage){t->facts.used, t->facts.limit, t->facts.dropped};
    pthread_mutex_unlock(&t->facts.lock);
}
