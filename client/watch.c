/*
 * client/watch.c - the commands that show whatever an agent sends, ours or a stock BTrace agent's:
 * watch, event, list host:port (client/verbs.h).
 */
#include "client/verbs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "client/connect.h"
#include "client/output.h"
#include "client/show.h"
#include "core/err.h"

enum { WHY = 512, GOODBYE_MS = 2000 };

/* What was shown so far goes out. */
static int put_out(struct bbf_buf *text)
{
    int rc = bbf_output_write(NULL, text);

    text->len = 0;
    return rc;
}

int bbf_verb_probes(const struct bbf_request *request)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_command list;
    struct bbf_conn *conn = NULL;
    char who[BBF_WHO], why[WHY];

    int exit_code = bbf_connect(request, &conn, who);
    if (exit_code != BBF_EXIT_OK)
        return exit_code;
    int rc = bbf_conn_list(conn, BBF_CMD_LIST_PROBES, &list, why, sizeof why);
    if (rc == BBF_OK) {
        bbf_show(&text, &list);
        if (list.n_list == 0)
            fputs("no probe that a client may connect to\n", stderr);
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
    bool failed;
    int exit_code;
};

static void show_answer(void *ctx, const struct bbf_command *command)
{
    struct shown *shown = ctx;

    if (command->type == BBF_CMD_ERROR || (command->type == BBF_CMD_STATUS && !command->flag))
        shown->failed = true;
    if (shown->documents && command->type == BBF_CMD_MESSAGE && command->timestamp_ms == 0)
        bbf_buf_add(&shown->text, command->text[0].s, command->text[0].len);
    else
        bbf_show(&shown->text, command);
    if (shown->text.len > BBF_BUF_PIECE && shown->exit_code == BBF_EXIT_OK)
        shown->exit_code = put_out(&shown->text);
}

/* The words of the question, as one. */
static void join(const struct bbf_request *request, struct bbf_buf *name)
{
    for (size_t i = 0; i < request->n_params; i++) {
        bbf_buf_str(name, i > 0 ? " " : "");
        bbf_buf_str(name, request->params[i]);
    }
}

int bbf_verb_event(const struct bbf_request *request)
{
    struct shown shown = {.text = BBF_BUF_INIT, .documents = request->probe == NULL};
    struct bbf_buf name = BBF_BUF_INIT;
    struct bbf_conn *conn = NULL;
    char who[BBF_WHO], why[WHY];

    if (request->n_params == 0)
        return bbf_fail(BBF_EXIT_USAGE, "event needs a target and a name, as: bbflow event %s help",
                        request->target != NULL ? request->target : "PID");
    int exit_code = bbf_connect(request, &conn, who);
    if (exit_code != BBF_EXIT_OK)
        return exit_code;
    join(request, &name);
    int rc = bbf_conn_ask(conn, request->probe, bbf_buf_cstr(&name), &shown, show_answer, why,
                          sizeof why);
    bbf_conn_close(conn);
    exit_code = shown.exit_code;
    if (exit_code == BBF_EXIT_OK)
        exit_code = put_out(&shown.text);
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

/* A descriptor that can be read once the person has had enough; *old is the mask to go back to. */
static int catch_signals(sigset_t *old)
{
    sigset_t end;

    sigemptyset(&end);
    sigaddset(&end, SIGINT);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGHUP);
    sigprocmask(SIG_BLOCK, &end, old);
    return signalfd(-1, &end, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Until the signal, the end of the stream, or a closed stdout. */
static int follow(struct bbf_conn *conn, int stop_fd, const char *who, bool *over)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_command command;
    char why[WHY];
    int exit_code = BBF_EXIT_OK;

    *over = false;
    while (exit_code == BBF_EXIT_OK && !*over) {
        int rc = bbf_conn_receive_until(conn, stop_fd, &command, why, sizeof why);
        if (rc == BBF_EMORE)
            break;
        *over = true;
        if (rc != BBF_OK) {
            exit_code = bbf_fail(bbf_exit_of(rc), "%s: %s", who, why);
            break;
        }
        bbf_show(&text, &command);
        exit_code = put_out(&text);
        if (command.type == BBF_CMD_EXIT && command.number[0] != 0)
            exit_code = bbf_fail(BBF_EXIT_FAILED, "%s ended the stream with %d", who,
                                 (int)command.number[0]);
        *over = command.type == BBF_CMD_EXIT || command.type == BBF_CMD_DISCONNECT;
        bbf_command_free(&command);
    }
    bbf_buf_free(&text);
    return exit_code;
}

/* DISCONNECT, and what still comes before its answer. The tracker goes on; so whatever goes wrong
 * here is no failure of what was shown. */
static int leave(struct bbf_conn *conn)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_command command = {.type = BBF_CMD_MESSAGE};
    char why[WHY];

    bbf_conn_set_timeout(conn, GOODBYE_MS);
    int rc = bbf_conn_send_text(conn, BBF_CMD_DISCONNECT, "", why, sizeof why);
    for (bool more = true; more && rc == BBF_OK;) {
        rc = bbf_conn_receive(conn, &command, why, sizeof why);
        if (rc != BBF_OK)
            break;
        more = command.type != BBF_CMD_DISCONNECT && command.type != BBF_CMD_EXIT;
        bbf_show(&text, &command);
        bbf_command_free(&command);
    }
    rc = put_out(&text);
    bbf_buf_free(&text);
    return rc;
}

int bbf_verb_watch(const struct bbf_request *request)
{
    struct bbf_conn *conn = NULL;
    char who[BBF_WHO], why[WHY];
    sigset_t old;
    bool over;

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
    int stop_fd = catch_signals(&old);
    if (stop_fd < 0) {
        bbf_conn_close(conn);
        return bbf_fail(BBF_EXIT_FAILED, "signalfd: %s", strerror(errno));
    }
    fprintf(stderr, "following %s; Ctrl-C ends it, and the tracker goes on\n", who);
    exit_code = follow(conn, stop_fd, who, &over);
    struct signalfd_siginfo taken;
    while (read(stop_fd, &taken, sizeof taken) > 0)
        continue;
    sigprocmask(SIG_SETMASK, &old, NULL); /* a second one ends us at once */
    if (!over)
        exit_code = exit_code == BBF_EXIT_OK ? leave(conn) : exit_code;
    close(stop_fd);
    bbf_conn_close(conn);
    return exit_code;
}
