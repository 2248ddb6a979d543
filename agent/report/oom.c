/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/oom.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/events.h"
#include "agent/report/capture.h"
#include "agent/report/file.h"
#include "agent/state.h"
#include "agent/thread.h"
#include "core/err.h"
#include "render/line.h"

enum { PAUSE_S = 60, MOST = 60, LAST = 1024 };

static uint64_t seen;        /* errors that were looked at */
static unsigned written;     /* reports */
static time_t next;          /* CLOCK_MONOTONIC: when the next may be written */
static time_t last_at;       /* the newest report, CLOCK_REALTIME */
static char last_path[LAST]; /* "" = none */

static uint64_t errors(void)
{
    return bbf_tracker_exhausted(bbf_agent.tracker);
}

int bbf_oom_path(struct bbf_buf *out, const char *pattern, char *why, size_t why_size)
{
    struct bbf_buf whole = BBF_BUF_INIT;
    int err = bbf_report_path(&whole, pattern, why, why_size);
    const char *text = bbf_buf_cstr(&whole), *dot = strrchr(text, '.');
    if (err == BBF_OK && dot != NULL)
        bbf_buf_printf(out, "%.*s-oom%s", (int)(dot - text), text, dot);
    bbf_buf_free(&whole);
    return err == BBF_OK && (out->failed || out->len == 0) ? BBF_ENOMEM : err;
}

static void post_errors(uint64_t count)
{
    if (!bbf_events_wanted(BBF_EVENT_OOM))
        return;
    struct bbf_event event = bbf_event_new(BBF_EVENT_OOM);
    event.memory = BBF_MEM_DIRECT;
    event.count = count;
    event.added = count - seen;
    bbf_events_post(&event);
}

/* `why`: why there is none, where the last path is "". */
static void post_report(const char *why)
{
    if (!bbf_events_wanted(BBF_EVENT_OOM_REPORT))
        return;
    struct bbf_event event = bbf_event_new(BBF_EVENT_OOM_REPORT);
    event.memory = BBF_MEM_DIRECT;
    event.count = written;
    event.detail.report.path = last_path[0] != '\0' ? last_path : NULL;
    event.detail.report.why = why;
    bbf_events_post(&event);
}

static void write_report(JNIEnv *env, const struct bbf_options *options)
{
    const char *pattern = options->file;
    struct bbf_buf path = BBF_BUF_INIT;
    struct bbf_snapshot *snapshot = bbf_snapshot_new();
    char why[400] = "";
    int err = bbf_oom_path(&path, pattern, why, sizeof why);
    if (err == BBF_OK) {
        time(&last_at);
        snprintf(last_path, sizeof last_path, "%s", bbf_buf_cstr(&path));
        err = snapshot == NULL ? BBF_ENOMEM : bbf_capture_snapshot(env, snapshot);
        if (err != BBF_OK)
            snprintf(why, sizeof why, "%s", bbf_strerror(err));
    }
    if (err == BBF_OK)
        err = bbf_report_write(snapshot, bbf_buf_cstr(&path),
                               bbf_thread_deadline(options->exit_timeout), why, sizeof why);
    if (err == BBF_OK)
        written++;
    else
        last_path[0] = '\0';
    post_report(why);
    bbf_snapshot_free(snapshot);
    bbf_buf_free(&path);
}

void bbf_oom_poll(JNIEnv *env)
{
    const struct bbf_rules *rules = atomic_load(&bbf_agent.rules);
    struct timespec now;
    if (rules == NULL || atomic_load(&bbf_agent.phase) != BBF_PHASE_IN)
        return;
    uint64_t count = errors();
    if (count == seen)
        return;
    post_errors(count);
    seen = count;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (rules->options.file == NULL || now.tv_sec < next || written >= MOST)
        return;
    next = now.tv_sec + PAUSE_S;
    write_report(env, &rules->options);
}

void bbf_oom_note(struct bbf_buf *out)
{
    uint64_t count = errors();
    if (count > 0)
        bbf_line_oom_note(out, count, last_path[0] != '\0' ? last_path : NULL, last_at, written);
}
