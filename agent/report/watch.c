/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/watch.h"

#include <stdlib.h>
#include <time.h>

#include "agent/cost/meter.h"
#include "agent/events.h"
#include "agent/report/after_release.h"
#include "agent/report/misuse.h"
#include "agent/report/names.h"
#include "agent/sinks/sinks.h"
#include "agent/state.h"
#include "agent/stream.h"
#include "core/err.h"

enum {
    EVENTS_A_SECOND = 50,
    GREETING = 1000, /* places that a new client gets a line for; more are counted */
    AGED_SECONDS = 10,
    AGED_SHARE = 20 /* looks at the open buffers take at most this part of a core */
};

/* The aged buffers of one place that were reported so far. */
struct bbf_reported_place {
    uint32_t node;
    uint8_t memory, lost;
    uint64_t count, bytes;
};

static uint32_t turn;                       /* the tomb that was visited last */
static time_t second;                       /* of the last look */
static uint64_t aged_at_ns;                 /* when the next look for aged buffers is due */
static struct bbf_reported_place *reported; /* ascending; charged to `memory` */
static size_t n_reported;

/* ---- events ---- */

struct batch {
    struct bbf_event *at;
    size_t n, room;
};

static struct bbf_event *next_event(struct batch *batch)
{
    if (batch->n == batch->room) {
        size_t room = batch->room == 0 ? EVENTS_A_SECOND : 2 * batch->room;
        struct bbf_event *more = reallocarray(batch->at, room, sizeof *more);
        if (more == NULL)
            return NULL;
        batch->at = more;
        batch->room = room;
    }
    return &batch->at[batch->n++];
}

static void post(const struct batch *batch, int err)
{
    for (size_t i = 0; i < batch->n; i++)
        if (err == BBF_OK)
            bbf_events_post(&batch->at[i]);
        else
            bbf_events_unmade(batch->at[i].kind, 1);
}

/* All of them to `newcomer`, or, where that is NULL, to every sink. */
static int deliver(JNIEnv *env, struct batch *batch, struct bbf_buf *newcomer)
{
    if (batch->n == 0)
        return BBF_OK;
    struct bbf_snapshot *names = bbf_snapshot_new();
    int err = names != NULL ? bbf_names_of_threads(env, batch->at, batch->n, names) : BBF_ENOMEM;

    if (newcomer == NULL)
        post(batch, err);
    for (size_t i = 0; newcomer != NULL && err == BBF_OK && i < batch->n; i++)
        bbf_sink_live_greet(newcomer, &batch->at[i]);
    bbf_snapshot_free(names);
    return err;
}

/* ---- what leaked ---- */

static bool is_leak(const struct bbf_tomb *tomb)
{
    return tomb->end == BBF_END_LEAKED && tomb->count > 0;
}

static struct bbf_event event_of(const struct bbf_tomb *tomb)
{
    struct bbf_event event = bbf_event_new(BBF_EVENT_LEAK);
    uint64_t weight = bbf_node_sampled_by(bbf_agent.tracker, tomb->node);

    event.tracker = bbf_agent.tracker;
    event.node = tomb->node;
    event.memory = (enum bbf_memory)tomb->memory;
    event.lost = (enum bbf_lost)tomb->lost;
    event.weight = weight;
    event.count = tomb->count * weight;
    event.bytes = tomb->bytes * weight;
    event.added = (tomb->count - tomb->reported) * weight;
    event.added_bytes = (tomb->bytes - tomb->reported_bytes) * weight;
    event.age_ns = (uint64_t)tomb->oldest * 1000000000u;
    event.thread = bbf_tomb_opener(tomb, &event.thread_count);
    event.thread_count *= weight;
    return event;
}

static void mark_reported(struct bbf_tomb *tomb)
{
    tomb->reported = tomb->count;
    tomb->reported_bytes = tomb->bytes;
}

/* The next EVENTS_A_SECOND places that have something new. */
static void report_leaks(JNIEnv *env)
{
    struct batch batch = {0};
    uint32_t n = bbf_tracker_tombs(bbf_agent.tracker), first = turn < n ? turn : 0;

    for (uint32_t i = 0; i < n && batch.n < EVENTS_A_SECOND; i++) {
        turn = (first + i) % n + 1;
        struct bbf_tomb *tomb = bbf_tracker_tomb(bbf_agent.tracker, turn);
        if (!is_leak(tomb) || tomb->count == tomb->reported)
            continue;
        struct bbf_event *event = next_event(&batch);
        if (event == NULL)
            break;
        *event = event_of(tomb);
        mark_reported(tomb);
    }
    (void)deliver(env, &batch, NULL);
    free(batch.at);
}

