/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/server/reply.c - what callbacks and the conversation say: commands into a session's queue.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/err.h"
#include "wire/server/session.h"
#include "wire/btrace/utf8.h"

enum {
    TEXT_BYTES = 1024,            /* no stock peer would deflate it (facts 3.3) */
    DOCUMENT_BYTES = 1024 * 1024, /* design.md: serving */
    PART_STALL_MS = 5000          /* a snapshot is held meanwhile: shorter than the usual limit */
};

void bbf_session_emit(struct bbf_service *service, struct bbf_session *session,
                      const struct bbf_command *command)
{
    bool moved;

    if (session->broken)
        return;
    if (session->out.bytes == 0)
        session->moved = bbf_clock_ms();
    int err = session->reader != NULL
                  ? bbf_sendq_v1(&session->out, command)
                  : bbf_sendq_command(&session->out, command, session->deflate_over);
    if (err != BBF_OK) {
        session->broken = true;
        return;
    }
    /* A document goes out while it is being written, as far as the client keeps up. */
    if (session->out.bytes >= DOCUMENT_BYTES) {
        if (bbf_sendq_flush(&session->out, atomic_load(&session->fd), &moved) != BBF_OK)
            session->broken = true;
        if (moved)
            session->moved = bbf_clock_ms();
    }
    if (session->out.bytes > service->config.queue_bytes) {
        atomic_fetch_add_explicit(&service->dropped, 1, memory_order_relaxed);
        session->broken = true;
    }
    if (session->broken)
        bbf_sendq_free(&session->out);
}

void bbf_reply_command(struct bbf_reply *reply, const struct bbf_command *command)
{
    bbf_session_emit(reply->service, reply->session, command);
}

static void emit_message(struct bbf_reply *reply, const char *text, size_t len)
{
    /* The encoder only reads; the struct serves both directions. */
    struct bbf_command command = {.type = BBF_CMD_MESSAGE,
                                  .text = {{(char *)(uintptr_t)text, len}}};

    bbf_session_emit(reply->service, reply->session, &command);
}

/* How much of the text goes into one frame: whole lines if there is an end of line. */
static size_t cut_text(const char *text, size_t len)
{
    if (len <= TEXT_BYTES)
        return len;
    const char *end = memrchr(text, '\n', TEXT_BYTES);
    if (end != NULL)
        return (size_t)(end - text) + 1;
    return bbf_utf8_cut(text, len, TEXT_BYTES);
}

void bbf_reply_text(struct bbf_reply *reply, const char *text, size_t len)
{
    while (len > 0) {
        size_t n = cut_text(text, len);
        emit_message(reply, text, n);
        text += n;
        len -= n;
    }
}

void bbf_reply_document(struct bbf_reply *reply, const char *text, size_t len)
{
    /* 16 bytes are the frame's own. */
    while (len > 0) {
        size_t n = bbf_utf8_cut(text, len, DOCUMENT_BYTES - 16);
        emit_message(reply, text, n);
        text += n;
        len -= n;
    }
}

void bbf_session_lost(struct bbf_service *service, struct bbf_session *session, int64_t time_ms,
                      uint64_t n)
{
    char text[100];
    int len =
        snprintf(text, sizeof text,
                 "%" PRIu64 " messages lost: this client reads too slowly (option queue)\n", n);
    struct bbf_command command = {
        .type = BBF_CMD_MESSAGE, .text = {{text, (size_t)len}}, .timestamp_ms = time_ms};

    bbf_session_emit(service, session, &command);
}

int bbf_reply_part(struct bbf_reply *reply, const char *text, size_t len)
{
    struct bbf_session *session = reply->session;
    int64_t stall = reply->service->config.stall_ms;

    if (stall > PART_STALL_MS)
        stall = PART_STALL_MS;
    bbf_reply_document(reply, text, len);
    while (!session->broken && session->out.bytes > DOCUMENT_BYTES) {
        if (!reply->service->serve_others(reply->service, atomic_load(&session->fd)))
            session->broken = true;
        bbf_session_flush(session);
        if (session->out.bytes > DOCUMENT_BYTES && bbf_clock_ms() - session->moved > stall)
            session->broken = true;
        if (session->broken)
            bbf_sendq_free(&session->out);
    }
    return session->broken ? BBF_ECLOSED : BBF_OK;
}

void bbf_reply_status(struct bbf_reply *reply, bool ok)
{
    struct bbf_command command = {.type = BBF_CMD_STATUS, .number = {0, 0}, .flag = ok};

    bbf_session_emit(reply->service, reply->session, &command);
}

void bbf_session_error(struct bbf_service *service, struct bbf_session *session,
                       const char *message)
{
    struct bbf_wire_str text = {(char *)(uintptr_t)message, strlen(message)};
    /* The stock client prints the stack and nothing else, so the message is that, too. */
    struct bbf_command command = {.type = BBF_CMD_ERROR, .text = {{"bbflow", 6}, text, text}};

    bbf_session_emit(service, session, &command);
}

void bbf_reply_error(struct bbf_reply *reply, const char *message)
{
    bbf_session_error(reply->service, reply->session, message);
    bbf_reply_status(reply, false);
}
