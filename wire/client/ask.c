/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/client/ask.c - the conversations of a client: commands and the meaning of the answers
 * (wire/client/conn.h).
 */
#include <stdio.h>
#include <string.h>

#include "core/err.h"
#include "wire/client/conn.h"
#include "wire/client/conn_io.h"

enum { PROBE_ID = 64 };

int bbf_conn_send_text(struct bbf_conn *conn, enum bbf_command_type type, const char *text,
                       char *why, size_t why_size)
{
    struct bbf_command command = {.type = type, .text = {{(char *)(uintptr_t)text, strlen(text)}}};

    return bbf_conn_send(conn, &command, why, why_size);
}

int bbf_conn_list(struct bbf_conn *conn, enum bbf_command_type type, struct bbf_command *answer,
                  char *why, size_t why_size)
{
    struct bbf_command question = {.type = type};
    int err = bbf_conn_send(conn, &question, why, why_size);

    while (err == BBF_OK) {
        err = bbf_conn_receive(conn, answer, why, why_size);
        if (err == BBF_OK && answer->type == type)
            return BBF_OK;
        if (err == BBF_OK)
            bbf_command_free(answer);
    }
    memset(answer, 0, sizeof *answer);
    return err;
}

/* LIST_PROBES: the id of the first probe of class "bbflow". */
static int find_probe(struct bbf_conn *conn, char id[PROBE_ID], char *why, size_t why_size)
{
    static const char suffix[] = " [bbflow]";
    struct bbf_command list;
    size_t n = sizeof suffix - 1;
    bool found = false;
    int err = bbf_conn_list(conn, BBF_CMD_LIST_PROBES, &list, why, why_size);

    if (err != BBF_OK)
        return err;
    for (size_t i = 0; i < list.n_list && !found; i++) {
        const struct bbf_wire_str *probe = &list.list[i];
        found = probe->s != NULL && probe->len > n && probe->len - n < PROBE_ID &&
                strcmp(probe->s + probe->len - n, suffix) == 0;
        if (found)
            snprintf(id, PROBE_ID, "%.*s", (int)(probe->len - n), probe->s);
    }
    if (!found)
        err = bbf_conn_fail(why, why_size, BBF_ENOTFOUND,
                            "a BTrace agent answers, but it has no bbflow probe%s",
                            list.n_list > 0 ? "; 'bbflow list' shows what it has" : "");
    bbf_command_free(&list);
    return err;
}

/* RECONNECT: the first STATUS is the answer. */
int bbf_conn_bind(struct bbf_conn *conn, const char *probe, char *why, size_t why_size)
{
    char id[PROBE_ID];
    bool answered = false;
    int err = BBF_OK;

    if (conn->over)
        return bbf_conn_fail(why, why_size, BBF_ECLOSED,
                             "this connection has had its conversation");
    if (probe == NULL)
        err = find_probe(conn, id, why, why_size);
    if (probe == NULL)
        probe = id;
    if (err == BBF_OK)
        err = bbf_conn_send_text(conn, BBF_CMD_RECONNECT, probe, why, why_size);
    while (err == BBF_OK && !answered) {
        struct bbf_command command;
        err = bbf_conn_receive(conn, &command, why, why_size);
        if (err != BBF_OK)
            return err;
        answered = command.type == BBF_CMD_STATUS;
        if (answered && !command.flag)
            err = bbf_conn_fail(why, why_size, BBF_EREFUSED, "the agent refused to reconnect to %s",
                                probe);
        bbf_command_free(&command);
    }
    return err;
}

/* The collected parts of an answer. */
struct answer {
    struct bbf_buf *texts;
    bool failed;        /* ERROR, or STATUS failed */
    struct bbf_buf why; /* the first ERROR's text */
};

