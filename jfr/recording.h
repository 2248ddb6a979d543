/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/recording.h - the chunks of a recording one after the other, and which of their events a
 * reader wants.
 *
 * Threads: one reader.
 */
#ifndef BBF_JFR_RECORDING_H
#define BBF_JFR_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "jfr/chunk.h"

/* Where a recording stopped being readable, and why. */
struct bbf_jfr_trouble {
    uint64_t offset;  /* in the recording */
    const char *what; /* constant text; NULL: nothing is wrong */
    uint64_t count;   /* how often a reader continued in spite of something */
};

struct bbf_jfr_recording {
    const unsigned char *bytes;
    size_t len;
    uint64_t at; /* the open chunk */
    size_t n_chunks;
    bool is_open, with_constants;
    struct bbf_jfr_chunk chunk;
    struct bbf_jfr_trouble trouble; /* the first */
};

/* Prepare to read; the bytes stay the caller's. `with_constants`: names and stacks are wanted. */
void bbf_jfr_recording_init(struct bbf_jfr_recording *recording, const unsigned char *bytes,
                            size_t len, bool with_constants);
/*
 * The next chunk, in recording->chunk. 0: there is one; BBF_ENOTFOUND: the end; BBF_EFORMAT: no
 * chunk is where one should be (trouble says what and where; `bbflow jfr repair` finds more);
 * BBF_EVERSION; BBF_ENOMEM.
 */
int bbf_jfr_next_chunk(struct bbf_jfr_recording *recording);
void bbf_jfr_recording_close(struct bbf_jfr_recording *recording);

/* ---- which events ---- */

/* Lists of names as the JDK's tool takes them: "GarbageCollection,jdk.Thread*"; NULL: all. */
struct bbf_jfr_filter {
    const char *events, *categories;
    int64_t from_ns, until_ns; /* since the epoch, by an event's end; 0: no limit */
};

/* Does the filter take this event type? */
bool bbf_jfr_filter_type(const struct bbf_jfr_filter *filter, const struct bbf_jfr_type *type);

/* An event of a chunk by its end, which readers sort by. */
struct bbf_jfr_place_in_time {
    int64_t end_ticks;
    uint64_t offset;
};

/*
 * The events of the open chunk that the filter takes, by the time of their end; as many as *n, the
 * caller's to free. NULL with *n = 0: there are none; with *n = 1: no memory. Events of types that
 * the chunk does not declare are left out and counted in trouble.
 */
struct bbf_jfr_place_in_time *bbf_jfr_sorted_events(struct bbf_jfr_recording *recording,
                                                    const struct bbf_jfr_filter *filter, size_t *n);
/* Ticks at which the event began and ended. */
void bbf_jfr_event_times(const struct bbf_jfr_event *event, int64_t *start, int64_t *end);

#endif
