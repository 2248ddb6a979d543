/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/tracker.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/err.h"
#include "trie/section.h"

/* Small tables that are always writable, and also never unmapped. */
static void *map_writable(size_t size)
{
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

enum { RECORDS = 1 << 24, TOMBS = 1 << 20 };

/* The address space that we may take. Under RLIMIT_AS it is a quarter, because we reserve it before
 * the Java heap, which needs room as well. */
static uint64_t address_space(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur / 4;
}

/* Reserve BBF_ARENAS id ranges if there is `room` for them and the other reservations, and the
 * kernel allows it; at least two. */
static int reserve_nodes(struct bbf_tracker *t, uint64_t room)
{
    const uint64_t others =
        (uint64_t)RECORDS * (sizeof(struct bbf_record) + sizeof(struct bbf_after)) +
        (uint64_t)TOMBS * sizeof(struct bbf_tomb);
    for (uint32_t arenas = BBF_ARENAS; arenas >= 2; arenas /= 2) {
        size_t ids = (size_t)arenas << BBF_L_ARENA_SHIFT;
        uint64_t each = sizeof(struct bbf_node) + sizeof(uint64_t);
        if (others + ids * each + ((uint64_t)arenas << (BBF_L_OVERFLOW_BITS + 2)) > room)
            continue;
        if (bbf_space_reserve(&t->nodes, ids << BBF_L_NODE_SHIFT, &t->budget) == BBF_OK) {
            if (bbf_space_reserve(&t->ended, ids * sizeof(uint64_t), &t->budget) == BBF_OK) {
                size_t table = (size_t)arenas << (BBF_L_OVERFLOW_BITS + 2);
                if (bbf_space_reserve(&t->overflow, table, &t->budget) == BBF_OK) {
                    t->arenas = arenas;
                    return BBF_OK;
                }
                munmap(t->ended.base, t->ended.size); /* no thread has its address yet */
                t->ended.base = NULL;
            }
            munmap(t->nodes.base, t->nodes.size);
            t->nodes.base = NULL;
        }
    }
    return BBF_ENOMEM;
}

/* A seed for the draws of sample=. */
static void seed(struct bbf_tracker *t)
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        random = (uint64_t)(uintptr_t)t ^ (uint64_t)getpid() << 32; /* early at boot */
    atomic_init(bbf_shared_long(t, BBF_L_SHARED_RANDOM), random);
}

static void name_reserved(struct bbf_tracker *t, uint32_t node, uint32_t site, const char *name)
{
    struct bbf_site like = {.class_name = (char *)"",
                            .method = (char *)(uintptr_t)name,
                            .descriptor = (char *)"",
                            .kind = BBF_SITE_ROOT,
                            .memory = BBF_MEM_UNKNOWN};
    uint32_t id = bbf_site_intern(t, &like);
    if (node != BBF_L_NODE_NONE && id == site) {
        struct bbf_node *n = bbf_node_at(t, node);
        n->site = site;
        n->depth = 1;
        atomic_store_explicit(&n->flags,
                              BBF_L_FLAG_NO_STEPS | BBF_REF_1_2 << BBF_L_FLAG_BUCKET_SHIFT,
                              memory_order_relaxed);
    }
}

/* Records below FIRST_RECORD have no life: their generations match no handle that could step. */
static void init_reserved_records(struct bbf_tracker *t)
{
    struct bbf_record *none = bbf_record_at(t, 0);
    atomic_init(&none->path, BBF_WORD(UINT32_MAX, 0));
    atomic_init(&none->life, BBF_WORD(UINT32_MAX, BBF_L_CLOSED));
    atomic_init(&none->refs, BBF_WORD(UINT32_MAX, 0));
    atomic_init(&none->size, BBF_WORD(UINT32_MAX, 0));
    for (uint32_t r = 1; r < BBF_L_FIRST_RECORD; r++) {
        /* Like closed records they have no node, so a step ends without a call; except for two, at
         * which the next step opens a life. */
        bool opens = r == BBF_L_RECORD_COUNTED || r == BBF_L_RECORD_AGAIN;
        atomic_init(&bbf_record_at(t, r)->path, BBF_WORD(opens ? 0 : UINT32_MAX, BBF_L_NODE_NONE));
        atomic_init(&bbf_record_at(t, r)->life, BBF_L_CLOSED);
    }
}

/* Unmap the reservations if one of them failed: no thread has an address yet, and the Java heap may
 * need the space. */
