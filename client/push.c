/* SPDX-License-Identifier: Apache-2.0 */
#include "client/push.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "client/http.h"
#include "client/load.h"
#include "client/output.h"
#include "client/print.h"
#include "client/progress.h"
#include "client/push_body.h"
#include "client/push_flags.h"
#include "client/target.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "render/render.h"
#include "snapshot/since.h"

enum {
    WHY_MAX = 512,
    ATTEMPTS = 5,
    FIRST_WAIT_MS = 500, /* doubled after each attempt */
    WAIT_MAX_MS = 30000, /* also of what Retry-After asks for */
    TIMEOUT_MS = 60000,  /* of one attempt */
    CONNECT_MS = 5000
};

struct push {
    const struct bbf_command_line *request;
    struct bbf_push_flags flags;
    struct bbf_curl curl;
    struct bbf_snapshot *before; /* what arrived last; NULL: nothing */
    uint64_t next_ns;            /* --every: when the next push is due */
    bool is_later;               /* not the first push */
    bool has_failed;             /* the last push did not arrive */
    bool is_refused;             /* and another attempt would end the same way */
};

/* ---- The end --------------------------------------------------------------------------------- */

static volatile sig_atomic_t is_over;

static void take_signal(int signal_number)
{
    (void)signal_number;
    is_over = 1;
}

static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDINGS = sizeof endings / sizeof *endings };

/* Handlers, because a process with number 1, as in a container, ignores signals that have none. A
 * second signal ends the process at once, unless it has that number. */
static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = take_signal, .sa_flags = (int)SA_RESETHAND};

    for (size_t i = 0; i < ENDINGS; i++)
        (void)sigaction(endings[i], &action, NULL);
}

