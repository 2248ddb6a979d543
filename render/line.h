/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/line.h - what happened, in one line each: the live stream, the log and every
 * other place that events go to have their words from here.
 *
 * Threads: any; pure. Errors: those of the buffer (sticky). Units: bytes, counts of buffers. No
 * function writes the line's end.
 */
#ifndef BBF_RENDER_LINE_H
#define BBF_RENDER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "core/buf.h"
#include "render/path.h"
#include "snapshot/snapshot.h"

/* Buffers that were lost at one place. */
struct bbf_line_loss {
    enum bbf_verdict verdict;
    enum bbf_memory memory;
    bool estimated;              /* some buffers stand for others that were not followed */
    uint64_t added, added_bytes; /* since the line before; 0: the line has totals only */
    uint64_t count, bytes;       /* so far */
    uint64_t thread;             /* who opened most of them, 0 = not known */
    uint64_t thread_count;       /* how many of `count` */
    const char *thread_name;     /* NULL: the thread has ended and its name is not known */
};

/*
 * "LEAK heap: 3 new buffers (192 bytes), 8 so far (512 bytes), by worker-1: A.a → B.b"; without
 * `added`: "LEAK heap: 8 buffers so far (512 bytes), …". At most 1,023 bytes: of a long path the
 * end is kept, of a long name of a thread the beginning.
 */
void bbf_line_loss(struct bbf_buf *out, const struct bbf_line_loss *loss,
                   const struct bbf_path *path);
/* "LIFE heap: 3 buffers (192 bytes), leaked after 4 s, by worker-1: A.a → B.b": lives that began
 * and ended together, `added` of `loss`. At most 1,023 bytes, as above. */
void bbf_line_life(struct bbf_buf *out, const struct bbf_line_loss *loss, const char *end,
                   uint64_t seconds, const struct bbf_path *path);
/* "STATS 9 lives: 5 released, 2 open (128 bytes), 1 leaked (64 bytes), 0 held, 0 harmless, …" */
void bbf_line_stats(struct bbf_buf *out, const struct bbf_snap_totals *totals);

/* Lives whose path is the same. */
struct bbf_line_flow {
    bool estimated;
    uint64_t added;           /* that ended since the line before; 0: the line has totals only */
    uint64_t ended, released; /* so far */
    uint64_t leaked, open;    /* so far; now */
};
/* "FLOW 3 ended, 12 so far (10 released, 2 leaked), 1 open: A.a → B.b". At most 1,023 bytes. */
void bbf_line_flow(struct bbf_buf *out, const struct bbf_line_flow *flow,
                   const struct bbf_path *path);

/* Places for which a greeting has no room. */
void bbf_line_more_places(struct bbf_buf *out, uint64_t places);

/* Direct memory ran out. */
void bbf_line_oom(struct bbf_buf *out);
/* The report of it: where it is, or (`path` is NULL) why there is none. */
void bbf_line_oom_report(struct bbf_buf *out, const char *path, const char *why);
/* For a report: `count` errors; the newest of `written` reports is `path` (NULL: none), of `at`. */
void bbf_line_oom_note(struct bbf_buf *out, uint64_t count, const char *path, time_t at,
                       unsigned written);

/* "memory: 487.2 MiB of the cgroup's limit of 512.0 MiB in use (95%), report: PATH". `path` NULL:
 * none was written; then `why`: the reason, NULL: none was to be written. */
void bbf_line_limit(struct bbf_buf *out, uint64_t used, uint64_t limit, const char *path,
                    const char *why);
/* For a report: `count` crossings, at most `used` bytes; the newest report is `path` (NULL: none),
 * of `at`. */
void bbf_line_limit_note(struct bbf_buf *out, uint64_t count, uint64_t used, uint64_t limit,
                         const char *path, time_t at);
/* Behind that, or alone: `count` looks were left out, fewer than `descriptors` being free. */
void bbf_line_limit_unseen(struct bbf_buf *out, uint64_t count, unsigned descriptors);

/* For a report: what a sink (agent/event.h) could not take. Nothing if `count` is 0. */
void bbf_line_dropped(struct bbf_buf *out, const char *sink, uint64_t count);

#endif