/* ---- what is aged ---- */

static int compare_places(const void *a, const void *b)
{
    const struct bbf_reported_place *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->memory != y->memory)
        return x->memory < y->memory ? -1 : 1;
    return (x->lost > y->lost) - (x->lost < y->lost);
}

static void forget_aged(void)
{
    bbf_tracker_uncharge(bbf_agent.tracker, n_reported * sizeof *reported);
    free(reported);
    reported = NULL;
    n_reported = 0;
}

/* Replaces what was reported before. */
static void keep_aged(struct bbf_reported_place *now, size_t n)
{
    forget_aged();
    if (bbf_tracker_charge(bbf_agent.tracker, n * sizeof *now)) {
        qsort(now, n, sizeof *now, compare_places);
        reported = now;
        n_reported = n;
    } else {
        free(now); /* they are reported again the next time */
    }
}

/* The audience of a look at the aged buffers. */
enum audience {
    EVERY_SINK, /* what is new, EVENTS_A_SECOND of it; the rest has its turn the next time */
    NEWCOMER,   /* the totals that were reported before; what is new is posted later, to all */
    FIRST_ONE   /* the totals, where no sink wanted them before */
};

static int add_aged_event(struct batch *batch, const struct bbf_snap_leak *leak,
                          const struct bbf_reported_place *at, bool is_new)
{
    struct bbf_event *event = next_event(batch);

    if (event == NULL)
        return BBF_ENOMEM;
    *event = bbf_event_new(BBF_EVENT_AGED);
    event->tracker = bbf_agent.tracker;
    event->node = at->node;
    event->memory = leak->memory;
    event->lost = leak->lost;
    event->weight = bbf_node_sampled_by(bbf_agent.tracker, at->node);
    event->count = leak->count; /* a snapshot's counts are of buffers already */
    event->bytes = leak->bytes;
    event->added = is_new ? leak->count - at->count : 0;
    event->added_bytes = is_new ? leak->bytes - at->bytes : 0;
    event->age_ns = leak->oldest_seconds * 1000000000u;
    event->thread = leak->thread;
    event->thread_count = leak->thread_count;
    return BBF_OK;
}

/* The event of one place. *at: what was reported of it and is still there; updated. */
static int aged_event(const struct bbf_snap_leak *leak, enum audience audience,
                      struct bbf_reported_place *at, struct batch *batch, uint64_t *more)
{
    struct bbf_snap_leak whole = *leak;
    int err = BBF_OK;

    if (audience == EVERY_SINK && (leak->count <= at->count || batch->n >= EVENTS_A_SECOND))
        return BBF_OK;
    if (audience == NEWCOMER) {
        whole.count = at->count;
        whole.bytes = at->bytes;
    }
    if (whole.count == 0)
        return BBF_OK;
    if (batch->n >= GREETING)
        ++*more;
    else
        err = add_aged_event(batch, &whole, at, audience == EVERY_SINK);
    at->count = whole.count;
    at->bytes = whole.bytes;
    return err;
}

/* An event for each place with aged buffers that the audience does not know yet. Adds to *more the
 * places that got none because of GREETING. */
static int aged_events(const struct bbf_snapshot *s, enum audience audience, struct batch *batch,
                       uint64_t *more)
{
    struct bbf_reported_place *now = calloc(s->n_leaks + 1, sizeof *now);
    int err = now != NULL ? BBF_OK : BBF_ENOMEM;
    size_t n = 0;

    for (size_t i = 0; err == BBF_OK && i < s->n_leaks; i++) {
        const struct bbf_snap_leak *leak = &s->leaks[i];
        if (leak->verdict != BBF_VERDICT_AGED)
            continue;
        struct bbf_reported_place *at = &now[n++];
        *at = (struct bbf_reported_place){.node = s->nodes[leak->node].id,
                                          .memory = (uint8_t)leak->memory,
                                          .lost = (uint8_t)leak->lost};
        const struct bbf_reported_place *before =
            n_reported > 0 ? bsearch(at, reported, n_reported, sizeof *reported, compare_places)
                           : NULL;
        if (before != NULL) {
            at->count = before->count < leak->count ? before->count : leak->count;
            at->bytes = before->bytes < leak->bytes ? before->bytes : leak->bytes;
        }
        err = aged_event(leak, audience, at, batch, more);
    }
    if (err == BBF_OK)
        keep_aged(now, n);
    else
        free(now);
    return err;
}

