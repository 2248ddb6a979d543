/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/log.h - what bbflow says of itself: one line each, "[bbflow] level: text", to stderr or to
 * the file of option `log`. Never to stdout. Nothing below the level is formatted.
 *
 * A line waits at most 20 ms for room (a pipe that is not read): then it is lost and counted, and
 * the next ones do not wait until one is written, which says how many were lost.
 *
 * Threads: any; a line is one write(2). No allocation.
 */
#ifndef BBF_CORE_LOG_H
#define BBF_CORE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bbf_log_level { BBF_LOG_NONE, BBF_LOG_ERROR, BBF_LOG_WARN, BBF_LOG_INFO, BBF_LOG_DEBUG };

void bbf_log_set_level(enum bbf_log_level level);
/* Append to `path` from now on (core/file.h: bbf_file_append(), its errors, `why`). NULL: stderr,
 * which does not fail. */
int bbf_log_open(const char *path, char *why, size_t why_size);
/* Lines that could not be written: no room in time, or the write failed. */
uint64_t bbf_log_lost(void);
bool bbf_log_enabled(enum bbf_log_level level);
void bbf_log(enum bbf_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
