/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/log.h - bbflow's own messages: one line each, "[bbflow] level: text", to stderr or to the
 * file of option `log`, never to stdout. Messages below the level are not formatted.
 *
 * A line waits at most 20 ms for room (a pipe that is not read). Then it is lost and counted, and
 * later lines do not wait, until one can be written; that line says how many were lost.
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
/* Append to `path` from now on (errors and `why` as for bbf_file_append() of core/file.h). NULL:
 * stderr, which does not fail. */
int bbf_log_open(const char *path, char *why, size_t why_size);
/* The number of lines that could not be written: no room in time, or the write failed. */
uint64_t bbf_log_lost(void);
bool bbf_log_enabled(enum bbf_log_level level);
void bbf_log(enum bbf_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
