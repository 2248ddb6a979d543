/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/urgent.h"

#include <stdio.h>
#include <string.h>

#include "agent/report/capture.h"
#include "agent/report/file.h"
#include "agent/thread.h"
#include "core/err.h"

enum { PAUSE_S = 60, REPORTS_MAX = 60 };

int bbf_urgent_path(struct bbf_buf *out, const char *pattern, const char *suffix, char *why,
                    size_t why_size)
{
    struct bbf_buf whole = BBF_BUF_INIT;
    int err = bbf_report_path(&whole, pattern, why, why_size);
    const char *text = bbf_buf_cstr(&whole), *dot = strrchr(text, '.');
    if (err == BBF_OK && dot != NULL)
        bbf_buf_printf(out, "%.*s-%s%s", (int)(dot - text), text, suffix, dot);
    bbf_buf_free(&whole);
    return err == BBF_OK && (out->failed || out->len == 0) ? BBF_ENOMEM : err;
}

static void write_report(JNIEnv *env, const struct bbf_options *options, struct bbf_urgent *u)
{
    struct bbf_buf path = BBF_BUF_INIT;
    struct bbf_snapshot *snapshot = bbf_snapshot_new();
    u->why[0] = '\0';
    int err = bbf_urgent_path(&path, options->file, u->suffix, u->why, sizeof u->why);
    if (err == BBF_OK) {
        time(&u->last_at);
        snprintf(u->last_path, sizeof u->last_path, "%s", bbf_buf_cstr(&path));
        err = snapshot == NULL ? BBF_ENOMEM : bbf_capture_snapshot(env, snapshot);
        if (err != BBF_OK)
            snprintf(u->why, sizeof u->why, "%s", bbf_strerror(err));
    }
    if (err == BBF_OK)
        err = bbf_report_write(snapshot, bbf_buf_cstr(&path),
                               bbf_thread_deadline(options->exit_timeout), u->why, sizeof u->why);
    if (err == BBF_OK)
        u->written++;
    else
        u->last_path[0] = '\0';
    bbf_snapshot_free(snapshot);
    bbf_buf_free(&path);
}

bool bbf_urgent_write(JNIEnv *env, const struct bbf_options *options, struct bbf_urgent *u)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (options->file == NULL || now.tv_sec < u->next || u->written >= REPORTS_MAX)
        return false;
    u->next = now.tv_sec + PAUSE_S;
    write_report(env, options, u);
    return true;
}
