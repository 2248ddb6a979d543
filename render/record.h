/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/record.h - bbflow's events in a flight recording: their types, and one function for each
 * that writes it. The format `jfr` writes them from a snapshot, the agent's jfr= as they happen;
 * jfr/ knows neither buffers nor these types. docs/jfr.md has them for people.
 *
 * A path is a stack trace, last step first, so that flame graphs of JFR tools are flow graphs.
 * Counts are ints and sizes longs with DataAmount, since JMC weighs a flame graph by those only; a
 * count that is larger is written as the largest int.
 *
 * Threads: one owner of the writer at a time. Errors: the writer's. Units: nanoseconds, bytes,
 * counts of buffers. Strings are read during the call only.
 */
#ifndef BBF_RENDER_RECORD_H
#define BBF_RENDER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/writer.h"
#include "snapshot/snapshot.h"

enum {
    BBF_RECORD_ALLOCATIONS = 10000 /* profiler.Malloc events for one bbf_record_allocations() */
};

extern const struct bbf_jfr_schema bbf_record_schema;

/* The steps of a path; the name of a thread may be NULL, and id 0 is no thread. */
struct bbf_record_path {
    const struct bbf_jfr_frame *frames; /* last step first */
    size_t n;
    bool is_cut;
};
struct bbf_record_thread {
    uint64_t id;
    const char *name;
};

/* A step as a frame; class_name "" or NULL (a step of bbflow's own, as ?raced): "bbflow". */
struct bbf_jfr_frame bbf_record_frame(const char *class_name, const char *method,
                                      const char *descriptor);

/* Buffers that were lost or are aged at one place. */
struct bbf_record_leak {
    struct bbf_record_path path;
    struct bbf_record_thread thread; /* that opened most of them */
    uint64_t place;                  /* the same number: the same place */
    enum bbf_verdict verdict;
    enum bbf_memory memory;
    enum bbf_lost lost;
    uint64_t count, bytes;             /* with this event */
    uint64_t total_count, total_bytes; /* so far */
    uint64_t references;               /* 0: not known */
    uint64_t oldest_ns, median_ns;     /* time open; 0: not known */
    uint64_t opened;                   /* how many of them the thread opened, at least */
    uint64_t weight;                   /* above 1: estimates */
};
void bbf_record_leak(struct bbf_jfr_writer *w, uint64_t ticks, const struct bbf_record_leak *leak);

/* Where buffers are or ended. */
struct bbf_record_flow {
    struct bbf_record_path path;
    uint64_t place;
    const struct bbf_snap_node *node;
};
void bbf_record_flow(struct bbf_jfr_writer *w, uint64_t ticks, const struct bbf_record_flow *flow);

/* Buffers of one place that were opened about the same time and ended alike. */
struct bbf_record_life {
    struct bbf_record_path path;
    struct bbf_record_thread thread;
    uint64_t place, opened_ticks, open_ns;
    const char *end; /* "leaked", "held", "harmless", "unknown", "released" */
    enum bbf_memory memory;
    enum bbf_lost lost;
    uint64_t count, bytes;
    uint64_t one_in; /* Life is recorded, at random */
};
void bbf_record_life(struct bbf_jfr_writer *w, const struct bbf_record_life *life);

/*
 * What leak profilers read (profiler.Malloc without its profiler.Free): an event for each of
 * `count` lost buffers, but BBF_RECORD_ALLOCATIONS at most. Then each stands for several, and their
 * sizes still add up to `bytes` (Leak and Life have the true counts). A buffer of unknown size has
 * 1 byte, since 0 would be a release. *number is that of the last life, and grows.
 */
struct bbf_record_lost {
    struct bbf_record_path path;
    struct bbf_record_thread thread;
    uint64_t opened_ticks, count, bytes;
};
void bbf_record_allocations(struct bbf_jfr_writer *w, const struct bbf_record_lost *lost,
                            uint64_t *number);

/* False: no memory for the stack, and nothing is written. */
bool bbf_record_misuse(struct bbf_jfr_writer *w, uint64_t ticks, const struct bbf_snap_misuse *row,
                       struct bbf_record_thread thread);

/* What a recording does not have. */
struct bbf_record_left_out {
    uint64_t dropped;   /* events without room */
    uint64_t short_;    /* buffers whose Life was shorter than lifeThreshold= */
    uint64_t unsampled; /* buffers whose Life lifeSample= did not choose */
};
/* A snapshot's totals. */
void bbf_record_summary(struct bbf_jfr_writer *w, uint64_t ticks,
                        const struct bbf_snapshot *snapshot,
                        const struct bbf_record_left_out *left_out);
/* One buffer in how many is followed. */
static inline uint64_t bbf_record_sample(const struct bbf_snapshot *snapshot)
{
    return snapshot->cost.sample_ > 0 ? snapshot->cost.sample_ : 1;
}

void bbf_record_setting(struct bbf_jfr_writer *w, uint64_t ticks, const char *name,
                        const char *value);
/* Something that is not followed, in a sentence: a note of a report, a class. */
void bbf_record_untracked(struct bbf_jfr_writer *w, uint64_t ticks, const char *what);

#endif
