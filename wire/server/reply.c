/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/server/reply.h"

#include <string.h>

#include "core/clock.h"
#include "core/err.h"
#include "wire/server/session_io.h"
#include "wire/btrace/utf8.h"

enum {
    TEXT_BYTES = 1024,            /* no stock peer would deflate it (facts 3.3) */
    DOCUMENT_BYTES = 1024 * 1024, /* design.md: serving */
    PART_STALL_MS = 5000          /* a snapshot is held meanwhile: shorter than the usual limit */
};

void bbf_reply_command(struct bbf_reply *reply, const struct bbf_command *command)
{
    bbf_session_emit(reply->service, reply->session, command);
}

static void emit_message(struct bbf_reply *reply, const char *text, size_t len)
{
    /* The cast is safe: the encoder only reads, but the struct serves both directions. */
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
        if (session->out.bytes > DOCUMENT_BYTES && bbf_monotonic_ms() - session->moved > stall)
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

void bbf_reply_error(struct bbf_reply *reply, const char *message)
{
    bbf_session_error(reply->service, reply->session, message);
    bbf_reply_status(reply, false);
}