static void note(void *ctx, const struct bbf_command *command)
{
    struct answer *answer = ctx;
    const struct bbf_wire_str *text;

    switch (command->type) {
    case BBF_CMD_MESSAGE:
        if (command->timestamp_ms != 0) /* of the live stream, not part of the document */
            break;
        bbf_buf_add(answer->texts, command->text[0].s, command->text[0].len);
        break;
    case BBF_CMD_ERROR:
        text = command->text[1].len > 0 ? &command->text[1] : &command->text[2];
        if (!answer->failed && text->len > 0)
            bbf_buf_add(&answer->why, text->s, text->len);
        answer->failed = true;
        break;
    case BBF_CMD_STATUS:
        if (!command->flag)
            answer->failed = true;
        break;
    default:
        break;
    }
}

/* Receive everything up to and including the first `last`, which is shown only if it is a
 * STATUS. */
static int gather(struct bbf_conn *conn, enum bbf_command_type last, void *ctx,
                  void (*show)(void *ctx, const struct bbf_command *command), char *why,
                  size_t why_size)
{
    bool more = true;

    while (more) {
        struct bbf_command command;
        int err = bbf_conn_receive(conn, &command, why, why_size);
        if (err != BBF_OK)
            return err;
        more = command.type != last;
        if (more || last == BBF_CMD_STATUS)
            show(ctx, &command);
        bbf_command_free(&command);
    }
    return BBF_OK;
}

int bbf_conn_ask(struct bbf_conn *conn, const char *probe, const char *name, void *ctx,
                 void (*show)(void *ctx, const struct bbf_command *command), char *why,
                 size_t why_size)
{
    int err = bbf_conn_bind(conn, probe, why, why_size);

    if (err == BBF_OK)
        err = bbf_conn_send_text(conn, BBF_CMD_EVENT, name, why, why_size);
    if (err == BBF_OK)
        err = bbf_conn_send_text(conn, BBF_CMD_DISCONNECT, "", why, why_size);
    conn->over = true;
    if (err == BBF_OK)
        err = gather(conn, BBF_CMD_DISCONNECT, ctx, show, why, why_size);
    return err;
}

int bbf_conn_event(struct bbf_conn *conn, const char *name, struct bbf_buf *document, char *why,
                   size_t why_size)
{
    struct answer answer = {.texts = document, .why = BBF_BUF_INIT};
    int err = bbf_conn_ask(conn, NULL, name, &answer, note, why, why_size);

    if (err == BBF_OK && document->failed)
        err = bbf_conn_fail(why, why_size, BBF_ENOMEM, "out of memory");
    /* A refusal without an ERROR has its reason in the text. */
    if (err == BBF_OK && answer.failed)
        err =
            bbf_conn_fail(why, why_size, BBF_EREFUSED, "%s",
                          answer.why.len > 0 ? bbf_buf_cstr(&answer.why) : bbf_buf_cstr(document));
    bbf_buf_free(&answer.why);
    return err;
}

int bbf_conn_set(struct bbf_conn *conn, const struct bbf_entry *params, size_t n,
                 struct bbf_buf *answer, char *why, size_t why_size)
{
    struct bbf_command command = {.type = BBF_CMD_SET_PARAMS, .n_entries = n};
    struct answer gathered = {.texts = answer, .why = BBF_BUF_INIT};

    if (conn->over)
        return bbf_conn_fail(why, why_size, BBF_ECLOSED,
                             "this connection has had its conversation");
    /* The cast is safe: the encoder only reads, but the struct serves both directions. */
    command.entries = (struct bbf_entry *)(uintptr_t)params;
    int err = bbf_conn_send(conn, &command, why, why_size);
    if (err == BBF_OK)
        err = gather(conn, BBF_CMD_STATUS, &gathered, note, why, why_size);
    if (err == BBF_OK && gathered.failed) {
        bbf_buf_add(answer, gathered.why.data, gathered.why.len);
        err = bbf_conn_fail(why, why_size, BBF_EREFUSED, "%s", bbf_buf_cstr(answer));
    }
    bbf_buf_free(&gathered.why);
    return err;
}
