/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/event.h - an event: something that happened to buffers; and a sink: a consumer of events.
 *
 * A producer (agent/report/) makes an event once and posts it (agent/events.h); each sink
 * (agent/sinks/) takes what it needs of it. An event and all that it points to is valid while it is
 * offered, and no longer: a sink that works later copies. It has numbers and names, no text;
 * bbf_event_line() has the words, bbf_event_path() the steps.
 *
 * Rules of a sink: offer() never waits for a reader. The events that it keeps are bounded, by an
 * option or a constant that docs/limits.md names; an event without room is dropped, and offer()
 * returns false.
 *
 * A LIFE has `node`, `memory`, `lost`, `count`, `bytes`, `thread` and, as `age_ns`, how long they
 * were open; of released ones memory, bytes and thread are not known. SETTING, SUMMARY and
 * UNTRACKED have `detail` only.
 *
 * Threads: events are posted and offered in the agent thread.
 */
#ifndef BBF_AGENT_EVENT_H
#define BBF_AGENT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/terms.h"
#include "render/path.h"
#include "snapshot/snapshot.h"
#include "trie/tomb.h"

struct bbf_tracker;

enum bbf_event_kind {
    BBF_EVENT_LEAK,       /* lives were lost at one place */
    BBF_EVENT_AGED,       /* lives at one place are open for long */
    BBF_EVENT_MISUSE,     /* a buffer was used after its release, in a way not seen before */
    BBF_EVENT_OOM,        /* direct memory ran out */
    BBF_EVENT_OOM_REPORT, /* what became of the report of that */
    BBF_EVENT_NEAR_LIMIT, /* the cgroup's memory came near its limit */
    /* For recordings; these have no line. */
    BBF_EVENT_LIFE,     /* lives of one place that began together have ended */
    BBF_EVENT_SETTING,  /* an option has this value from now on */
    BBF_EVENT_SUMMARY,  /* totals, now and then */
    BBF_EVENT_UNTRACKED /* something is not followed */
};

/* A set of kinds has this bit for each. */
#define BBF_EVENT_BIT(kind) (1u << (kind))

struct bbf_event {
    enum bbf_event_kind kind;
    int64_t time_ns;       /* since 1970: for people and files */
    uint64_t monotonic_ns; /* CLOCK_MONOTONIC: for order and durations */

    /* The place: the last step of the path, BBF_L_NODE_NONE = not known. */
    const struct bbf_tracker *tracker;
    uint32_t node;
    enum bbf_memory memory;
    enum bbf_lost lost;

    /* How many, of buffers; OOM: of errors. With a weight above 1 they are estimates, because one
     * buffer in that many was followed. */
    uint64_t weight;
    uint64_t count, bytes;       /* so far, at this place */
    uint64_t added, added_bytes; /* since the last event of the place; 0: totals for a newcomer */
    uint64_t age_ns; /* how long the oldest of them was open; whole seconds, 0 = not known */

    uint64_t thread; /* LEAK, AGED: who opened most of them; MISUSE: who used it; 0 = not known */
    uint64_t thread_count;   /* how many of `count` it opened, at least */
    const char *thread_name; /* NULL: not known */

    union {
        const struct bbf_snap_misuse *misuse; /* MISUSE: the row, with its path and the stack */
        struct {
            const char *path; /* of the newest report; NULL: none could be written */
            const char *why;  /* then: the reason, for a person */
        } report;             /* OOM_REPORT */
        struct {
            uint64_t used, limit; /* bytes */
            const char *path;     /* of the report; NULL: none was written */
            const char *why;      /* then: the reason; NULL: there is no file= */
        } near_limit;             /* NEAR_LIMIT */
        struct {
            enum bbf_end end; /* as the garbage collector showed it */
            bool is_released; /* it did not: they were released */
        } life;               /* LIFE */
        struct {
            const char *name, *value;
        } setting;                           /* SETTING */
        const struct bbf_snapshot *snapshot; /* SUMMARY */
        const char *untracked;               /* UNTRACKED: a sentence */
    } detail;
};

/* One place that wants events: a row of the table in agent/events.c. */
struct bbf_sink {
    const char *name;
    /* The kinds (BBF_EVENT_BIT) that it wants from now on. Short; asked once a round. */
    unsigned (*wanted)(void);
    /* Take the event. false: dropped, which is counted. It may also be offered what it wanted until
     * a moment ago. */
    bool (*offer)(const struct bbf_event *event);
    /* Asked after each offer: the records that it lost of events that it took, since the call
     * before. NULL: an event has one record. */
    uint64_t (*lost)(void);
};

/* An event of now, all else 0, node not known, weight 1. */
struct bbf_event bbf_event_new(enum bbf_event_kind kind);

/* The number of a leak that ends at `node` (render/fingerprint.h). */
uint64_t bbf_event_fingerprint(const struct bbf_tracker *tracker, uint32_t node);
/* The steps from `node` up to the root; the names belong to the tracker. */
void bbf_event_path(const struct bbf_tracker *tracker, uint32_t node, struct bbf_path *path);

/* The event as a line for a person, without the line's end; for LEAK and AGED at most 1,023
 * bytes. Nothing for the kinds that have no line. */
void bbf_event_line(struct bbf_buf *out, const struct bbf_event *event);

#endif