static void give_back(struct bbf_tracker *t)
{
    const struct bbf_space *all[] = {&t->map,     &t->nodes, &t->ended, &t->overflow,
                                     &t->records, &t->after, &t->tombs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->base != NULL)
            munmap(all[i]->base, all[i]->size);
}

int bbf_tracker_create(struct bbf_tracker **out, const struct bbf_limits *limits)
{
    struct bbf_tracker *t = map_writable(sizeof *t);
    *out = NULL;
    if (t == NULL || bbf_section_init() != BBF_OK)
        return BBF_ENOMEM;
    pthread_mutex_init(&t->site_lock, NULL);
    atomic_init(&t->budget.limit, limits->memory);
    t->rate_roots = map_writable((size_t)BBF_L_RATES * BBF_L_MAX_SITES * sizeof *t->rate_roots);
    t->stripes = map_writable((size_t)BBF_L_STRIPES << BBF_L_STRIPE_SHIFT);
    t->shared = map_writable(4096);
    t->roots = map_writable(BBF_L_MAX_SITES * sizeof *t->roots);
    const size_t records = RECORDS, tombs = TOMBS;
    if (t->stripes == NULL || t->shared == NULL || t->roots == NULL || t->rate_roots == NULL ||
        reserve_nodes(t, address_space()) != BBF_OK ||
        bbf_space_reserve(&t->records, records << BBF_L_RECORD_SHIFT, &t->budget) != BBF_OK ||
        bbf_space_reserve(&t->map, (size_t)1 << (BBF_L_MAP_BUCKET_BITS + BBF_L_MAP_BUCKET_SHIFT),
                          &t->budget) != BBF_OK ||
        bbf_space_reserve(&t->after, records * sizeof(struct bbf_after), &t->budget) != BBF_OK ||
        bbf_space_reserve(&t->tombs, tombs * sizeof(struct bbf_tomb), &t->budget) != BBF_OK ||
        !bbf_space_reach(&t->records, 1) || !bbf_space_open(&t->nodes, 0, 1 << 20) ||
        !bbf_space_open(&t->ended, 0, 1 << 17)) {
        give_back(t);
        return BBF_ENOMEM;
    }
    t->after.step = 384 << 10; /* of the number of records in 1 MiB */
    t->tombs.step = 64 << 10;
    atomic_init(&t->rates[0], 1);
    seed(t);
    atomic_init(bbf_shared_long(t, BBF_L_SHARED_RECORDS), (uint64_t)(uintptr_t)t->records.base);
    t->n_sites = 1;
    t->n_classes = 1;
    t->max_sites = BBF_MAX_STEP_SITES;
    bbf_tracker_limit(t, limits);
    name_reserved(t, BBF_L_NODE_RACED, BBF_L_SITE_RACED, "?raced");
    name_reserved(t, BBF_L_NODE_BEFORE_RESET, BBF_L_SITE_BEFORE_RESET, "?before-reset");
    init_reserved_records(t);
    atomic_init(&t->next_record, BBF_L_FIRST_RECORD);
    atomic_init(&t->next_node, 1u << BBF_L_ARENA_SHIFT);
    atomic_init(&t->window, BBF_WORD(1, 0));
    *out = t;
    return BBF_OK;
}

/* A raised limit reopens the nodes that it had closed; a lowered one closes nodes from now on. */
static void reflag_nodes(struct bbf_tracker *t)
{
    uint32_t end = atomic_load(&t->next_node);
    uint64_t depth = atomic_load(&t->max_depth), children = atomic_load(&t->max_children);
    for (uint32_t id = end >> BBF_L_ARENA_SHIFT << BBF_L_ARENA_SHIFT; id < end; id++) {
        struct bbf_node *n = bbf_node_at(t, id);
        uint32_t set = (n->depth >= depth ? (uint32_t)BBF_L_FLAG_NO_STEPS : 0) |
                       (atomic_load(&n->children) >= children ? (uint32_t)BBF_L_FLAG_FULL : 0);
        atomic_fetch_or(&n->flags, set);
        atomic_fetch_and(&n->flags, set | ~(uint32_t)(BBF_L_FLAG_NO_STEPS | BBF_L_FLAG_FULL));
    }
}

