/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/urgent.h - a report that cannot wait for the JVM's exit: file= is written at once,
 * under a name of its own. At most one a minute and 60 in all, for each cause.
 *
 * Threads: the agent thread; path: any.
 */
#ifndef BBF_AGENT_REPORT_URGENT_H
#define BBF_AGENT_REPORT_URGENT_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "core/buf.h"
#include "core/option.h"

enum { BBF_URGENT_PATH = 1024, BBF_URGENT_WHY = 400 };

/* The reports of one cause; all else is 0 at first. */
struct bbf_urgent {
    const char *suffix;              /* "oom": leaks.json -> leaks-oom.json */
    unsigned written;                /* reports */
    time_t next;                     /* CLOCK_MONOTONIC: when the next may be written */
    time_t last_at;                  /* the newest report, CLOCK_REALTIME */
    char last_path[BBF_URGENT_PATH]; /* "" = none, or the newest attempt failed ... */
    char why[BBF_URGENT_WHY];        /* ... for this reason */
};

/* The name; `pattern` is file=, which has an extension. As bbf_report_path(). */
int bbf_urgent_path(struct bbf_buf *out, const char *pattern, const char *suffix, char *why,
                    size_t why_size);
/* Write file= under that name. False: without file=, or it is too early; nothing was tried. */
bool bbf_urgent_write(JNIEnv *env, const struct bbf_options *options, struct bbf_urgent *urgent);

#endif