/* Wait until the time (CLOCK_MONOTONIC), or a signal, which cannot come between test and wait. */
static void wait_until(uint64_t due_ns)
{
    sigset_t ends, before;

    sigemptyset(&ends);
    for (size_t i = 0; i < ENDINGS; i++)
        sigaddset(&ends, endings[i]);
    sigprocmask(SIG_BLOCK, &ends, &before);
    for (uint64_t now = bbf_monotonic_ns(); is_over == 0 && now < due_ns;
         now = bbf_monotonic_ns()) {
        const struct timespec rest = bbf_clock_timespec(due_ns - now);
        (void)ppoll(NULL, 0, &rest, &before);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* 0 to `most`: so that many clients which began together do not stay together. */
static uint64_t random_below(uint64_t most)
{
    uint64_t value;

    if (most == 0 || getrandom(&value, sizeof value, GRND_NONBLOCK) != (ssize_t)sizeof value)
        return 0;
    return value % most;
}

/* ---- One body -------------------------------------------------------------------------------- */

/* Content-Type and the like, then the user's. `lines` has room for all. */
static size_t all_headers(const struct bbf_push_body *body, const struct bbf_push_headers *users,
                          char *type, size_t type_size, const char **lines)
{
    size_t n = 0;

    snprintf(type, type_size, "Content-Type: %s", body->type);
    lines[n++] = type;
    if (body->is_gzip)
        lines[n++] = "Content-Encoding: gzip";
    for (size_t i = 0; i < users->n; i++)
        lines[n++] = users->lines[i];
    return n;
}

/* How long before the next attempt. */
static uint64_t wait_ms(unsigned attempt, const struct bbf_http_answer *answer)
{
    uint64_t ms = (uint64_t)FIRST_WAIT_MS << attempt;

    ms += random_below(ms / 4);
    if (ms < (uint64_t)answer->after_seconds * 1000)
        ms = (uint64_t)answer->after_seconds * 1000;
    return ms < WAIT_MAX_MS ? ms : WAIT_MAX_MS;
}

/* Is there time for another attempt? With --every not beyond the next push, which has it all. */
static bool may_wait(const struct push *push, uint64_t until_ns)
{
    return push->next_ns == 0 || !push->is_later || until_ns < push->next_ns;
}

static void send_body(const struct push *push, const struct bbf_http_request *http,
                      struct bbf_http_answer *answer, unsigned *attempts)
{
    for (*attempts = 1;; ++*attempts) {
        bbf_http_send(&push->curl, http, answer);
        if (answer->end != BBF_HTTP_LATER || *attempts == ATTEMPTS)
            return;
        const uint64_t until = bbf_monotonic_ns() + wait_ms(*attempts - 1, answer) * 1000000;
        if (!may_wait(push, until))
            return;
        wait_until(until);
        if (is_over != 0)
            return;
        bbf_buf_free(&answer->body);
    }
}

/* The receiver took the request, but not all that is in it: it must not be sent again. */
static int say_rejected(const struct bbf_http_answer *answer, const char *place)
{
    const char *message;
    size_t len;
    const uint64_t rejected = bbf_push_rejected(&answer->body, &message, &len);

    if (rejected == 0)
        return BBF_EXIT_OK;
    return bbf_fail(BBF_EXIT_FAILED, "%s rejected %" PRIu64 " profiles: %.*s", place, rejected,
                    (int)(len < WHY_MAX ? len : WHY_MAX), message);
}

static int say_failure(const struct bbf_http_answer *answer, const char *place, unsigned attempts)
{
    if (answer->end == BBF_HTTP_OVER)
        return bbf_fail(BBF_EXIT_FAILED, "%s: %s", place, answer->why);
    if (attempts == 1)
        return bbf_fail(BBF_EXIT_FAILED, "%s: %s", place, answer->why);
    return bbf_fail(BBF_EXIT_FAILED, "%s, after %u attempts: %s", place, attempts, answer->why);
}

/* *arrived: the receiver has it, and it must not be sent again. */
static int send_request(struct push *push, struct bbf_push_body *body, char place[WHY_MAX],
                        bool *arrived)
{
    struct bbf_push_headers users;
    struct bbf_http_answer answer = {.body = BBF_BUF_INIT};
    char type[64];
    unsigned attempts = 0;

    bbf_http_place(bbf_buf_cstr(&body->url), place, WHY_MAX);
    bbf_progress_stage("sending %zu bytes to %s", body->body.len, place);
    int exit_code = bbf_push_headers(&push->flags, &users);
    const char **lines = calloc(users.n + 2, sizeof *lines);
    if (exit_code == BBF_EXIT_OK && lines == NULL)
        exit_code = bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));
    if (exit_code == BBF_EXIT_OK) {
        const unsigned timeout =
            push->request->timeout_ms > 0 ? push->request->timeout_ms : TIMEOUT_MS;
        const struct bbf_http_request http = {
            .method = body->method,
            .url = bbf_buf_cstr(&body->url),
            .headers = lines,
            .n_headers = all_headers(body, &users, type, sizeof type, lines),
            .body = body->body.data,
            .len = body->body.len,
            .ca_file = push->flags.ca_file,
            .timeout_ms = timeout,
            .connect_ms = timeout < CONNECT_MS ? timeout : CONNECT_MS,
            .is_over = &is_over};
        send_body(push, &http, &answer, &attempts);
        *arrived = answer.end == BBF_HTTP_DONE;
        push->is_refused = answer.end == BBF_HTTP_REFUSED;
        if (!*arrived)
            exit_code = say_failure(&answer, place, attempts);
        else if (push->flags.as == BBF_PUSH_OTLP)
            exit_code = say_rejected(&answer, place);
    }
    bbf_buf_free(&answer.body);
    bbf_push_headers_free(&users);
    free(lines);
    return exit_code;
}

/* ---- One push -------------------------------------------------------------------------------- */

/* Which of the JVMs with this main class it is. */
static void name_instance(const struct push *push, const struct bbf_snapshot *snapshot, char *to,
                          size_t size)
{
    const char *target = push->request->target;
    char host[HOST_NAME_MAX + 1] = "";

    if (target != NULL && bbf_target_is_file(target)) {
        const char *slash = strrchr(target, '/');
        snprintf(to, size, "%s", slash != NULL ? slash + 1 : target);
    } else if (target != NULL && bbf_is_remote(target, NULL, 0, NULL)) {
        snprintf(to, size, "%s", target);
    } else {
        (void)gethostname(host, sizeof host - 1);
        snprintf(to, size, "%s:%" PRId64, host, snapshot->jvm.pid);
    }
}

