/* SPDX-License-Identifier: Apache-2.0 */
#include "client/verbs.h"

#include "client/attach.h"
#include "client/connect.h"
#include "client/filter.h"
#include "client/library.h"
#include "client/load.h"
#include "client/measure.h"
#include "client/output.h"
#include "client/redact.h"
#include "client/set.h"
#include "client/target.h"
#include "client/tokens.h"
#include "client/print.h"
#include "client/watch.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/option.h"
#include "render/render.h"
#include "render/why.h"
#include "wire/client/conn.h"
#include "wire/sockdir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    WAIT_MS = 60000, /* for a new agent's first answer */
    GONE_MS = 5000,  /* for a stopped agent's socket */
    PAUSE_MS = 50,
    STATUS_MOST = 16 << 20, /* bytes of a new agent's first answer */
    TREE_LINES = 100,       /* what `tree` shows without --all */
    WHY_MAX = 512
};

int bbf_verb_list(const struct bbf_command_line *request)
{
    struct bbf_agents agents;

    if (request->target != NULL)
        return bbf_verb_probes(request);
    bbf_agents_find(&agents, request->socket);
    for (size_t i = 0; i < agents.count; i++) {
        const struct bbf_target *agent = &agents.items[i];
        bbf_print("%ld  %s  %s", (long)agent->pid, agent->main[0] != '\0' ? agent->main : "?",
                  agent->path);
    }
    int rc = bbf_output_flush();
    if (rc == BBF_EXIT_OK && agents.failed)
        rc = bbf_fail(BBF_EXIT_FAILED, "out of memory: the list is not complete");
    else if (rc == BBF_EXIT_OK && agents.count == 0) {
        struct bbf_command_line nobody = *request;
        nobody.target = NULL;
        (void)bbf_target_choose(&agents, &nobody, &rc); /* says so */
    }
    bbf_agents_free(&agents);
    return rc;
}

/* ---- One JVM --------------------------------------------------------------------------------- */

/* Print a text of the agent to stdout, with one newline at its end. */
static int print_text(struct bbf_buf *text)
{
    if (text->len > 0 && text->data[text->len - 1] != '\n')
        bbf_buf_char(text, '\n');
    return bbf_output_write(NULL, text);
}

int bbf_verb_status(const struct bbf_command_line *request)
{
    struct bbf_buf text = BBF_BUF_INIT;
    char who[BBF_WHO];

    if (request->measure_ns != 0)
        return bbf_measure(request);
    int exit_code = bbf_ask_target(request, "status", &text, who);
    if (exit_code == BBF_EXIT_OK)
        exit_code = print_text(&text);
    bbf_buf_free(&text);
    return exit_code;
}

/* Name the JVM, unless the user did, on stderr, because the answer on stdout is for programs. */
static void say_which(const struct bbf_command_line *request, const char *done, const char *who)
{
    const char *target = request->target;

    if (target == NULL ||
        (target[strspn(target, "0123456789")] != '\0' && !bbf_is_remote(target, NULL, 0, NULL)))
        (void)bbf_fail(BBF_EXIT_OK, "%s %s", done, who);
}

int bbf_verb_reset(const struct bbf_command_line *request)
{
    struct bbf_buf text = BBF_BUF_INIT;
    char who[BBF_WHO];
    int exit_code = bbf_ask_target(request, request->nodes ? "reset nodes" : "reset", &text, who);
    if (exit_code == BBF_EXIT_OK) {
        say_which(request, "reset in", who);
        exit_code = print_text(&text);
    }
    bbf_buf_free(&text);
    return exit_code;
}

