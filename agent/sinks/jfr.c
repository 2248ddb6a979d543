/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/report/file.h"
#include "agent/sinks/disk.h"
#include "agent/sinks/sinks.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/log.h"
#include "render/record.h"

enum {
    REASON = PATH_MAX + 300,
    CHUNK = 4 << 20, /* bytes; smaller than the default, because its constants are in memory */
    RETRY_SECONDS = 10,
    END_MS = 1000 /* for the disk, where `jfr=` is changed */
};

/* Agent thread. */
static struct {
    char *asked; /* the value of jfr= that was looked at last; NULL: none */
    struct bbf_disk *disk;
    struct bbf_jfr_writer writer;
    uint64_t file_ns;                    /* CLOCK_MONOTONIC: when this file was begun */
    uint64_t flush_s;                    /* second of the last flush */
    uint64_t retry_ns;                   /* after an error: when to try again; 0: there was none */
    uint64_t lives;                      /* numbers given out */
    struct bbf_record_left_out left_out; /* since the start */
    uint64_t least_ns;                   /* lifeThreshold= */
    uint64_t one_in;                     /* lifeSample= */
    uint64_t random;                     /* xorshift64 (Marsaglia 2003); never 0 */
    uint64_t half;                       /* bytes of a file */
    char why[REASON];                    /* why nothing is recorded */
} now;

static uint64_t monotonic(void)
{
    return bbf_clock_ns(CLOCK_MONOTONIC);
}

/* ---- the file ---- */

static int to_disk(void *ctx, const char *data, size_t len)
{
    (void)ctx;
    return bbf_disk_append(now.disk, data, len);
}

static int patch_disk(void *ctx, uint64_t at, const char *data, size_t len)
{
    (void)ctx;
    return bbf_disk_patch(now.disk, at, data, len);
}

static void commit(void)
{
    bbf_disk_commit(now.disk, now.writer.file_bytes);
}

static uint64_t half_of(const struct bbf_options *options)
{
    return options->jfr_max_size / 2;
}

static int begin_writer(const struct bbf_options *options)
{
    uint64_t ticks = monotonic();
    now.half = half_of(options);
    const struct bbf_jfr_config config = {.schema = bbf_record_schema,
                                          .output = {to_disk, patch_disk, NULL},
                                          .chunk_bytes =
                                              now.half / 2 < CHUNK ? now.half / 2 : CHUNK,
                                          .start_ns = bbf_clock_ns(CLOCK_REALTIME),
                                          .start_ticks = ticks};
    int err = bbf_jfr_writer_init(&now.writer, &config);
    if (err == BBF_OK)
        bbf_jfr_begin_chunk(&now.writer, ticks);
    if (err == BBF_OK)
        commit();
    now.file_ns = ticks;
    now.random |= ticks | 1;
    now.flush_s = ticks / BBF_CLOCK_SECOND;
    now.retry_ns = 0;
    return err;
}

/* "x.jfr" -> "x.1.jfr". */
static int name_files(const char *pattern, struct bbf_buf *path, struct bbf_buf *previous,
                      char *why, size_t why_size)
{
    static const char end[] = ".jfr";
    enum { END = sizeof end - 1 };
    int err = bbf_report_path(path, pattern, why, why_size);
    const char *text = bbf_buf_cstr(path);

    if (err == BBF_OK && (path->len <= END || strcmp(text + path->len - END, end) != 0)) {
        snprintf(why, why_size, "%.200s does not end with .jfr, which the JDK's jfr wants", text);
        err = BBF_EINVAL;
    }
    if (err == BBF_OK)
        bbf_buf_printf(previous, "%.*s.1%s", (int)(path->len - END), text, end);
    return err == BBF_OK && previous->failed ? BBF_ENOMEM : err;
}

