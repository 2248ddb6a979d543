/*
 * core/log.h - what bbflow says of itself: one line each, "[bbflow] level: text", to stderr or to
 * the file of option `log`. Never to stdout. Nothing below the level is formatted.
 *
 * Called by: agent (never from a hook of an instrumented method). Threads: any; a line is one
 * write(2). No allocation.
 */
#ifndef BBF_CORE_LOG_H
#define BBF_CORE_LOG_H

#include <stdbool.h>

enum bbf_log_level { BBF_LOG_NONE, BBF_LOG_ERROR, BBF_LOG_WARN, BBF_LOG_INFO, BBF_LOG_DEBUG };

void bbf_log_set_level(enum bbf_log_level level);
/* Append to `path` from now on (O_CLOEXEC). NULL: stderr. 0 or BBF_EIO with errno kept. */
int bbf_log_open(const char *path);
bool bbf_log_enabled(enum bbf_log_level level);
void bbf_log(enum bbf_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