int bbf_verb_set(const struct bbf_command_line *request)
{
    struct bbf_buf answer = BBF_BUF_INIT;
    char who[BBF_WHO];

    if (request->n_params == 0)
        return bbf_fail(BBF_EXIT_USAGE,
                        "set needs name=value, as: bbflow set %s "
                        "trackDirectOnly=on",
                        request->target != NULL ? request->target : "PID");
    int exit_code = bbf_set(request, &answer, who);
    if (exit_code == BBF_EXIT_OK) {
        say_which(request, "changed in", who);
        exit_code = print_text(&answer);
    }
    bbf_buf_free(&answer);
    return exit_code;
}

/* ---- Attach and stop -------------------------------------------------------------------- */

/* Join all parameters to one option string, which is checked before any JVM is involved.
 * *everything: there is no include= among them. */
static int join_options(const struct bbf_command_line *request, struct bbf_buf *text, char *socket,
                        size_t socket_size, bool *everything)
{
    struct bbf_options options;
    struct bbf_option_error error;
    int exit_code = BBF_EXIT_OK;

    for (size_t i = 0; i < request->n_params; i++)
        bbf_buf_printf(text, "%s%s", i > 0 ? "," : "", request->params[i]);
    bbf_options_init(&options);
    int rc = bbf_options_parse(&options, bbf_buf_cstr(text), &error);
    if (rc != BBF_OK)
        exit_code = bbf_fail(BBF_EXIT_USAGE, "options, column %zu: %s", error.at.column,
                             rc == BBF_ENOMEM ? bbf_strerror(rc) : error.at.text);
    else if (options.help)
        exit_code = bbf_fail(BBF_EXIT_USAGE, "'bbflow help options' lists the options");
    else if (options.version)
        exit_code = bbf_fail(BBF_EXIT_USAGE, "'bbflow version' prints the version");
    *everything = rc == BBF_OK && options.include == NULL;
    snprintf(socket, socket_size, "%s",
             rc == BBF_OK && options.socket != NULL ? options.socket : "");
    bbf_options_free(&options);
    return exit_code;
}

/* The agent begins after the JVM's answer; once its server answers, the classes are ready. */
static int await_agent(pid_t pid, const char *who, const char *socket)
{
    char why[WHY_MAX] = "";

    for (unsigned waited = 0; waited < WAIT_MS; waited += PAUSE_MS) {
        struct bbf_agents agents;
        struct bbf_buf text = BBF_BUF_INIT;
        struct bbf_conn *conn = NULL;
        int rc = BBF_ENOTFOUND;
        bbf_agents_find(&agents, socket);
        for (size_t i = 0; i < agents.count; i++)
            if (agents.items[i].pid == pid) {
                struct bbf_conn_config config = {.path = agents.items[i].path,
                                                 .protocol = BBF_PROTOCOL_2,
                                                 .timeout_ms = WAIT_MS,
                                                 .max_answer = STATUS_MOST};
                rc = bbf_conn_open(&conn, &config, why, sizeof why);
            }
        bbf_agents_free(&agents);
        if (rc == BBF_OK)
            rc = bbf_conn_event(conn, "status", &text, why, sizeof why);
        bbf_conn_close(conn);
        const char *off = rc == BBF_OK ? strstr(bbf_buf_cstr(&text), "tracking is off") : NULL;
        int exit_code = BBF_EXIT_OK;
        if (off != NULL)
            exit_code = bbf_fail(BBF_EXIT_FAILED, "%s: %.*s", who, (int)strcspn(off, "\n"), off);
        bbf_buf_free(&text);
        if (rc == BBF_OK)
            return exit_code;
        if (rc == BBF_EREFUSED)
            return bbf_fail(BBF_EXIT_FAILED, "%s: %s", who, why);
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
    }
    return bbf_fail(
        BBF_EXIT_FAILED,
        "%s has loaded the agent, but nothing answers; its stderr, or the file of log=, "
        "says why",
        who);
}

