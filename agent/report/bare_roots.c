/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/bare_roots.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/classes/callers.h"
#include "agent/state.h"
#include "core/err.h"
#include "core/layout.h"
#include "trie/node.h"
#include "trie/switches.h"
#include "trie/tomb.h"

enum { PLACES = BBF_BARE_CALLERS + 1, OTHERS = BBF_BARE_CALLERS, PENDING = 4096 };

/* A caller's key, which never changes; 0: free. */
#define PRESENT  (UINT32_C(1) << 31)
#define FOLLOWED (UINT32_C(1) << 30)
#define SITE     UINT32_C(0xffff)

struct place {
    _Atomic uint32_t key;
    _Atomic uint32_t sampled, leaked;
};

static struct root {
    uint32_t site;
    uint64_t leaks, next;        /* lost at the bare root; how many begin the next round */
    uint32_t leaked_before;      /* samples that had leaked when the round began */
    _Atomic uint64_t tickets;    /* its allocations in all rounds */
    _Atomic uint32_t stacks;     /* asked for in this round */
    struct place places[PLACES]; /* the last: OTHERS */
} roots[BBF_BARE_ROOTS];
static uint32_t n_roots;
static uint64_t refused;                           /* leaks at roots without a place */
static _Atomic uint8_t number_of[BBF_L_MAX_SITES]; /* by site: its root's index + 1 */
static _Atomic uint32_t every;

/*
 * By the low bits of the record: generation:32 | the record's other bits:12 | root:6 + place:4,
 * plus 1 so that 0 is free. One word, so a reader never joins two samples.
 */
static _Atomic uint64_t pending[PENDING];
enum { WHO_BITS = 12, PLACE_BITS = 4, RECORD_LOW = 12 };
_Static_assert(PLACES == 1 << PLACE_BITS && BBF_BARE_ROOTS << PLACE_BITS < 1 << WHO_BITS, "who");
_Static_assert(PENDING == 1 << RECORD_LOW, "record");

static uint64_t pending_life(uint64_t handle)
{
    return handle >> 32 << 32 | (uint64_t)(BBF_LOW(handle) >> RECORD_LOW & 0xfff) << WHO_BITS;
}

static _Atomic uint64_t *pending_at(uint64_t handle)
{
    return &pending[BBF_LOW(handle) & (PENDING - 1)];
}

/* ---- in a hook ---- */

