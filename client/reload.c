/* SPDX-License-Identifier: Apache-2.0 */
#include "client/reload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/connect.h"
#include "client/proc.h"
#include "client/target.h"
#include "client/verbs.h"
#include "core/clock.h"
#include "core/err.h"
#include "render/render.h"

enum { PIECE = 1 << 16, WHY_MAX = 512, SHARE = 4, MESSAGE_MOST = 1 << 16 };

/* ---- the child ---- */

/* Only what `bbflow dump` would have: its own pipes, and no handler of a terminal's library. */
static void become_reader(int out, int err, pid_t parent)
{
    static const int signals[] = {SIGINT,   SIGTERM, SIGHUP,  SIGQUIT, SIGTSTP,
                                  SIGWINCH, SIGCONT, SIGPIPE, SIGCHLD};
    sigset_t none;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(BBF_EXIT_FAILED);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        (void)signal(signals[i], SIG_DFL);
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(err, STDERR_FILENO) < 0)
        _exit(BBF_EXIT_FAILED);
    /* A connection that the parent closes must not stay open here. An old kernel has no such call;
     * then they end with this process. */
    (void)syscall(SYS_close_range, 3u, ~0u, 0u);
    bbf_screen_set(&(struct bbf_screen_flags){.color = BBF_COLOR_NEVER});
}

static void read_it(const struct bbf_command_line *request, const char *format, bool gc)
{
    struct bbf_command_line dump = *request;

    dump.verb = "dump";
    dump.format = format;
    dump.output = NULL;
    dump.gc = gc;
    int exit_code = bbf_verb_read(&dump);
    (void)fflush(NULL);
    _exit(exit_code);
}

/* ---- the parent ---- */

static bool fail(struct bbf_reload *reload, int error)
{
    reload->message.len = 0;
    bbf_buf_printf(&reload->message, "no process to read a snapshot: %s", strerror(error));
    return false;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

bool bbf_reload_start(struct bbf_reload *reload, const struct bbf_command_line *request,
                      const char *format, bool gc)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    pid_t self = getpid();

    reload->document.len = reload->message.len = 0;
    reload->out = reload->err = -1;
    reload->began_ms = bbf_monotonic_ms();
    (void)fflush(NULL); /* nothing may be written twice */
    pid_t pid = pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0 ? fork() : -1;
    int error = errno;
    if (pid == 0) {
        become_reader(out[1], err[1], self);
        read_it(request, format, gc);
    }
    close_end(&out[1]);
    close_end(&err[1]);
    if (pid < 0) {
        close_end(&out[0]);
        close_end(&err[0]);
        return fail(reload, error);
    }
    (void)fcntl(out[0], F_SETFL, O_NONBLOCK);
    (void)fcntl(err[0], F_SETFL, O_NONBLOCK);
    reload->pid = pid;
    reload->out = out[0];
    reload->err = err[0];
    return true;
}

/* Take what is there; at its end close it. */
static void take(int *fd, struct bbf_buf *to, size_t most)
{
    char rest[256];

    while (*fd >= 0) {
        const bool full = to->len >= most;
        char *room = full ? rest : bbf_buf_reserve(to, PIECE);
        ssize_t got = room == NULL ? 0 : read(*fd, room, full ? sizeof rest : PIECE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0)
            close_end(fd);
        else if (!full)
            to->len += (size_t)got;
    }
}

bool bbf_reload_more(struct bbf_reload *reload)
{
    take(&reload->out, &reload->document, SIZE_MAX);
    take(&reload->err, &reload->message, MESSAGE_MOST);
    return reload->out >= 0 || reload->err >= 0;
}

/* Of what was printed the first message: "bbflow: WHY\n..." -> "WHY". */
static void cut_message(struct bbf_buf *message, int exit_code)
{
    static const char prefix[] = "bbflow: ";
    const size_t skip = sizeof prefix - 1;
    const char *text = bbf_buf_cstr(message);
    const char *found = strstr(text, prefix);

    if (found == NULL) {
        message->len = 0;
        bbf_buf_printf(message, "the snapshot could not be read (exit code %d)", exit_code);
        return;
    }
    size_t len = strcspn(found + skip, "\n");
    memmove(message->data, found + skip, len);
    message->len = len;
}

static int wait_for(struct bbf_reload *reload)
{
    int status = 0;

    while (waitpid(reload->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    reload->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : BBF_EXIT_FAILED;
}

int bbf_reload_end(struct bbf_reload *reload)
{
    int exit_code = wait_for(reload);

    reload->took_ms = bbf_monotonic_ms() - reload->began_ms;
    if (exit_code != BBF_EXIT_OK) {
        cut_message(&reload->message, exit_code);
        return exit_code;
    }
    reload->message.len = 0;
    if (!reload->document.failed)
        return BBF_EXIT_OK;
    bbf_buf_str(&reload->message, bbf_strerror(BBF_ENOMEM));
    return BBF_EXIT_FAILED;
}

int bbf_reload_end_snapshot(struct bbf_reload *reload, struct bbf_snapshot **snapshot)
{
    char why[WHY_MAX] = "";
    int exit_code = bbf_reload_end(reload);

    *snapshot = NULL;
    if (exit_code != BBF_EXIT_OK)
        return exit_code;
    int rc = bbf_snapshot_from_json(snapshot, bbf_buf_cstr(&reload->document), reload->document.len,
                                    why, sizeof why);
    if (rc == BBF_OK)
        return BBF_EXIT_OK;
    *snapshot = NULL;
    bbf_buf_str(&reload->message, why[0] != '\0' ? why : bbf_strerror(rc));
    return BBF_EXIT_FAILED;
}

void bbf_reload_free(struct bbf_reload *reload)
{
    if (reload->pid > 0) {
        (void)kill(reload->pid, SIGKILL);
        (void)wait_for(reload);
        close_end(&reload->out);
        close_end(&reload->err);
    }
    bbf_buf_free(&reload->document);
    bbf_buf_free(&reload->message);
}

int64_t bbf_reload_next(const struct bbf_reload *reload, int64_t interval_ms)
{
    const int64_t least = SHARE * reload->took_ms;

    return reload->began_ms + reload->took_ms + (interval_ms > least ? interval_ms : least);
}

void bbf_reload_pin(struct bbf_command_line *request, int64_t pid, char text[BBF_PID_TEXT])
{
    /* In a container the JVM's own id is another process's here, or none's. */
    if (request->target != NULL || pid <= 0 || pid > INT_MAX ||
        bbf_proc_kind_of((pid_t)pid, NULL) != BBF_PROC_AGENT)
        return;
    snprintf(text, BBF_PID_TEXT, "%lld", (long long)pid);
    request->target = text;
}

bool bbf_reload_jvm_ended(const struct bbf_command_line *request, int64_t pid)
{
    const char *target = request->target;

    if (target != NULL && (bbf_target_is_file(target) || bbf_is_remote(target, NULL, 0, NULL)))
        return false;
    if (target != NULL && target[strspn(target, "0123456789")] == '\0') {
        pid_t asked = (pid_t)strtol(target, NULL, 10); /* in a container the JVM has another one */
        return bbf_proc_has_ended(asked);
    }
    return pid > 0 && pid <= INT_MAX && bbf_proc_has_ended((pid_t)pid);
}