int bbf_verb_attach(const struct bbf_command_line *request)
{
    struct bbf_agents agents;
    struct bbf_buf options = BBF_BUF_INIT;
    char who[WHY_MAX] = "JVM", library[WHY_MAX], socket[WHY_MAX];
    bool everything;

    int exit_code = join_options(request, &options, socket, sizeof socket, &everything);
    const char *folder = request->socket != NULL ? request->socket
                         : socket[0] != '\0'     ? socket
                                                 : NULL;
    pid_t pid = 0;
    if (exit_code == BBF_EXIT_OK) {
        bbf_agents_find(&agents, folder);
        pid = bbf_target_jvm(&agents, request, who, sizeof who, &exit_code);
        bbf_agents_free(&agents);
    }
    if (pid != 0)
        exit_code = bbf_fail_if_stopped(pid, who);
    if (pid != 0 && exit_code == BBF_EXIT_OK) {
        bbf_library_find(request->agent, library, sizeof library);
        exit_code = bbf_attach_load(pid, who, library, bbf_buf_cstr(&options));
        if (exit_code == BBF_EXIT_OK)
            exit_code = await_agent(pid, who, folder);
        if (exit_code == BBF_EXIT_OK) {
            bbf_print(
                "%s is followed now; 'bbflow tree %ld' shows what was seen, 'bbflow stop %ld' "
                "undoes it",
                who, (long)pid, (long)pid);
            if (everything)
                bbf_print(
                    "no include= was given: every class is followed but the JDK's, Netty's and "
                    "known agents'; 'bbflow set %ld include=your.package' follows yours alone, "
                    "and costs less",
                    (long)pid);
            exit_code = bbf_output_flush();
        }
    }
    bbf_buf_free(&options);
    return exit_code;
}

int bbf_verb_stop(const struct bbf_command_line *request)
{
    struct bbf_agents agents;
    struct bbf_buf text = BBF_BUF_INIT;
    char who[BBF_WHO], path[WHY_MAX] = "";
    struct ucred peer;
    int exit_code = BBF_EXIT_OK;

    bool remote = request->target != NULL && bbf_is_remote(request->target, NULL, 0, NULL);
    if (!remote) {
        bbf_agents_find(&agents, request->socket);
        const struct bbf_target *agent = bbf_target_choose(&agents, request, &exit_code);
        if (agent != NULL)
            snprintf(path, sizeof path, "%s", agent->path);
        bbf_agents_free(&agents);
        if (path[0] == '\0')
            return exit_code;
    }
    exit_code = bbf_ask_target(request, "stop", &text, who);
    /* The agent removes its socket after we have disconnected. */
    for (unsigned waited = 0; !remote && exit_code == BBF_EXIT_OK && waited < GONE_MS;
         waited += PAUSE_MS) {
        if (bbf_socket_probe(path, &peer) == BBF_ENOTFOUND)
            break;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
    }
    if (exit_code == BBF_EXIT_OK) {
        say_which(request, "stopped in", who);
        exit_code = print_text(&text);
    }
    bbf_buf_free(&text);
    return exit_code;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Redact the snapshot; the file with the names is written before anything is shown. */
static int redact(const struct bbf_command_line *request, struct bbf_snapshot *snapshot)
{
    struct bbf_tokens *tokens;
    char why[WHY_MAX] = "";
    int rc = bbf_tokens_open(&tokens, request->redact, true, why, sizeof why);
    if (rc == BBF_OK)
        rc = bbf_redact(snapshot, tokens);
    if (rc == BBF_OK)
        rc = bbf_tokens_save(tokens, request->redact, why, sizeof why);
    bbf_tokens_free(tokens);
    return rc == BBF_OK
               ? BBF_EXIT_OK
               : bbf_fail(BBF_EXIT_FAILED, "--redact: %s", why[0] != '\0' ? why : bbf_strerror(rc));
}

int bbf_verb_unredact(const struct bbf_command_line *request)
{
    struct bbf_buf document = BBF_BUF_INIT, text = BBF_BUF_INIT;
    struct bbf_tokens *tokens = NULL;
    char why[WHY_MAX] = "";

    if (request->target == NULL || request->redact == NULL)
        return bbf_fail(BBF_EXIT_USAGE, "unredact needs a text and the file of its names, as: "
                                        "bbflow unredact answer.txt --redact names.key");
    int exit_code = bbf_read_file(request->target, &document);
    if (exit_code != BBF_EXIT_OK)
        goto end;
    if (document.len > 0 && document.data[0] == '<') { /* names would end its strings */
        exit_code = bbf_fail(BBF_EXIT_FAILED,
                             "%s is a page; save its JSON there ('Save JSON'), unredact that, and "
                             "make the page from it: bbflow tree FILE.json -o FILE.html",
                             request->target);
        goto end;
    }
    int rc = bbf_tokens_open(&tokens, request->redact, false, why, sizeof why);
    if (rc != BBF_OK) {
        exit_code =
            bbf_fail(BBF_EXIT_FAILED, "--redact: %s", why[0] != '\0' ? why : bbf_strerror(rc));
        goto end;
    }
    const bool json = document.len > 0 && document.data[0] == '{';
    bbf_tokens_restore(tokens, &text, bbf_buf_cstr(&document), document.len, json);
    exit_code = text.failed ? bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM))
                            : bbf_output_exact(request->output, &text);
