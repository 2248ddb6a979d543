/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/tracker.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/err.h"
#include "trie/model.h"
#include "trie/section.h"
#include "trie/site.h"
#include "trie/switches.h"

enum { SHARED_PAGE = 4096 };

/* Small tables that are always writable, and also never unmapped. */
static void *map_writable(size_t size)
{
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

/* The shared page, below 2 GiB if there is room: its address is in every hook, and compiled code
 * names a low one with 6 bytes instead of 10. */
static void *map_shared(void)
{
#ifdef MAP_32BIT
    void *base = mmap(NULL, SHARED_PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (base != MAP_FAILED)
        return base;
#endif
    return map_writable(SHARED_PAGE);
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
        (uint64_t)RECORDS * (sizeof(struct bbf_record) + sizeof(struct bbf_record_extra)) +
        (uint64_t)TOMBS * sizeof(struct bbf_tomb);
    for (uint32_t arenas = BBF_ARENAS; arenas >= 2; arenas /= 2) {
        size_t ids = (size_t)arenas << BBF_L_ARENA_SHIFT;
        uint64_t each = sizeof(struct bbf_node) + sizeof(uint64_t);
        if (others + ids * each + ((uint64_t)arenas << (BBF_L_OVERFLOW_BITS + 2)) > room)
            continue;
        if (bbf_space_reserve(&t->nodes, ids << BBF_L_NODE_SHIFT, &t->budget) == BBF_OK) {
            if (bbf_space_reserve(&t->released_counts, ids * sizeof(uint64_t), &t->budget) ==
                BBF_OK) {
                size_t table = (size_t)arenas << (BBF_L_OVERFLOW_BITS + 2);
                if (bbf_space_reserve(&t->overflow, table, &t->budget) == BBF_OK) {
                    t->arenas = arenas;
                    return BBF_OK;
                }
                munmap(t->released_counts.base,
                       t->released_counts.size); /* no thread has its address yet */
                t->released_counts.base = NULL;
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
    const struct bbf_space *all[] = {
        &t->map, &t->nodes, &t->released_counts, &t->overflow, &t->records, &t->extras, &t->tombs};
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
    pthread_mutex_init(&t->facts.lock, NULL);
    pthread_mutex_init(&t->contexts.lock, NULL);
    pthread_mutex_init(&t->scopes.lock, NULL);
    atomic_init(&t->budget.limit, limits->memory);
    t->rate_roots = map_writable((size_t)BBF_L_RATES * BBF_L_MAX_SITES * sizeof *t->rate_roots);
    t->stripes = map_writable((size_t)BBF_L_STRIPES << BBF_L_STRIPE_SHIFT);
    t->shared = map_shared();
    t->roots = map_writable(BBF_L_MAX_SITES * sizeof *t->roots);
    const size_t records = RECORDS, tombs = TOMBS;
    if (t->stripes == NULL || t->shared == NULL || t->roots == NULL || t->rate_roots == NULL ||
        reserve_nodes(t, address_space()) != BBF_OK ||
        bbf_space_reserve(&t->records, records << BBF_L_RECORD_SHIFT, &t->budget) != BBF_OK ||
        bbf_space_reserve(&t->map, (size_t)1 << (BBF_L_MAP_BUCKET_BITS + BBF_L_MAP_BUCKET_SHIFT),
                          &t->budget) != BBF_OK ||
        bbf_space_reserve(&t->extras, records * sizeof(struct bbf_record_extra), &t->budget) !=
            BBF_OK ||
        bbf_space_reserve(&t->tombs, tombs * sizeof(struct bbf_tomb), &t->budget) != BBF_OK ||
        !bbf_space_reach(&t->records, 1) || !bbf_space_open(&t->nodes, 0, 1 << 20) ||
        !bbf_space_open(&t->released_counts, 0, 1 << 17)) {
        give_back(t);
        return BBF_ENOMEM;
    }
    t->extras.step = 384 << 10; /* of the number of records in 1 MiB */
    t->tombs.step = 64 << 10;
    atomic_init(&t->rates[0], 1);
    seed(t);
    atomic_init(bbf_shared_long(t, BBF_L_SHARED_RECORDS), (uint64_t)(uintptr_t)t->records.base);
    t->n_sites = 1;
    t->n_classes = 1;
    t->max_sites = BBF_MAX_STEP_SITES;
    bbf_tracker_limit(t, limits);
    name_reserved(t, BBF_L_NODE_RACED, BBF_L_SITE_RACED, "?raced");
    name_reserved(t, BBF_L_NODE_NONE, BBF_L_SITE_GAP, BBF_GAP_STEP);
    name_reserved(t, BBF_L_NODE_BEFORE_RESET, BBF_L_SITE_BEFORE_RESET, "?before-reset");
    init_reserved_records(t);
    atomic_init(&t->next_record, BBF_L_FIRST_RECORD);
    atomic_init(&t->next_node, 1u << BBF_L_ARENA_SHIFT);
    atomic_init(&t->window, BBF_WORD(1, 0));
    *out = t;
    return BBF_OK;
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
