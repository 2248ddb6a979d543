/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/site.c - interning of sites and of concrete buffer classes. Written when a class is loaded
 * or first seen, under a mutex; read lock-free by number.
 */
#include "trie/site.h"

#include <stdlib.h>
#include <string.h>

#include "trie/fault.h"
#include "trie/model.h"

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv; '/' counts as '.'. */
static uint32_t hash_text(uint32_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (uint8_t)(*text == '/' ? '.' : *text)) * 16777619u;
    return (hash ^ 0xff) * 16777619u;
}

static uint32_t hash_site(const struct bbf_site *s)
{
    uint32_t hash = hash_text(2166136261u, s->class_name);
    hash = hash_text(hash, s->method);
    hash = hash_text(hash, s->descriptor);
    return (hash ^ (uint32_t)s->kind) * 16777619u;
}

static bool same_class(const char *a, const char *b)
{
    for (; *a != '\0' || *b != '\0'; a++, b++)
        if ((*a == '/' ? '.' : *a) != (*b == '/' ? '.' : *b))
            return false;
    return true;
}

static char *copy_text(struct bbf_tracker *t, const char *text, bool dotted)
{
    size_t len = strlen(text) + 1;
    char *copy = malloc(len);
    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i < len; i++)
        copy[i] = dotted && text[i] == '/' ? '.' : text[i];
    atomic_fetch_add_explicit(&t->budget.used, len, memory_order_relaxed);
    return copy;
}

static bool is_step(const struct bbf_site *site)
{
    return site->kind != BBF_SITE_ROOT && site->kind != BBF_SITE_DERIVE &&
           site->kind != BBF_SITE_RELEASE;
}

/* False: no memory, and nothing is kept. */
static bool copy_site(struct bbf_tracker *t, struct bbf_site *site, const struct bbf_site *like)
{
    bool encloses = like->enclosing != NULL && like->enclosing[0] != '\0';

    *site = *like;
    site->class_name = copy_text(t, like->class_name, true);
    site->method = copy_text(t, like->method, false);
    site->descriptor = copy_text(t, like->descriptor, false);
    site->enclosing = encloses ? copy_text(t, like->enclosing, true) : NULL;
    site->lifetimes = NULL;
    if (site->class_name != NULL && site->method != NULL && site->descriptor != NULL &&
        (site->enclosing != NULL) == encloses)
        return true;
    free(site->class_name);
    free(site->method);
    free(site->descriptor);
    free(site->enclosing);
    return false;
}

static uint32_t add_site(struct bbf_tracker *t, const struct bbf_site *like, uint32_t bucket)
{
    if (t->n_sites >= BBF_L_MAX_SITES || (is_step(like) && t->n_steps >= t->max_sites)) {
        atomic_fetch_add(&t->hit_sites, 1);
        return 0;
    }
    struct bbf_site *site = malloc(sizeof *site);
    if (site == NULL) {
        bbf_tracker_fault(t);
        return 0;
    }
    if (!copy_site(t, site, like)) {
        free(site);
        bbf_tracker_fault(t);
        return 0;
    }
    atomic_fetch_add_explicit(&t->budget.used, sizeof *site, memory_order_relaxed);
    if (site->kind == BBF_SITE_ROOT) {
        const size_t bytes = BBF_LIFETIMES * sizeof *site->lifetimes;
        site->lifetimes = bbf_budget_charge(&t->budget, bytes) ? calloc(1, bytes) : NULL;
    }
    site->id = t->n_sites++;
    t->n_steps += is_step(site);
    site->chain = t->site_table[bucket];
    t->site_table[bucket] = site;
    /* Release: a thread that reads the number from a node finds the site complete. */
    atomic_store_explicit(&t->sites[site->id], site, memory_order_release);
    return site->id;
}

static struct bbf_site *find_locked(const struct bbf_tracker *t, const struct bbf_site *like,
                                    uint32_t bucket)
{
    for (struct bbf_site *s = t->site_table[bucket]; s != NULL; s = s->chain)
        if (s->kind == like->kind && strcmp(s->method, like->method) == 0 &&
            strcmp(s->descriptor, like->descriptor) == 0 &&
            same_class(s->class_name, like->class_name))
            return s;
    return NULL;
}

static uint32_t intern_locked(struct bbf_tracker *t, const struct bbf_site *like)
{
    uint32_t bucket = hash_site(like) % BBF_SITE_BUCKETS;
    const struct bbf_site *known = find_locked(t, like, bucket);
    return known != NULL ? known->id : add_site(t, like, bucket);
}

const struct bbf_site *bbf_site_find(struct bbf_tracker *t, const struct bbf_site *like)
{
    pthread_mutex_lock(&t->site_lock);
    const struct bbf_site *known = find_locked(t, like, hash_site(like) % BBF_SITE_BUCKETS);
    pthread_mutex_unlock(&t->site_lock);
    return known;
}

uint32_t bbf_site_intern(struct bbf_tracker *t, const struct bbf_site *like)
{
    pthread_mutex_lock(&t->site_lock);
    uint32_t id = intern_locked(t, like);
    pthread_mutex_unlock(&t->site_lock);
    return id;
}

const struct bbf_site *bbf_site_get(const struct bbf_tracker *t, uint32_t id)
{
    if (id >= BBF_L_MAX_SITES)
        return NULL;
    return atomic_load_explicit(&t->sites[id], memory_order_acquire);
}

void bbf_class_lost(struct bbf_tracker *t, uint32_t class_id, enum bbf_lost lost)
{
    if (class_id != 0 && class_id < BBF_MAX_CLASSES)
        atomic_store_explicit(&t->lost_of[class_id], (uint8_t)lost, memory_order_relaxed);
}

uint32_t bbf_class_intern(struct bbf_tracker *t, const char *name)
{
    return bbf_class_intern_as(t, name, "release");
}

uint32_t bbf_class_intern_as(struct bbf_tracker *t, const char *name, const char *end)
{
    uint32_t number = 0;
    pthread_mutex_lock(&t->site_lock);
    for (uint32_t i = 1; i < t->n_classes && number == 0; i++)
        if (same_class(t->classes[i], name))
            number = i;
    if (number == 0 && t->n_classes < BBF_MAX_CLASSES) {
        struct bbf_site like = {.class_name = (char *)(uintptr_t)name,
                                .method = (char *)(uintptr_t)end,
                                .descriptor = (char *)"",
                                .kind = BBF_SITE_RELEASE,
                                .memory = BBF_MEM_UNKNOWN};
        uint32_t site = intern_locked(t, &like);
        char *copy = site != 0 ? copy_text(t, name, true) : NULL;
        if (copy != NULL) {
            number = t->n_classes++;
            t->classes[number] = copy;
            atomic_store_explicit(&t->release_site[number], site, memory_order_release);
        } else if (site != 0) {
            bbf_tracker_fault(t);
        }
    }
    pthread_mutex_unlock(&t->site_lock);
    return number;
}