end:
    bbf_tokens_free(tokens);
    bbf_buf_free(&document);
    bbf_buf_free(&text);
    return exit_code;
}

/* Is the exit code of the verb its answer? */
static bool has_verdict(const struct bbf_command_line *request)
{
    return strcmp(request->verb, "why") == 0 || strcmp(request->verb, "leaks") == 0;
}

int bbf_verb_read(const struct bbf_command_line *request)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_loaded loaded;
    enum bbf_format format;

    int exit_code = bbf_output_format(request, &format);
    if (exit_code != BBF_EXIT_OK)
        return exit_code;
    exit_code = bbf_filter_check(request, format);
    if (exit_code != BBF_EXIT_OK)
        return exit_code;
    exit_code = bbf_load(request, &loaded);
    struct bbf_snapshot *snapshot = loaded.snapshot;
    const char *who = loaded.who;
    if (exit_code == BBF_EXIT_OK)
        exit_code = bbf_filter(request, who, snapshot);
    if (exit_code == BBF_EXIT_OK && request->redact != NULL)
        exit_code = redact(request, snapshot);
    if (exit_code == BBF_EXIT_OK && format == BBF_FORMAT_JSON && !bbf_filter_is_set(request) &&
        request->redact == NULL && !loaded.from_box) {
        /* Print it unchanged, because a newer agent may send more than we know. */
        exit_code = bbf_output_exact(request->output, &loaded.document);
    } else if (exit_code == BBF_EXIT_OK) {
        struct bbf_render_options options = {
            .max_lines = request->all ? 0 : TREE_LINES,
            .by_method = request->by_method,
            .choice = bbf_choice_is_set(&request->choice) ? &request->choice : NULL,
            .lines = request->lines};
        int rc = bbf_render(&text, snapshot, format, &options);
        if (rc != BBF_OK)
            exit_code = bbf_fail(BBF_EXIT_FAILED, "%s: %s", who, bbf_strerror(rc));
        else if ((bbf_format_flags(format) & BBF_FORMAT_BINARY) != 0)
            exit_code = bbf_output_binary(request->output, &text);
        else if ((bbf_format_flags(format) & BBF_FORMAT_EXACT) != 0)
            exit_code = bbf_output_exact(request->output, &text);
        else
            exit_code = bbf_output_write(request->output, &text);
    }
    if (exit_code == BBF_EXIT_OK && has_verdict(request) && bbf_why_has_loss(snapshot))
        exit_code = BBF_EXIT_LOST;
    bbf_loaded_free(&loaded);
    bbf_buf_free(&text);
    return exit_code;
}
