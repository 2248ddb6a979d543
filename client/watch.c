/* SPDX-License-Identifier: Apache-2.0 */
#include "client/watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "client/connect.h"
#include "client/output.h"
#include "client/proc.h"
#include "client/show.h"
#include "client/target.h"
#include "client/print.h"
#include "core/clock.h"
#include "core/err.h"

enum {
    WHY_MAX = 512,
    GOODBYE_MS = 2000,
    ASK_MS = 10000,      /* between two questions to a silent agent */
    PATIENCE_MS = 60000, /* for its answer */
    ENDING_MS = 3000,    /* for a JVM to end after its agent has */
    PAUSE_MS = 50
};

/* Has the reader of stdout gone (| head -1)? */
static bool is_unread(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};

    return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

/* Write the text so far to stdout. */
static int put_out(struct bbf_buf *text)
{
    int rc = bbf_output_write(NULL, text);

    text->len = 0;
    return rc;
}

int bbf_verb_probes(const struct bbf_command_line *request)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_command list;
    struct bbf_conn *conn = NULL;
    char who[BBF_WHO], why[WHY_MAX];

    int exit_code = bbf_connect(request, &conn, who);
    if (exit_code != BBF_EXIT_OK)
        return exit_code;
    int rc = bbf_conn_list(conn, BBF_CMD_LIST_PROBES, &list, why, sizeof why);
    if (rc == BBF_OK) {
        bbf_show(&text, &list);
        if (list.n_list == 0)
            bbf_note("no probe that a client may connect to");
        exit_code = put_out(&text);
        bbf_command_free(&list);
    } else {
        exit_code = bbf_fail(bbf_exit_of(rc), "%s: %s", who, why);
    }
    bbf_conn_close(conn);
    bbf_buf_free(&text);
    return exit_code;
}

/* ---- One question ---------------------------------------------------------------------------- */

struct shown {
    struct bbf_buf text;
    bool documents; /* texts without a time are pieces of one */
    bool exact;     /* it was asked for as JSON */
    bool failed;
    int exit_code;
};

/* Write the text to stdout; after a failure drop it. */
static void put_lines(void *ctx, struct bbf_buf *out)
{
    struct shown *shown = ctx;

    if (shown->exit_code == BBF_EXIT_OK)
        shown->exit_code = bbf_output_lines(out, shown->exact);
    else
        out->len = 0;
}

static void show_answer(void *ctx, const struct bbf_command *command)
{
    struct shown *shown = ctx;

    if (command->type == BBF_CMD_ERROR || (command->type == BBF_CMD_STATUS && !command->flag))
        shown->failed = true;
    if (shown->documents && command->type == BBF_CMD_MESSAGE && command->timestamp_ms == 0)
        bbf_buf_add(&shown->text, command->text[0].s, command->text[0].len);
    else
        bbf_show_to(&(struct bbf_show_to){&shown->text, put_lines, shown}, command);
    if (shown->text.len > BBF_BUF_PIECE && shown->exit_code == BBF_EXIT_OK)
        shown->exit_code = bbf_output_lines(&shown->text, shown->exact);
}

/* Join the words of the question. */
static void join(const struct bbf_command_line *request, struct bbf_buf *name)
{
    for (size_t i = 0; i < request->n_params; i++) {
        bbf_buf_str(name, i > 0 ? " " : "");
        bbf_buf_str(name, request->params[i]);
    }
}