/* Look at all open buffers. The longer that takes, the later the next look. */
static int look_for_aged(enum audience audience, struct batch *batch, uint64_t *more)
{
    uint64_t begin = bbf_meter_clock();
    struct bbf_snapshot *s = bbf_snapshot_new();
    struct timespec now;
    int err = s != NULL ? bbf_tracker_capture(bbf_agent.tracker, s) : BBF_ENOMEM;

    if (err == BBF_OK)
        err = aged_events(s, audience, batch, more);
    bbf_snapshot_free(s);
    clock_gettime(CLOCK_MONOTONIC, &now);
    aged_at_ns = (uint64_t)(now.tv_sec + AGED_SECONDS) * 1000000000u +
                 AGED_SHARE * (bbf_meter_clock() - begin);
    return err;
}

static void report_aged(JNIEnv *env)
{
    struct batch batch = {0};
    struct timespec now;
    uint64_t more = 0; /* stays 0: a look has fewer events than GREETING */

    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec < aged_at_ns ||
        !bbf_tracker_judges_age(bbf_agent.tracker))
        return;
    if (look_for_aged(EVERY_SINK, &batch, &more) == BBF_OK)
        (void)deliver(env, &batch, NULL);
    free(batch.at);
}

/* ---- once a second, and for a client that begins ---- */

void bbf_watch_poll(JNIEnv *env)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (now.tv_sec == second)
        return;
    second = now.tv_sec;
    if (bbf_events_wanted(BBF_EVENT_LEAK))
        report_leaks(env);
    if (bbf_events_wanted(BBF_EVENT_AGED))
        report_aged(env);
}

/* The totals that were reported of each place, so that the increments that follow fit them. */
static int add_totals(struct batch *batch, uint64_t *more)
{
    for (uint32_t i = 1; i <= bbf_tracker_tombs(bbf_agent.tracker); i++) {
        const struct bbf_tomb *tomb = bbf_tracker_tomb(bbf_agent.tracker, i);
        if (!is_leak(tomb) || tomb->reported == 0)
            continue;
        if (batch->n >= GREETING) {
            ++*more;
            continue;
        }
        struct bbf_event *event = next_event(batch);
        if (event == NULL)
            return BBF_ENOMEM;
        *event = event_of(tomb);
        event->added = event->added_bytes = 0;
        event->count = tomb->reported * event->weight;
        event->bytes = tomb->reported_bytes * event->weight;
    }
    return BBF_OK;
}

/* The sinks that want leaks get what is new first: then the totals are the same for all. */
static void report_before_newcomer(JNIEnv *env)
{
    bbf_events_refresh();
    if (!bbf_events_wanted(BBF_EVENT_LEAK))
        for (uint32_t i = 1; i <= bbf_tracker_tombs(bbf_agent.tracker); i++)
            mark_reported(bbf_tracker_tomb(bbf_agent.tracker, i));
    else
        report_leaks(env);
    if (bbf_events_wanted(BBF_EVENT_AGED)) {
        aged_at_ns = 0;
        report_aged(env);
    }
}

int bbf_watch_begin(JNIEnv *env, struct bbf_buf *text, uint64_t *place)
{
    struct batch leaks = {0}, aged = {0};
    uint64_t more = 0;

    report_before_newcomer(env);
    int err = add_totals(&leaks, &more);
    if (err == BBF_OK && bbf_tracker_judges_age(bbf_agent.tracker))
        err = look_for_aged(bbf_events_wanted(BBF_EVENT_AGED) ? NEWCOMER : FIRST_ONE, &aged, &more);
    if (err == BBF_OK)
        err = deliver(env, &leaks, text);
    if (err == BBF_OK)
        err = deliver(env, &aged, text);
    bbf_sink_live_more(text, more);
    bbf_misuse_each(bbf_sink_live_greet, text);
    bbf_after_release_each(bbf_sink_live_greet, text);
    free(leaks.at);
    free(aged.at);
    *place = bbf_stream_published();
    return err == BBF_OK && text->failed ? BBF_ENOMEM : err;
}

void bbf_watch_end(JNIEnv *env)
{
    if (bbf_events_wanted(BBF_EVENT_LEAK))
        report_leaks(env);
}

void bbf_watch_reset(void)
{
    turn = 0;
    forget_aged();
    bbf_stream_unpublish();
}
