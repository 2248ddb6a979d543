/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/ends.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/events.h"
#include "agent/report/names.h"
#include "agent/state.h"
#include "core/err.h"

enum { SLOTS = 2 * BBF_ENDS_ROOM };
#define SECOND UINT64_C(1000000000)

/* Lives that ended alike; charged to `memory` while it is there. */
struct heard {
    struct bbf_loss loss[BBF_ENDS_ROOM]; /* `bytes`: of all of them */
    uint64_t count[BBF_ENDS_ROOM];
    bool is_released[BBF_ENDS_ROOM];
    uint16_t slots[SLOTS]; /* open addressing: index + 1 */
    size_t n;
    uint64_t dropped;
};

static struct heard *heard; /* NULL: no sink wants to know */

/* ---- released lives ---- */

static _Atomic uint32_t threshold;               /* seconds; 0: none is wanted */
static _Atomic uint64_t released[BBF_ENDS_ROOM]; /* node << 32 | seconds; 0: free */
static _Atomic uint32_t next_released;
static _Atomic uint64_t released_dropped;

void bbf_ends_released(uint32_t node, uint32_t seconds)
{
    /* Relaxed: a life at the moment of a change may be in or out. */
    uint32_t least = atomic_load_explicit(&threshold, memory_order_relaxed);
    if (least == 0 || seconds < least)
        return;
    /* Relaxed: it only spreads the threads over the words. */
    uint32_t number = atomic_fetch_add_explicit(&next_released, 1, memory_order_relaxed);
    uint64_t empty = 0;
    /* Release, with take_released(): the node is whole. */
    if (!atomic_compare_exchange_strong_explicit(&released[number % BBF_ENDS_ROOM], &empty,
                                                 (uint64_t)node << 32 | seconds,
                                                 memory_order_release, memory_order_relaxed))
        atomic_fetch_add_explicit(&released_dropped, 1, memory_order_relaxed);
}

/* ---- alike ---- */

static bool is_like(size_t i, const struct bbf_loss *b, bool is_released)
{
    const struct bbf_loss *a = &heard->loss[i];

    return heard->is_released[i] == is_released && a->node == b->node && a->end == b->end &&
           a->memory == b->memory && a->lost == b->lost && a->seconds == b->seconds &&
           a->tid == b->tid;
}

static size_t slot_of(const struct bbf_loss *loss)
{
    uint64_t h = (uint64_t)loss->node << 32 ^ loss->seconds;

    h ^= (uint64_t)loss->tid << 20 ^ (uint64_t)loss->end << 8 ^ loss->memory;
    h *= UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(h >> 40) % SLOTS;
}

/* All ends of a scan have one second, so equal ages mean that lives were opened in one second. */
static void add(const struct bbf_loss *loss, bool is_released)
{
    size_t slot = slot_of(loss);

    for (; heard->slots[slot] != 0; slot = (slot + 1) % SLOTS) {
        size_t i = heard->slots[slot] - 1u;
        if (!is_like(i, loss, is_released))
            continue;
        heard->loss[i].bytes += loss->bytes;
        heard->count[i]++;
        return;
    }
    if (heard->n == BBF_ENDS_ROOM) {
        heard->dropped++;
        return;
    }
    heard->loss[heard->n] = *loss;
    heard->count[heard->n] = 1;
    heard->is_released[heard->n] = is_released;
    heard->slots[slot] = (uint16_t)++heard->n;
}

/* In a scan. */
static void hear(const struct bbf_loss *loss)
{
    add(loss, false);
}

static void take_released(void)
{
    for (size_t i = 0; i < BBF_ENDS_ROOM; i++) {
        if (atomic_load_explicit(&released[i], memory_order_relaxed) == 0)
            continue;
        /* Acquire, with bbf_ends_released(). */
        uint64_t word = atomic_exchange_explicit(&released[i], 0, memory_order_acquire);
        const struct bbf_loss loss = {.node = (uint32_t)(word >> 32),
                                      .memory = BBF_MEM_UNKNOWN,
                                      .lost = BBF_LOST_UNKNOWN,
                                      .seconds = (uint32_t)word};
        if (heard != NULL)
            add(&loss, true);
    }
    uint64_t dropped = atomic_exchange_explicit(&released_dropped, 0, memory_order_relaxed);
    if (heard != NULL)
        heard->dropped += dropped;
}

/* ---- begin, end ---- */

static void begin(void)
{
    if (!bbf_tracker_charge(bbf_agent.tracker, sizeof *heard))
        return; /* asked again in the next round */
    heard = calloc(1, sizeof *heard);
    if (heard == NULL)
        bbf_tracker_uncharge(bbf_agent.tracker, sizeof *heard);
    else
        bbf_tracker_hear_ends(bbf_agent.tracker, hear);
}

static void end(void)
{
    bbf_tracker_hear_ends(bbf_agent.tracker, NULL);
    bbf_tracker_uncharge(bbf_agent.tracker, sizeof *heard);
    free(heard);
    heard = NULL;
}

static struct bbf_event event_of(size_t i)
{
    const struct bbf_loss *loss = &heard->loss[i];
    struct bbf_event event = bbf_event_new(BBF_EVENT_LIFE);

    event.tracker = bbf_agent.tracker;
    event.node = loss->node;
    event.memory = (enum bbf_memory)loss->memory;
    event.lost = (enum bbf_lost)loss->lost;
    event.weight = bbf_node_sampled_by(bbf_agent.tracker, loss->node);
    event.count = event.added = heard->count[i] * event.weight;
    event.bytes = event.added_bytes = loss->bytes * event.weight;
    event.age_ns = loss->seconds * SECOND;
    event.thread = loss->tid;
    event.thread_count = event.count;
    event.detail.life.end = loss->end;
    event.detail.life.is_released = heard->is_released[i];
    return event;
}

static void post(JNIEnv *env)
{
    struct bbf_event *events = calloc(heard->n, sizeof *events);
    struct bbf_snapshot *names = bbf_snapshot_new();
    int err = events != NULL && names != NULL ? BBF_OK : BBF_ENOMEM;

    for (size_t i = 0; err == BBF_OK && i < heard->n; i++)
        events[i] = event_of(i);
    if (err == BBF_OK)
        err = bbf_names_of_threads(env, events, heard->n, names);
    for (size_t i = 0; err == BBF_OK && i < heard->n; i++)
        bbf_events_post(&events[i]);
    if (err != BBF_OK)
        bbf_events_unmade(BBF_EVENT_LIFE, heard->n);
    bbf_snapshot_free(names);
    free(events);
}

static void set_threshold(void)
{
    const struct bbf_rules *rules = atomic_load(&bbf_agent.rules);
    uint64_t seconds = heard != NULL && rules != NULL ? rules->options.jfr_life_age : 0;

    atomic_store_explicit(&threshold, (uint32_t)seconds, memory_order_relaxed);
}

void bbf_ends_poll(JNIEnv *env)
{
    bool is_wanted = bbf_events_wanted(BBF_EVENT_LIFE);

    take_released();
    if (heard != NULL && heard->n > 0)
        post(env);
    if (heard != NULL && heard->dropped > 0)
        bbf_events_unmade(BBF_EVENT_LIFE, heard->dropped);
    if (heard != NULL && (heard->n > 0 || heard->dropped > 0)) {
        memset(heard->slots, 0, sizeof heard->slots);
        heard->n = 0;
        heard->dropped = 0;
    }
    if (is_wanted && heard == NULL)
        begin();
    else if (!is_wanted && heard != NULL)
        end();
    set_threshold();
}