int bbf_verb_event(const struct bbf_command_line *request)
{
    struct shown shown = {.text = BBF_BUF_INIT, .documents = request->probe == NULL};
    struct bbf_buf name = BBF_BUF_INIT;
    struct bbf_conn *conn = NULL;
    char who[BBF_WHO], why[WHY_MAX];

    if (request->n_params == 0)
        return bbf_fail(BBF_EXIT_USAGE, "event needs a target and a name, as: bbflow event %s help",
                        request->target != NULL ? request->target : "PID");
    int exit_code = bbf_connect(request, &conn, who);
    if (exit_code != BBF_EXIT_OK)
        return exit_code;
    join(request, &name);
    shown.exact = shown.documents && (strcmp(bbf_buf_cstr(&name), "json") == 0 ||
                                      strcmp(bbf_buf_cstr(&name), "json gc") == 0);
    int rc = bbf_conn_ask(conn, request->probe, bbf_buf_cstr(&name), &shown, show_answer, why,
                          sizeof why);
    bbf_conn_close(conn);
    exit_code = shown.exit_code;
    if (exit_code == BBF_EXIT_OK)
        exit_code = shown.exact ? bbf_output_exact(NULL, &shown.text) : put_out(&shown.text);
    if (rc != BBF_OK)
        exit_code =
            bbf_fail(bbf_exit_of(rc), "%s, asked for '%s': %s", who, bbf_buf_cstr(&name), why);
    else if (shown.failed)
        exit_code = bbf_fail(BBF_EXIT_REFUSED, "%s refused '%s'", who, bbf_buf_cstr(&name));
    bbf_buf_free(&shown.text);
    bbf_buf_free(&name);
    return exit_code;
}

/* ---- The live stream ------------------------------------------------------------------------- */

/* All events beside the connection: signals, a closed stdout, and a timer for the test whether the
 * agent is still alive. One descriptor has all of them. */
struct ears {
    int all, signals, timer; /* epoll, signalfd, timerfd */
    unsigned every_ms, patience_ms;
    int64_t
        asked_ms; /* time of a question after which the agent sent nothing; 0: no such question */
    unsigned pending; /* questions without an answer yet, whatever else it sent */
    sigset_t before;  /* the mask to restore */
};

enum heard { NOTHING, ENOUGH, LOOK };

static bool listen_to(const struct ears *ears, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};

    return epoll_ctl(ears->all, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* 0 or errno. */
static int open_ears(struct ears *ears, const struct bbf_command_line *request)
{
    sigset_t end;

    ears->patience_ms = request->timeout_ms > 0 ? request->timeout_ms : PATIENCE_MS;
    ears->every_ms = ears->patience_ms < ASK_MS ? ears->patience_ms : ASK_MS;
    ears->asked_ms = 0;
    sigemptyset(&end);
    sigaddset(&end, SIGINT);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGHUP);
    sigprocmask(SIG_BLOCK, &end, &ears->before);
    const struct itimerspec every = {
        .it_value = {ears->every_ms / 1000, ears->every_ms % 1000 * 1000000L},
        .it_interval = {ears->every_ms / 1000, ears->every_ms % 1000 * 1000000L}};
    ears->all = epoll_create1(EPOLL_CLOEXEC);
    ears->signals = signalfd(-1, &end, SFD_CLOEXEC | SFD_NONBLOCK);
    ears->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (ears->all < 0 || ears->signals < 0 || ears->timer < 0 ||
        timerfd_settime(ears->timer, 0, &every, NULL) != 0 ||
        !listen_to(ears, ears->signals, EPOLLIN) || !listen_to(ears, ears->timer, EPOLLIN))
        return errno;
    /* No events are requested: errors and hang-ups come anyway. epoll refuses a plain file, which
     * never closes. */
    (void)listen_to(ears, STDOUT_FILENO, 0);
    return 0;
}

static void close_ears(struct ears *ears)
{
    struct signalfd_siginfo taken;

    while (ears->signals >= 0 && read(ears->signals, &taken, sizeof taken) > 0)
        continue;
    sigprocmask(SIG_SETMASK, &ears->before, NULL); /* a second signal ends the process at once */
    for (int *fd = (int[]){ears->all, ears->signals, ears->timer, -1}; *fd >= 0; fd++)
        close(*fd);
}

static enum heard hear(const struct ears *ears)
{
    struct epoll_event event;
    uint64_t times;