int bbf_sink_jfr_check(const char *pattern, char *why, size_t why_size)
{
    struct bbf_buf path = BBF_BUF_INIT, previous = BBF_BUF_INIT;
    int err = name_files(pattern, &path, &previous, why, why_size);

    if (err == BBF_OK)
        err = bbf_file_check(bbf_buf_cstr(&path), why, why_size);
    int cause = errno; /* the caller's */
    bbf_buf_free(&path);
    bbf_buf_free(&previous);
    errno = cause;
    return err;
}

static int open_file(const struct bbf_options *options, char *why, size_t why_size)
{
    struct bbf_buf path = BBF_BUF_INIT, previous = BBF_BUF_INIT;
    int err = name_files(options->jfr, &path, &previous, why, why_size);

    if (err == BBF_OK)
        err = bbf_disk_open(&now.disk, bbf_buf_cstr(&path), bbf_buf_cstr(&previous), why, why_size);
    if (err == BBF_OK)
        err = begin_writer(options);
    bbf_buf_free(&path);
    bbf_buf_free(&previous);
    return err;
}

/* ---- errors ---- */

/* Logged once for each row of failures. */
static void failed(const char *why)
{
    if (now.retry_ns == 0)
        bbf_log(BBF_LOG_ERROR, "jfr: nothing is recorded: %s; tried again each %d s", why,
                RETRY_SECONDS);
    snprintf(now.why, sizeof now.why, "%s", why);
    now.retry_ns = monotonic() + RETRY_SECONDS * BBF_CLOCK_SECOND;
}

/* It was not the disk that failed: what is queued is written, and the rest goes to a new file. */
static void leave_file(void)
{
    (void)bbf_disk_close(now.disk, END_MS);
    now.disk = NULL;
    bbf_jfr_writer_free(&now.writer);
}

static void retry(const struct bbf_options *options)
{
    char why[REASON] = "";
    uint64_t kept = 0;

    if (now.disk != NULL && !bbf_disk_failed(now.disk, &kept, why, sizeof why))
        leave_file();
    if (now.disk == NULL) {
        if (open_file(options, why, sizeof why) != BBF_OK)
            failed(why);
        return;
    }
    bbf_disk_resume(now.disk, &kept);
    if (bbf_disk_failed(now.disk, &kept, why, sizeof why)) {
        failed(why);
        return;
    }
    bbf_jfr_continue(&now.writer, kept);
    now.retry_ns = 0;
    bbf_jfr_begin_chunk(&now.writer, monotonic());
    commit();
}

/* Did the disk fail since the last look? */
static bool has_failed(void)
{
    char why[REASON] = "";
    uint64_t kept;

    if (now.retry_ns != 0)
        return true;
    if (bbf_disk_failed(now.disk, &kept, why, sizeof why)) {
        failed(why);
        return true;
    }
    int err = bbf_jfr_writer_error(&now.writer);
    if (err != BBF_OK)
        failed(bbf_strerror(err));
    return err != BBF_OK;
}

/* ---- events ---- */

static struct bbf_jfr_frame frames[BBF_PATH_STEPS];

static struct bbf_record_path path_of(const struct bbf_event *event)
{
    struct bbf_path path;

    bbf_event_path(event->tracker, event->node, &path);
    for (size_t i = 0; i < path.n; i++)
        frames[i] = bbf_record_frame(path.steps[i].class_name, path.steps[i].method, "");
    return (struct bbf_record_path){.frames = frames, .n = path.n, .is_cut = path.cut};
}

static struct bbf_record_thread thread_of(const struct bbf_event *event)
{
    return (struct bbf_record_thread){.id = event->thread, .name = event->thread_name};
}

static void put_leak(const struct bbf_event *event)
{
    const struct bbf_record_leak leak = {
        .path = path_of(event),
        .thread = thread_of(event),
        .place = event->node,
        .verdict = event->kind == BBF_EVENT_AGED ? BBF_VERDICT_AGED : BBF_VERDICT_LEAKED,
        .memory = event->memory,
        .lost = event->lost,
        .count = event->added,
        .bytes = event->added_bytes,
        .total_count = event->count,
        .total_bytes = event->bytes,
        .oldest_ns = event->age_ns,
        .opened = event->thread_count,
        .weight = event->weight,
        .fingerprint = bbf_event_fingerprint(event->tracker, event->node)};

    bbf_record_leak(&now.writer, event->monotonic_ns, &leak);
}

