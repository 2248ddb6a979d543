/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log.h"

#include "core/err.h"
#include "core/file.h"
#include "core/safe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 2048, WAIT_MS = 20 };

/* Relaxed everywhere: a line may come out at the old level or in the old file; nothing else is
 * published through these two. */
static atomic_int level_now = BBF_LOG_ERROR;
static atomic_int fd_now = STDERR_FILENO;
static _Atomic uint64_t lost;     /* in total */
static _Atomic uint64_t lost_now; /* since the last line that was written */

void bbf_log_set_level(enum bbf_log_level level)
{
    atomic_store_explicit(&level_now, (int)level, memory_order_relaxed);
}

bool bbf_log_enabled(enum bbf_log_level level)
{
    return level != BBF_LOG_NONE &&
           (int)level <= atomic_load_explicit(&level_now, memory_order_relaxed);
}

int bbf_log_open(const char *path, char *why, size_t why_size)
{
    int old = atomic_load_explicit(&fd_now, memory_order_relaxed);
    int fd = STDERR_FILENO;

    if (path != NULL) {
        int err = bbf_file_append(path, &fd, why, why_size);
        if (err != BBF_OK)
            return err;
    }
    if (old == STDERR_FILENO) {
        atomic_store_explicit(&fd_now, fd, memory_order_relaxed);
        return BBF_OK;
    }
    /* The old descriptor is redirected and never closed: another thread may be about to write to
     * it, and the application could have got the same number for a file of its own. */
    int done;
    do {
        done = dup3(fd, old, O_CLOEXEC);
    } while (done < 0 && (errno == EINTR || errno == EBUSY));
    int cause = errno;
    if (fd != STDERR_FILENO)
        close(fd);
    if (done < 0)
        snprintf(why, why_size, "%s: %s", path != NULL ? path : "stderr", strerror(cause));
    return done < 0 ? BBF_EIO : BBF_OK;
}

uint64_t bbf_log_lost(void)
{
    return atomic_load_explicit(&lost, memory_order_relaxed);
}

static const char *level_name(enum bbf_log_level level)
{
    static const char *const names[] = {"none", "error", "warn", "info", "debug"};
    return (size_t)level < sizeof names / sizeof names[0] ? names[level] : "?";
}

/* Make it one line without control characters, so that the texts of two threads never mix, a path
 * with a newline cannot forge a line, and a terminal obeys nothing in it. In place: a log line
 * allocates nothing. */
static void keep_to_one_line(char *text, size_t len)
{
    for (char *p = text, *end = text + len; p < end;) {
        uint32_t code;
        size_t n = bbf_utf8_next(p, end, &code);
        bool bad = code == BBF_UTF8_BAD && n == 1;
        if (bad || (code != '\t' && bbf_is_unsafe(code)))
            memset(p, bad ? '?' : ' ', n);
        p += n;
    }
}

/* 4 KiB or less have room in a pipe that poll(2) calls writable. */
static bool write_line(const char *line, size_t len, int wait_ms)
{
    int fd = atomic_load_explicit(&fd_now, memory_order_relaxed);
    ssize_t written;
    if (poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, wait_ms) == 0)
        return false;
    do {
        written = bbf_file_write_some(fd, line, len);
    } while (written < 0 && errno == EINTR);
    return written == (ssize_t)len;
}

static void put(const char *line, size_t len)
{
    uint64_t missing = atomic_exchange_explicit(&lost_now, 0, memory_order_relaxed);
    char text[100];
    if (missing > 0) {
        int n = snprintf(text, sizeof text, "[bbflow] warn: %llu lines could not be written here\n",
                         (unsigned long long)missing);
        if (write_line(text, (size_t)n, 0))
            missing = 0;
    }
    if (missing > 0 || !write_line(line, len, WAIT_MS)) {
        atomic_fetch_add_explicit(&lost_now, missing + 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
    }
}

void bbf_log(enum bbf_log_level level, const char *format, ...)
{
    if (!bbf_log_enabled(level))
        return;
    int saved = errno;
    char line[LINE_MAX_BYTES];
    size_t room = sizeof line - 1; /* one byte is kept for the newline */
    int head = snprintf(line, room, "[bbflow] %s: ", level_name(level));
    size_t len = (size_t)head;

    va_list args;
    va_start(args, format);
    int body = vsnprintf(line + len, room - len, format, args);
    va_end(args);
    if (body > 0 && (size_t)body >= room - len) {
        len = room - 1; /* vsnprintf() wrote its NUL there */
        memcpy(line + len - 3, "...", 3);
    } else if (body > 0) {
        len += (size_t)body;
    }
    keep_to_one_line(line, len);
    line[len++] = '\n';

    put(line, len);
    errno = saved;
}