    if (epoll_wait(ears->all, &event, 1, 0) <= 0)
        return NOTHING;
    if (event.data.fd != ears->timer)
        return ENOUGH;
    return read(ears->timer, &times, sizeof times) == sizeof times ? LOOK : NOTHING;
}

/* Test whether the agent is still alive: send LIST_PROBES to bbflow's agent; its answer is not
 * shown. */
static int look(struct bbf_conn *conn, const struct bbf_command_line *request, struct ears *ears,
                const char *who)
{
    const struct bbf_command probes = {.type = BBF_CMD_LIST_PROBES};
    char why[WHY_MAX] = "";

    if (request->probe != NULL)
        return BBF_EXIT_OK; /* a stock agent: TCP's own check must suffice */
    if (ears->asked_ms == 0) {
        int rc = bbf_conn_send(conn, &probes, why, sizeof why);
        ears->asked_ms = bbf_monotonic_ms();
        ears->pending += rc == BBF_OK;
        /* Closed: read the remaining data first, then end. */
        return rc == BBF_OK || rc == BBF_ECLOSED ? BBF_EXIT_OK
                                                 : bbf_fail(bbf_exit_of(rc), "%s: %s", who, why);
    }
    if (bbf_monotonic_ms() < ears->asked_ms + (int64_t)ears->patience_ms)
        return BBF_EXIT_OK;
    snprintf(why, sizeof why, "the connection is lost: no answer for %u ms", ears->patience_ms);
    return bbf_fail_asking(conn, who, BBF_ETIMEOUT, "", why);
}

/* The agent closed the connection: find out why. */
static int say_end(const struct bbf_conn *conn, const struct bbf_command_line *request,
                   const char *who)
{
    pid_t pid = bbf_conn_pid(conn);
    struct bbf_agents agents;
    bool there = false;

    /* The agent ends first, then the JVM. */
    for (unsigned waited = 0; pid != 0 && waited < ENDING_MS; waited += PAUSE_MS) {
        if (bbf_proc_has_ended(pid)) {
            (void)bbf_fail(BBF_EXIT_OK, "%s has ended, and the stream with it", who);
            return BBF_EXIT_OK;
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
    }
    if (pid == 0)
        return bbf_fail(BBF_EXIT_FAILED,
                        "%s: the agent closed the connection: its JVM has ended, bbflow was "
                        "stopped there, or the network failed",
                        who);
    bbf_agents_find(&agents, request->socket);
    for (size_t i = 0; i < agents.count; i++)
        there = there || agents.items[i].pid == pid;
    bbf_agents_free(&agents);
    if (there)
        return bbf_fail(BBF_EXIT_FAILED, "%s: the agent closed the connection", who);
    (void)bbf_fail(BBF_EXIT_OK,
                   "bbflow was stopped in %s, and the stream with it; 'bbflow attach %ld' follows "
                   "again",
                   who, (long)pid);
    return BBF_EXIT_OK;
}

/* Is it the answer to a question of look(), which is not shown? Lines of the stream may come
 * first. */
static bool is_answer(const struct bbf_command *command, struct ears *ears)
{
    if (command->type != BBF_CMD_LIST_PROBES || ears->pending == 0)
        return false;
    ears->pending--;
    return true;
}

static void put_piece(void *ctx, struct bbf_buf *out)
{
    int *exit_code = ctx;

    if (*exit_code == BBF_EXIT_OK && !is_unread())
        *exit_code = put_out(out);
    out->len = 0;
}

/* One command of the stream. *over: it was the last. */
static int take(const struct bbf_command *command, struct ears *ears, struct bbf_buf *text,
                const char *who, bool *over)
{
    int exit_code = BBF_EXIT_OK;

    ears->asked_ms = 0;
    if (is_answer(command, ears))
        return BBF_EXIT_OK;
    bbf_show_to(&(struct bbf_show_to){text, put_piece, &exit_code}, command);
    put_piece(&exit_code, text); /* unread: the next check of the events ends the stream */
    if (command->type == BBF_CMD_EXIT && command->number[0] != 0)
        exit_code =
            bbf_fail(BBF_EXIT_FAILED, "%s ended the stream with %d", who, (int)command->number[0]);
    *over = command->type == BBF_CMD_EXIT || command->type == BBF_CMD_DISCONNECT;
    return exit_code;
}

/* Run until a signal, the end of the stream, or a closed stdout. */
static int follow(struct bbf_conn *conn, const struct bbf_command_line *request, struct ears *ears,
                  const char *who, bool *over)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_command command;
    char why[WHY_MAX];
    int exit_code = BBF_EXIT_OK;

    *over = false;
    while (exit_code == BBF_EXIT_OK && !*over) {
        int rc = bbf_conn_receive_until(conn, ears->all, &command, why, sizeof why);
        if (rc == BBF_OK) {
            exit_code = take(&command, ears, &text, who, over);
            bbf_command_free(&command);
            continue;
        }
        if (rc == BBF_EMORE) {
            enum heard heard = hear(ears);
            if (heard == ENOUGH)
                break;
            exit_code = heard == LOOK ? look(conn, request, ears, who) : BBF_EXIT_OK;
            *over = exit_code != BBF_EXIT_OK;
            continue;
        }
        *over = true;
        exit_code = rc == BBF_ECLOSED ? say_end(conn, request, who)
                                      : bbf_fail(bbf_exit_of(rc), "%s: %s", who, why);
    }
    bbf_buf_free(&text);
    return exit_code;
}

