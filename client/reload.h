/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/reload.h - reads a snapshot again and again, for a screen that must answer meanwhile. A
 * child process asks the JVM or reads the file: so it can be stopped at any moment, what it would
 * print is a message here, and its memory is gone afterwards.
 *
 * Threads: one; no other thread may run when bbf_reload_start() is called. Units: milliseconds.
 */
#ifndef BBF_CLIENT_RELOAD_H
#define BBF_CLIENT_RELOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/client.h"
#include "core/buf.h"
#include "snapshot/snapshot.h"

struct bbf_reload {
    pid_t pid;    /* 0: nothing is read now */
    int out, err; /* to poll for input; -1: closed */
    struct bbf_buf document;
    struct bbf_buf message; /* why it failed: one line, safe for a terminal */
    int64_t began_ms, took_ms;
};

/*
 * Without a target the request is for the one JVM that has the agent. Name it, so that the next
 * read is of the same one, also when there are others by then; `text` is the target's room.
 */
enum { BBF_PID_TEXT = 24 };
void bbf_reload_pin(struct bbf_command_line *request, int64_t pid, char text[BBF_PID_TEXT]);

/* What to read is `request`, what to make of it `format`, as -f has it; `gc`: request a garbage
 * collection first. False: no process could be made, and `message` says why. */
bool bbf_reload_start(struct bbf_reload *reload, const struct bbf_command_line *request,
                      const char *format, bool gc);

/* Take what has come, without waiting. False: that was all; call bbf_reload_end(). */
bool bbf_reload_more(struct bbf_reload *reload);

/* The text is in `document` until the next start, if the exit code is 0; otherwise `message` says
 * why. */
int bbf_reload_end(struct bbf_reload *reload);

/* The same of the format json: also the snapshot, which the caller frees; NULL after a failure. */
int bbf_reload_end_snapshot(struct bbf_reload *reload, struct bbf_snapshot **snapshot);

/* Stop what is read now, if anything, and free the memory. */
void bbf_reload_free(struct bbf_reload *reload);

/* When to read again after the last time: after `interval_ms`, but at most a fifth of the time is
 * spent with reading. On bbf_monotonic_ms()'s clock. */
int64_t bbf_reload_next(const struct bbf_reload *reload, int64_t interval_ms);

/*
 * Has the JVM of the request ended, as far as this machine's /proc shows? Only for a JVM of this
 * machine; `pid`: as the snapshot has it.
 */
bool bbf_reload_jvm_ended(const struct bbf_command_line *request, int64_t pid);

#endif