static int note_since(struct bbf_snapshot *snapshot, int64_t since_ms, bool restarted)
{
    char text[WHY_MAX];

    snprintf(text, sizeof text, "losses of the %" PRId64 " s since the push before%s",
             (snapshot->captured_at_ms - since_ms) / 1000,
             restarted ? ", all of a count that began again" : "");
    return bbf_snapshot_add_text(&snapshot->notes, &snapshot->n_notes, text);
}

/*
 * Receivers of profiles add up what they get, so a profile has the losses since the push before.
 * The first of several has none: its losses may have been pushed by an earlier process. *since_ms:
 * 0 for all.
 */
static int take_since(const struct push *push, struct bbf_loaded *loaded,
                      const struct bbf_snapshot *whole, int64_t *since_ms)
{
    const bool is_first = push->before == NULL;
    bool restarted = false;

    *since_ms = 0;
    if (push->flags.as == BBF_PUSH_PROM ||
        (is_first && (push->flags.every_ns == 0 || push->flags.since != NULL)))
        return BBF_EXIT_OK;
    const struct bbf_snapshot *before = is_first ? whole : push->before;
    int err = bbf_snapshot_since(loaded->snapshot, before, &restarted);
    *since_ms = before->captured_at_ms;
    if (err == BBF_OK)
        err = note_since(loaded->snapshot, *since_ms, restarted);
    if (err != BBF_OK)
        return bbf_fail(BBF_EXIT_FAILED, "%s: %s", loaded->who, bbf_strerror(err));
    if (restarted)
        (void)bbf_fail(BBF_EXIT_OK,
                       "%s: the counts began again since the push before; all its losses are new",
                       loaded->who);
    return BBF_EXIT_OK;
}

static int save_since(const struct push *push, const struct bbf_buf *document)
{
    char why[PATH_MAX + 300];

    if (push->flags.since == NULL)
        return BBF_EXIT_OK;
    int err = bbf_file_save(push->flags.since, document->data, document->len, why, sizeof why);
    return err == BBF_OK
               ? BBF_EXIT_OK
               : bbf_fail(err == BBF_EPERMISSION ? BBF_EXIT_PERMISSION : BBF_EXIT_FAILED,
                          "pushed, but the next push will repeat it: cannot write %s", why);
}

/* It arrived: the next push is what comes after `whole`, which this function owns. */
static int keep(struct push *push, struct bbf_snapshot *whole, const struct bbf_loaded *loaded,
                const char *place, size_t bytes)
{
    bbf_snapshot_free(push->before);
    push->before = whole;
    int exit_code = save_since(push, &loaded->document);
    if ((!push->is_later || push->has_failed) && !push->request->quiet) {
        bbf_print("pushed %zu bytes of %s to %s", bytes, loaded->who, place);
        const int flushed = bbf_output_flush();
        exit_code = exit_code == BBF_EXIT_OK ? flushed : exit_code;
    }
    return exit_code;
}

static int send_snapshot(struct push *push, struct bbf_loaded *loaded, struct bbf_snapshot *whole)
{
    struct bbf_push_body body = {.url = BBF_BUF_INIT, .body = BBF_BUF_INIT};
    char instance[BBF_WHO], place[WHY_MAX];
    int64_t since_ms;
    bool arrived = false;

    int exit_code = take_since(push, loaded, whole, &since_ms);
    if (exit_code == BBF_EXIT_OK) {
        name_instance(push, loaded->snapshot, instance, sizeof instance);
        exit_code = bbf_push_body(&push->flags, loaded->snapshot, instance, since_ms, &body);
    }
    if (exit_code == BBF_EXIT_OK)
        exit_code = send_request(push, &body, place, &arrived);
    if (arrived) {
        const int kept = keep(push, whole, loaded, place, body.body.len);
        exit_code = exit_code == BBF_EXIT_OK ? kept : exit_code;
    } else {
        bbf_snapshot_free(whole);
    }
    bbf_push_body_free(&body);
    return exit_code;
}