/* Send DISCONNECT, and show what arrives before its answer. The tracker keeps running, so an error
 * here is not a failure of the command. */
static int leave(struct bbf_conn *conn, struct ears *ears)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_command command = {.type = BBF_CMD_MESSAGE};
    char why[WHY_MAX];

    bbf_conn_set_timeout(conn, GOODBYE_MS);
    int rc = bbf_conn_send_text(conn, BBF_CMD_DISCONNECT, "", why, sizeof why);
    for (bool more = true; more && rc == BBF_OK;) {
        rc = bbf_conn_receive(conn, &command, why, sizeof why);
        if (rc != BBF_OK)
            break;
        more = command.type != BBF_CMD_DISCONNECT && command.type != BBF_CMD_EXIT;
        if (!is_answer(&command, ears))
            bbf_show(&text, &command);
        bbf_command_free(&command);
        if (text.len > BBF_BUF_PIECE && bbf_output_lines(&text, false) != BBF_EXIT_OK)
            break;
    }
    rc = is_unread() ? BBF_EXIT_OK : put_out(&text);
    bbf_buf_free(&text);
    return rc;
}

int bbf_verb_watch(const struct bbf_command_line *request)
{
    struct bbf_conn *conn = NULL;
    char who[BBF_WHO], why[WHY_MAX];
    bool over = false;

    int exit_code = bbf_connect(request, &conn, who);
    if (exit_code != BBF_EXIT_OK)
        return exit_code;
    int rc = bbf_conn_bind(conn, request->probe, why, sizeof why);
    if (rc == BBF_OK && request->probe == NULL)
        rc = bbf_conn_send_text(conn, BBF_CMD_EVENT, "watch", why, sizeof why);
    if (rc != BBF_OK) {
        bbf_conn_close(conn);
        return bbf_fail(bbf_exit_of(rc), "%s: %s", who, why);
    }
    struct ears ears = {.all = -1, .signals = -1, .timer = -1};
    int cause = open_ears(&ears, request);
    if (cause != 0) {
        exit_code = bbf_fail(BBF_EXIT_FAILED, "cannot wait for the stream: %s", strerror(cause));
    } else {
        bbf_note("following %s; Ctrl-C ends it, and the agent keeps running", who);
        exit_code = follow(conn, request, &ears, who, &over);
    }
    bool leaves = cause == 0 && !over && exit_code == BBF_EXIT_OK;
    close_ears(&ears);
    if (leaves)
        exit_code = leave(conn, &ears);
    bbf_conn_close(conn);
    return exit_code;
}
