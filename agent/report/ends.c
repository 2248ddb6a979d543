/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/ends.h"

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
    uint16_t slots[SLOTS]; /* open addressing: index + 1 */
    size_t n;
    uint64_t dropped;
};

static struct heard *heard; /* NULL: no sink wants to know */

static bool is_like(const struct bbf_loss *a, const struct bbf_loss *b)
{
    return a->node == b->node && a->end == b->end && a->memory == b->memory && a->lost == b->lost &&
           a->seconds == b->seconds && a->tid == b->tid;
}

static size_t slot_of(const struct bbf_loss *loss)
{
    uint64_t h = (uint64_t)loss->node << 32 ^ loss->seconds;

    h ^= (uint64_t)loss->tid << 20 ^ (uint64_t)loss->end << 8 ^ loss->memory;
    h *= UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(h >> 40) % SLOTS;
}

/* In a scan. How long a life was open stands for when it was opened: a scan has one second. */
static void hear(const struct bbf_loss *loss)
{
    size_t slot = slot_of(loss);

    for (; heard->slots[slot] != 0; slot = (slot + 1) % SLOTS) {
        size_t i = heard->slots[slot] - 1u;
        if (!is_like(&heard->loss[i], loss))
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
    heard->slots[slot] = (uint16_t)++heard->n;
}

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

static struct bbf_event event_of(const struct bbf_loss *loss, uint64_t count)
{
    struct bbf_event event = bbf_event_new(BBF_EVENT_LIFE);

    event.tracker = bbf_agent.tracker;
    event.node = loss->node;
    event.memory = (enum bbf_memory)loss->memory;
    event.lost = (enum bbf_lost)loss->lost;
    event.weight = bbf_node_sampled_by(bbf_agent.tracker, loss->node);
    event.count = event.added = count * event.weight;
    event.bytes = event.added_bytes = loss->bytes * event.weight;
    event.age_ns = loss->seconds * SECOND;
    event.thread = loss->tid;
    event.thread_count = event.count;
    event.detail.end = loss->end;
    return event;
}

static void post(JNIEnv *env)
{
    struct bbf_event *events = calloc(heard->n, sizeof *events);
    struct bbf_snapshot *names = bbf_snapshot_new();
    int err = events != NULL && names != NULL ? BBF_OK : BBF_ENOMEM;

    for (size_t i = 0; err == BBF_OK && i < heard->n; i++)
        events[i] = event_of(&heard->loss[i], heard->count[i]);
    if (err == BBF_OK)
        err = bbf_names_of_threads(env, events, heard->n, names);
    for (size_t i = 0; err == BBF_OK && i < heard->n; i++)
        bbf_events_post(&events[i]);
    if (err != BBF_OK)
        bbf_events_unmade(BBF_EVENT_LIFE, heard->n);
    bbf_snapshot_free(names);
    free(events);
}

void bbf_ends_poll(JNIEnv *env)
{
    bool is_wanted = bbf_events_wanted(BBF_EVENT_LIFE);

    if (heard != NULL && heard->n > 0)
        post(env);
    if (heard != NULL && heard->dropped > 0)
        bbf_events_unmade(BBF_EVENT_LIFE, heard->dropped);
    if (heard != NULL && heard->n > 0) {
        memset(heard->slots, 0, sizeof heard->slots);
        heard->n = 0;
        heard->dropped = 0;
    }
    if (is_wanted && heard == NULL)
        begin();
    else if (!is_wanted && heard != NULL)
        end();
}