/* *gone: there is no target (any more). */
static int push_once(struct push *push, bool *gone)
{
    struct bbf_loaded loaded;
    struct bbf_snapshot *whole = NULL;
    char why[WHY_MAX] = "";

    int exit_code = bbf_load(push->request, &loaded);
    *gone = exit_code == BBF_EXIT_TARGET;
    if (exit_code != BBF_EXIT_OK || is_over != 0)
        goto end;
    if (push->is_later && push->before != NULL &&
        loaded.snapshot->captured_at_ms == push->before->captured_at_ms)
        goto end; /* a file that was not written since */
    int err = bbf_snapshot_from_json(&whole, loaded.document.data, loaded.document.len, why,
                                     sizeof why); /* the other one is changed */
    exit_code = err == BBF_OK ? send_snapshot(push, &loaded, whole)
                              : bbf_fail(BBF_EXIT_FAILED, "%s: %s", loaded.who, bbf_strerror(err));
end:
    bbf_loaded_free(&loaded);
    return exit_code;
}

/* ---- The command ----------------------------------------------------------------------------- */

/* One push after the other; what fails is repeated with the next one. */
static int push_often(struct push *push)
{
    const uint64_t every = push->flags.every_ns;
    int exit_code = BBF_EXIT_OK;
    bool gone = false;

    bbf_progress_end(); /* it lives long, and most of the time it waits */
    catch_signals();
    push->next_ns = bbf_monotonic_ns() + BBF_CLOCK_SECOND + random_below(every);
    while (is_over == 0) {
        push->is_refused = false;
        exit_code = push_once(push, &gone);
        push->has_failed = exit_code != BBF_EXIT_OK;
        if (gone || is_over != 0 ||
            (!push->is_later && push->has_failed &&
             (push->is_refused || exit_code != BBF_EXIT_FAILED)))
            break;
        wait_until(push->next_ns);
        push->is_later = true;
        const uint64_t now = bbf_monotonic_ns();
        while (push->next_ns <= now)
            push->next_ns += every;
    }
    return exit_code;
}

static int read_since(struct push *push)
{
    const char *path = push->flags.since;
    struct bbf_buf document = BBF_BUF_INIT;
    char why[WHY_MAX] = "";

    if (path == NULL || (access(path, F_OK) != 0 && errno == ENOENT))
        return BBF_EXIT_OK;
    int exit_code = bbf_read_file(path, &document);
    if (exit_code == BBF_EXIT_OK) {
        int err = bbf_snapshot_from_json(&push->before, document.data != NULL ? document.data : "",
                                         document.len, why, sizeof why);
        if (err != BBF_OK)
            exit_code = bbf_fail(BBF_EXIT_FAILED,
                                 "--since %s is not what a push wrote: %s; remove it, and the next "
                                 "push has all losses",
                                 path, why[0] != '\0' ? why : bbf_strerror(err));
    }
    bbf_buf_free(&document);
    return exit_code;
}

static int check(struct push *push)
{
    char why[WHY_MAX];

    int exit_code = bbf_push_check(&push->flags);
    if (exit_code == BBF_EXIT_OK && push->flags.as == BBF_PUSH_PROM && push->flags.since != NULL)
        exit_code = bbf_fail(BBF_EXIT_USAGE, "--since is for profiles; metrics are counters, which "
                                             "Prometheus subtracts itself");
    if (exit_code == BBF_EXIT_OK && bbf_http_open(&push->curl, NULL, why, sizeof why) != BBF_OK)
        exit_code = bbf_fail(BBF_EXIT_FAILED, "push needs libcurl: %s", why);
    return exit_code;
}

int bbf_verb_push(const struct bbf_command_line *request)
{
    struct push push = {.request = request, .flags = request->push};
    bool gone;

    int exit_code = check(&push);
    if (exit_code == BBF_EXIT_OK)
        exit_code = read_since(&push);
    if (exit_code == BBF_EXIT_OK)
        exit_code = push.flags.every_ns > 0 ? push_often(&push) : push_once(&push, &gone);
    bbf_snapshot_free(push.before);
    return exit_code;
}