/* At random by the number of the allocation: callers that take turns are all met. */
static bool is_drawn(uint64_t ticket, uint32_t n)
{
    uint64_t x = (ticket + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    return (x >> 32) % n == 0;
}

static bool is_life(uint64_t handle)
{
    return handle != 0 && BBF_GENERATION(handle) != UINT32_MAX;
}

static uint32_t place_of(struct root *r, uint32_t key)
{
    for (uint32_t i = 0; i < OTHERS; i++) {
        uint32_t seen = 0;
        /* Relaxed: a key is all there is to know of a place. */
        if (atomic_load_explicit(&r->places[i].key, memory_order_relaxed) == key ||
            atomic_compare_exchange_strong_explicit(&r->places[i].key, &seen, key,
                                                    memory_order_relaxed, memory_order_relaxed) ||
            seen == key)
            return i;
    }
    return OTHERS;
}

static void sample(JNIEnv *env, uint64_t handle, uint32_t root)
{
    struct root *r = &roots[root];
    uint32_t site = 0;
    bool followed = false;
    if (!bbf_caller_of_root(env, &site, &followed))
        return;
    uint32_t place = place_of(r, PRESENT | (followed ? FOLLOWED : 0) | site);
    atomic_fetch_add_explicit(&r->places[place].sampled, 1, memory_order_relaxed);
    uint64_t word = pending_life(handle) | (((uint64_t)root << PLACE_BITS | place) + 1);
    /* Release, with take(): a sample that leaked is among those sampled. */
    atomic_store_explicit(pending_at(handle), word, memory_order_release);
}

void bbf_bare_roots_opened(JNIEnv *env, uint64_t handle, uint32_t site)
{
    uint32_t n = atomic_load_explicit(&every, memory_order_relaxed);
    if (n == 0 || !is_life(handle) || !bbf_tracker_asks(bbf_agent.tracker, site))
        return;
    /* Acquire: the root is whole. It is there before the site is asked for. */
    uint32_t number = atomic_load_explicit(&number_of[site], memory_order_acquire);
    if (number == 0)
        return;
    struct root *r = &roots[number - 1];
    uint64_t ticket = atomic_fetch_add_explicit(&r->tickets, 1, memory_order_relaxed);
    if (is_drawn(ticket, n) &&
        atomic_load_explicit(&r->stacks, memory_order_relaxed) < BBF_BARE_STACKS) {
        atomic_fetch_add_explicit(&r->stacks, 1, memory_order_relaxed);
        sample(env, handle, number - 1);
    }
}

/* ---- in the agent thread ---- */

static struct root *root_of(uint32_t site)
{
    uint32_t number = atomic_load_explicit(&number_of[site], memory_order_relaxed);
    if (number != 0)
        return &roots[number - 1];
    if (n_roots == BBF_BARE_ROOTS) {
        refused++;
        return NULL;
    }
    struct root *r = &roots[n_roots++];
    r->site = site;
    r->next = 1;
    atomic_store_explicit(&number_of[site], (uint8_t)n_roots, memory_order_release);
    return r;
}

/* If the life was sampled, count it where its caller is. */
static void take(const struct root *r, uint64_t handle)
{
    uint64_t word = atomic_load_explicit(pending_at(handle), memory_order_acquire);
    uint32_t who = (uint32_t)(word & ((1u << WHO_BITS) - 1));
    if (who == 0 || word - who != pending_life(handle) || &roots[(who - 1) >> PLACE_BITS] != r)
        return;
    /* Another thread's newer sample stays. */
    if (atomic_compare_exchange_strong(pending_at(handle), &word, 0))
        atomic_fetch_add_explicit(
            &roots[(who - 1) >> PLACE_BITS].places[(who - 1) & (PLACES - 1)].leaked, 1,
            memory_order_relaxed);
}

/* In a scan. */
static void hear(const struct bbf_loss *loss)
{
    uint32_t site = bbf_node_bare_root(bbf_agent.tracker, loss->node);
    struct root *r = site != 0 ? root_of(site) : NULL;
    if (r == NULL)
        return;
    r->leaks++;
    take(r, loss->handle);
}

static uint32_t leaked_samples(const struct root *r)
{
    uint32_t sum = 0;
    for (int i = 0; i < PLACES; i++)
        sum += atomic_load_explicit(&((struct root *)(uintptr_t)r)->places[i].leaked,
                                    memory_order_relaxed);
    return sum;
}

static bool is_enough(const struct root *r)
{
    return atomic_load_explicit(&((struct root *)(uintptr_t)r)->stacks, memory_order_relaxed) >=
               BBF_BARE_STACKS ||
           leaked_samples(r) - r->leaked_before >= BBF_BARE_LEAKS;
}

static void turn(struct root *r)
{
    const bool asks = bbf_tracker_asks(bbf_agent.tracker, r->site);
    if (asks && is_enough(r)) {
        bbf_tracker_ask(bbf_agent.tracker, r->site, false);
        r->next = 2 * r->leaks;
    } else if (!asks && r->leaks >= r->next) {
        r->leaked_before = leaked_samples(r);
        atomic_store_explicit(&r->stacks, 0, memory_order_relaxed);
        bbf_tracker_ask(bbf_agent.tracker, r->site, true);
    }
}

void bbf_bare_roots_poll(uint64_t one_in)
{
    atomic_store_explicit(&every, (uint32_t)one_in, memory_order_relaxed);
    bbf_tracker_hear_leaks(bbf_agent.tracker, one_in != 0 ? hear : NULL);
    for (uint32_t i = 0; i < n_roots; i++)
        if (one_in != 0)
            turn(&roots[i]);
        else
            bbf_tracker_ask(bbf_agent.tracker, roots[i].site, false);
}

/* A hook that samples at this moment may add to a place that is free again; it is then never
 * shown. */
void bbf_bare_roots_reset(void)
{
    for (uint32_t i = 0; i < n_roots; i++) {
        struct root *r = &roots[i];
        bbf_tracker_ask(bbf_agent.tracker, r->site, false);
        r->leaks = 0;
        r->next = 1;
        for (int k = 0; k < PLACES; k++) {
            atomic_store(&r->places[k].key, 0);
            atomic_store(&r->places[k].sampled, 0);
            atomic_store(&r->places[k].leaked, 0);
        }
    }
    for (int i = 0; i < PENDING; i++)
        atomic_store(&pending[i], 0);
    refused = 0;
}

/* ---- in a report ---- */

static size_t fill_root(struct root *r, struct bbf_snap_caller *rows)
{
    size_t n = 0;
    for (int i = 0; i < PLACES; i++) {
        struct place *p = &r->places[i];
        uint32_t key = atomic_load_explicit(&p->key, memory_order_relaxed);
        /* Leaked first: it is never more than what was sampled. */
        uint32_t leaked = atomic_load_explicit(&p->leaked, memory_order_acquire);
        uint32_t sampled = atomic_load_explicit(&p->sampled, memory_order_relaxed);
        if (sampled == 0 || (key == 0 && i != OTHERS))
            continue;
        rows[n++] = (struct bbf_snap_caller){.root = r->site,
                                             .caller = i != OTHERS && (key & SITE) != 0 ? key & SITE
                                                                                        : r->site,
                                             .kind = i == OTHERS             ? BBF_CALLER_OTHERS
                                                     : (key & SITE) == 0     ? BBF_CALLER_NONE
                                                     : (key & FOLLOWED) != 0 ? BBF_CALLER_FOLLOWED
                                                                             : BBF_CALLER_NEAREST,
                                             .sampled = sampled,
                                             .leaked = leaked < sampled ? leaked : sampled};
    }
    return n;
}

int bbf_bare_roots_fill(struct bbf_snapshot *s)
{
    if (n_roots == 0)
        return BBF_OK;
    s->callers = calloc((size_t)n_roots * PLACES, sizeof *s->callers);
    if (s->callers == NULL)
        return BBF_ENOMEM;
    for (uint32_t i = 0; i < n_roots; i++)
        s->n_callers += fill_root(&roots[i], s->callers + s->n_callers);
    return BBF_OK;
}

void bbf_bare_roots_note(struct bbf_buf *note)
{
    if (refused != 0)
        bbf_buf_printf(note,
                       "%" PRIu64 " buffers leaked at roots whose callers are not sampled: more "
                       "than %d roots leak",
                       refused, BBF_BARE_ROOTS);
}
