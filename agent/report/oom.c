/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/oom.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/report/capture.h"
#include "agent/report/file.h"
#include "agent/state.h"
#include "agent/thread.h"
#include "core/err.h"
#include "core/log.h"

enum { PAUSE_S = 60, MOST = 60, LAST = 1024 };

static uint64_t seen;        /* errors that were looked at */
static unsigned written;     /* reports */
static time_t next;          /* CLOCK_MONOTONIC: when the next may be written */
static time_t last_at;       /* the newest report, CLOCK_REALTIME */
static char last_path[LAST]; /* "" = none */

static uint64_t errors(void)
{
    return atomic_load_explicit(bbf_shared_long(bbf_agent.tracker, BBF_L_SHARED_EXHAUSTED),
                                memory_order_relaxed);
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
    if (err == BBF_OK) {
        written++;
    } else {
        last_path[0] = '\0';
        bbf_log(BBF_LOG_ERROR, "direct memory ran out, and no report: %s", why);
    }
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
    if (seen == 0)
        bbf_log(BBF_LOG_WARN, "direct memory ran out");
    seen = count;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (rules->options.file == NULL || now.tv_sec < next || written >= MOST)
        return;
    next = now.tv_sec + PAUSE_S;
    write_report(env, &rules->options);
}

void bbf_oom_note(struct bbf_buf *out)
{
    char when[32];
    struct tm tm;
    uint64_t count = errors();
    if (count == 0)
        return;
    bbf_buf_printf(out, "direct memory ran out: %llu %s", (unsigned long long)count,
                   count == 1 ? "error" : "errors");
    if (last_path[0] == '\0')
        return;
    gmtime_r(&last_at, &tm);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &tm);
    bbf_buf_printf(out, "; %s is how it was at %s (%u %s, at most one a minute)", last_path, when,
                   written, written == 1 ? "report" : "reports");
}
