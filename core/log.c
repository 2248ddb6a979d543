#include "core/log.h"

#include "core/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 2048 };

/* Relaxed everywhere: a line may come out at the old level or in the old file; nothing else is
 * published through these two. */
static atomic_int level_now = BBF_LOG_ERROR;
static atomic_int fd_now = STDERR_FILENO;

void bbf_log_set_level(enum bbf_log_level level)
{
    atomic_store_explicit(&level_now, (int)level, memory_order_relaxed);
}

bool bbf_log_enabled(enum bbf_log_level level)
{
    return level != BBF_LOG_NONE &&
           (int)level <= atomic_load_explicit(&level_now, memory_order_relaxed);
}

int bbf_log_open(const char *path)
{
    int old = atomic_load_explicit(&fd_now, memory_order_relaxed);
    int fd = STDERR_FILENO;

    if (path != NULL) {
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
        if (fd < 0)
            return BBF_EIO;
    }
    if (old == STDERR_FILENO) {
        atomic_store_explicit(&fd_now, fd, memory_order_relaxed);
        return BBF_OK;
    }
    /* The old number is never closed: another thread may be about to write to it, and the
     * application could by then have it for a file of its own. It is redirected instead. */
    int done;
    do {
        done = dup3(fd, old, O_CLOEXEC);
    } while (done < 0 && (errno == EINTR || errno == EBUSY));
    int cause = errno;
    if (fd != STDERR_FILENO)
        close(fd);
    errno = cause;
    return done < 0 ? BBF_EIO : BBF_OK;
}

static const char *level_name(enum bbf_log_level level)
{
    static const char *const names[] = {"none", "error", "warn", "info", "debug"};
    return (size_t)level < sizeof names / sizeof names[0] ? names[level] : "?";
}

/* One line, so that two threads' texts never mix and a path with a newline forges no line. */
static void keep_to_one_line(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] < ' ' && text[i] != '\t')
            text[i] = ' ';
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

    ssize_t written;
    do {
        written = write(atomic_load_explicit(&fd_now, memory_order_relaxed), line, len);
    } while (written < 0 && errno == EINTR);
    errno = saved;
}