void bbf_tracker_limit(struct bbf_tracker *t, const struct bbf_limits *limits)
{
    atomic_store(&t->max_nodes, limits->max_nodes);
    atomic_store(&t->max_depth, limits->max_depth);
    atomic_store(&t->max_children, limits->max_children);
    atomic_store(&t->max_lives, limits->max_lives);
    atomic_store(&t->max_age, limits->age);
    atomic_store(bbf_shared_int(t, BBF_L_SHARED_ELEMENTS), (uint32_t)limits->max_elements);
    atomic_store(&t->budget.limit, limits->memory);
    pthread_mutex_lock(&t->site_lock);
    t->max_sites = limits->max_sites < BBF_MAX_STEP_SITES ? (uint32_t)limits->max_sites
                                                          : (uint32_t)BBF_MAX_STEP_SITES;
    pthread_mutex_unlock(&t->site_lock);
    atomic_fetch_and(bbf_shared_int(t, BBF_L_SHARED_FLAGS), ~(uint32_t)BBF_L_SHARED_NODES_FULL);
    if (atomic_load(&t->next_node) != 0)
        reflag_nodes(t);
}

/* Update the table of the shim's short path after a change of the settings that decide beside the
 * site. The flags were changed first. */
static void refresh_roots(struct bbf_tracker *t)
{
    uint32_t arena = atomic_load(&t->next_node) >> BBF_L_ARENA_SHIFT;
    for (uint32_t id = 1; id < BBF_L_MAX_SITES; id++) {
        uint32_t root = atomic_load(&t->rate_roots[id]);
        if (root == BBF_L_NODE_NONE)
            continue; /* then the other table has none either */
        bool fast = root >> BBF_L_ARENA_SHIFT == arena && bbf_node_is_fast(t, id);
        atomic_store(&t->roots[id], fast ? root : BBF_L_NODE_NONE);
        if (fast && !bbf_node_is_fast(t, id)) /* another thread is turning tracking off */
            atomic_store(&t->roots[id], BBF_L_NODE_NONE);
    }
}

static void set_flag(struct bbf_tracker *t, uint32_t flag, bool on)
{
    _Atomic uint32_t *flags = bbf_shared_int(t, BBF_L_SHARED_FLAGS);
    if (on)
        atomic_fetch_or(flags, flag);
    else
        atomic_fetch_and(flags, ~flag);
    refresh_roots(t);
}

void bbf_tracker_direct_only(struct bbf_tracker *t, bool on)
{
    set_flag(t, BBF_L_SHARED_DIRECT_ONLY, on);
}

void bbf_tracker_pause(struct bbf_tracker *t)
{
    t->paused = true;
    set_flag(t, BBF_L_SHARED_PAUSED, true);
}

void bbf_tracker_resume(struct bbf_tracker *t)
{
    t->paused = false;
    set_flag(t, BBF_L_SHARED_PAUSED, false);
}

/* The index of a rate, or a free index for it; RATES: there is none. */
static uint32_t rate_of(const struct bbf_tracker *t, uint32_t n)
{
    uint32_t rate = 0;
    while (rate < BBF_L_RATES && atomic_load(&t->rates[rate]) != n &&
           atomic_load(&t->rates[rate]) != 0)
        rate++;
    return rate;
}

bool bbf_tracker_can_sample(const struct bbf_tracker *t, uint32_t n)
{
    return rate_of(t, n) < BBF_L_RATES;
}

int bbf_tracker_sample(struct bbf_tracker *t, uint32_t n)
{
    uint32_t rate = rate_of(t, n);
    if (rate == BBF_L_RATES)
        return BBF_ELIMIT;
    atomic_store(&t->rates[rate], n);
    atomic_store(bbf_shared_int(t, BBF_L_SHARED_SAMPLE),
                 rate == 0 ? 0 : rate << BBF_L_SAMPLE_RATE_SHIFT | n);
    refresh_roots(t);
    return BBF_OK;
}

void bbf_tracker_fault(struct bbf_tracker *t)
{
    atomic_fetch_add_explicit(bbf_shared_long(t, BBF_L_SHARED_ERRORS), 1, memory_order_relaxed);
}

void bbf_tracker_collapse(struct bbf_tracker *t)
{
    uint64_t window = atomic_load_explicit(&t->window, memory_order_acquire);
    size_t first = (size_t)BBF_GENERATION(window) << (BBF_L_ARENA_SHIFT + BBF_L_NODE_SHIFT);
    size_t nodes = ((size_t)BBF_LOW(window) * BBF_NODES_PER_STEP) << BBF_L_NODE_SHIFT;
    size_t records = (size_t)atomic_load_explicit(&t->next_record, memory_order_acquire)
                     << BBF_L_RECORD_SHIFT;

    t->no_huge = t->no_huge || !bbf_space_collapse(&t->nodes, first, first + nodes) ||
                 !bbf_space_collapse(&t->records, 0, records);
}

void bbf_tracker_off(struct bbf_tracker *t)
{
    set_flag(t, BBF_L_SHARED_OFF, true);
}