/* One in `n`, at random. A bias of 2^-44 at most. */
static bool is_chosen(uint64_t n)
{
    now.random ^= now.random << 13;
    now.random ^= now.random >> 7;
    now.random ^= now.random << 17;
    return n < 2 || now.random % n == 0;
}

/* Counts the buffers of a life that is not to be recorded. */
static bool is_life_wanted(const struct bbf_event *event)
{
    if (event->age_ns < now.least_ns)
        now.left_out.short_ += event->count;
    else if (!is_chosen(now.one_in))
        now.left_out.unsampled += event->count;
    else
        return true;
    return false;
}

static const char *end_of(const struct bbf_event *event)
{
    static const char *const ends[] = {[BBF_END_LEAKED] = "leaked",
                                       [BBF_END_HELD] = "held",
                                       [BBF_END_HARMLESS] = "harmless",
                                       [BBF_END_UNKNOWN] = "unknown"};
    return event->detail.life.is_released ? "released" : ends[event->detail.life.end];
}

static void put_life(const struct bbf_event *event)
{
    const struct bbf_record_life life = {.path = path_of(event),
                                         .thread = thread_of(event),
                                         .place = event->node,
                                         .opened_ticks = event->monotonic_ns > event->age_ns
                                                             ? event->monotonic_ns - event->age_ns
                                                             : 0,
                                         .open_ns = event->age_ns,
                                         .end = end_of(event),
                                         .memory = event->memory,
                                         .lost = event->lost,
                                         .count = event->count,
                                         .bytes = event->bytes,
                                         .one_in = now.one_in};
    const struct bbf_record_lost lost = {.path = life.path,
                                         .thread = life.thread,
                                         .opened_ticks = life.opened_ticks,
                                         .count = event->count,
                                         .bytes = event->bytes};

    if (is_life_wanted(event))
        bbf_record_life(&now.writer, &life);
    if (!event->detail.life.is_released && event->detail.life.end == BBF_END_LEAKED)
        bbf_record_allocations(&now.writer, &lost, &now.lives);
}

static void put_event(const struct bbf_event *event)
{
    switch (event->kind) {
    case BBF_EVENT_LEAK:
    case BBF_EVENT_AGED:
        put_leak(event);
        break;
    case BBF_EVENT_LIFE:
        put_life(event);
        break;
    case BBF_EVENT_MISUSE:
        (void)bbf_record_misuse(&now.writer, event->monotonic_ns, event->detail.misuse,
                                thread_of(event));
        break;
    case BBF_EVENT_SETTING:
        bbf_record_setting(&now.writer, event->monotonic_ns, event->detail.setting.name,
                           event->detail.setting.value);
        break;
    case BBF_EVENT_SUMMARY:
        bbf_record_summary(&now.writer, event->monotonic_ns, event->detail.snapshot, &now.left_out);
        break;
    case BBF_EVENT_UNTRACKED:
        bbf_record_untracked(&now.writer, event->monotonic_ns, event->detail.untracked);
        break;
    case BBF_EVENT_OOM:
    case BBF_EVENT_OOM_REPORT:
    case BBF_EVENT_NEAR_LIMIT:
        break;
    }
}

static unsigned wanted(void)
{
    return now.disk == NULL
               ? 0
               : BBF_EVENT_BIT(BBF_EVENT_LEAK) | BBF_EVENT_BIT(BBF_EVENT_AGED) |
                     BBF_EVENT_BIT(BBF_EVENT_MISUSE) | BBF_EVENT_BIT(BBF_EVENT_LIFE) |
                     BBF_EVENT_BIT(BBF_EVENT_SETTING) | BBF_EVENT_BIT(BBF_EVENT_SUMMARY) |
                     BBF_EVENT_BIT(BBF_EVENT_UNTRACKED);
}

static bool offer(const struct bbf_event *event)
{
    if (now.disk == NULL)
        return true;
    bool taken = !has_failed() && bbf_disk_has_room(now.disk) &&
                 bbf_jfr_pending(&now.writer) < BBF_SINK_JFR_PENDING;
    if (taken)
        put_event(event);
    taken = taken && bbf_jfr_writer_error(&now.writer) == BBF_OK;
    now.left_out.dropped += !taken;
    return taken;
}

const struct bbf_sink bbf_sink_jfr = {"jfr", wanted, offer, NULL};

/* ---- once a second ---- */

/* Is it time for a new file? */
static bool is_full(const struct bbf_options *options, uint64_t ticks)
{
    uint64_t age = options->jfr_max_age * BBF_CLOCK_SECOND;

    return bbf_jfr_written(&now.writer) + bbf_jfr_pending(&now.writer) >= half_of(options) ||
           (age != 0 && ticks - now.file_ns >= age);
}

static void turn_file(uint64_t ticks)
{
    (void)bbf_jfr_finish_chunk(&now.writer, ticks, true);
    (void)bbf_disk_next_file(now.disk);
    bbf_jfr_continue(&now.writer, 0);
    bbf_jfr_begin_chunk(&now.writer, ticks);
    now.file_ns = ticks;
}

void bbf_sink_jfr_poll(const struct bbf_options *options)
{
    uint64_t ticks = monotonic();

    if (now.asked == NULL || options == NULL || now.flush_s == ticks / BBF_CLOCK_SECOND)
        return;
    now.flush_s = ticks / BBF_CLOCK_SECOND;
    if (now.disk == NULL ? now.retry_ns != 0 : has_failed()) {
        if (ticks >= now.retry_ns)
            retry(options);
        return;
    }
    if (now.disk == NULL || !bbf_disk_has_room(now.disk))
        return; /* later: what is pending stays, and is bounded */
    (void)bbf_jfr_flush(&now.writer, ticks);
    if (is_full(options, ticks))
        turn_file(ticks);
    commit();
}

/* ---- begin and end ---- */

void bbf_sink_jfr_end(unsigned timeout_ms)
{
    if (now.disk != NULL && now.retry_ns == 0) {
        (void)bbf_jfr_finish(&now.writer, monotonic());
        commit();
    }
    if (now.disk != NULL) {
        bool was_good = now.retry_ns == 0;
        if (!bbf_disk_close(now.disk, timeout_ms) && was_good)
            bbf_log(BBF_LOG_ERROR,
                    "jfr: the disk did not take all of %s; 'bbflow jfr repair' "
                    "has what it took",
                    now.asked);
        bbf_jfr_writer_free(&now.writer);
    }
    now.disk = NULL;
    now.retry_ns = 0;
    now.why[0] = '\0';
    free(now.asked);
    now.asked = NULL;
}

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

int bbf_sink_jfr_apply(const struct bbf_options *options, char *why, size_t why_size)
{
    const char *asked = options != NULL ? options->jfr : NULL;
    int err = BBF_OK;

    now.least_ns = asked != NULL ? options->jfr_life_age * BBF_CLOCK_SECOND : 0;
    now.one_in = asked != NULL ? options->jfr_life_share : 1;
    if (is_same(asked, now.asked)) {
        if (now.retry_ns != 0)
            snprintf(why, why_size, "%s", now.why);
        return now.retry_ns != 0 ? BBF_EIO : BBF_OK;
    }
    bbf_sink_jfr_end(END_MS);
    if (asked == NULL)
        return BBF_OK;
    now.asked = strdup(asked);
    err = now.asked != NULL ? open_file(options, why, why_size) : BBF_ENOMEM;
    if (err != BBF_OK)
        failed(why[0] != '\0' ? why : bbf_strerror(err));
    return err;
}

void bbf_sink_jfr_note(struct bbf_buf *out)
{
    if (now.retry_ns != 0)
        bbf_buf_printf(out, "jfr: nothing is recorded: %s", now.why);
}
