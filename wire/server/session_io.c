/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/server/session_io.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/err.h"

enum {
    FLUSH_WATER = 1024 * 1024, /* queued output that is sent while more is being written */
    QUIET_MS = 1000
};

void bbf_session_open(struct bbf_service *service, struct bbf_session *session, int fd, bool tcp)
{
    session->state = tcp && service->token != NULL ? BBF_AUTH : BBF_NEGOTIATE;
    session->tcp = session->waiting = tcp;
    session->peer = BBF_PEER_NOT_ASKED;
    session->broken = session->eof = session->shut = session->asked = session->watching = false;
    session->busy = false;
    atomic_store(&session->begun, false);
    session->need = session->want = 0;
    session->deflate_over = SIZE_MAX;
    session->retry = session->live_at = INT64_MAX;
    session->moved = bbf_monotonic_ms();
    session->deadline =
        session->moved + (tcp ? service->config.auth_ms : service->config.handshake_ms);
    atomic_store(&session->fd, fd);
}

void bbf_session_close(struct bbf_session *session)
{
    /* The slot first: a child forked in between then has a stray fd at worst, and never closes a
     * number that belongs to someone else by then. */
    int fd = atomic_exchange(&session->fd, -1);

    if (fd >= 0)
        close(fd);
    if (session->in.data != NULL && session->state == BBF_AUTH)
        explicit_bzero(session->in.data, session->in.cap);
    bbf_buf_free(&session->in);
    bbf_sendq_free(&session->out);
    bbf_v1_reader_free(session->reader);
    session->reader = NULL;
}

void bbf_session_linger(struct bbf_session *session)
{
    session->state = BBF_LINGER;
    session->deadline = INT64_MAX; /* starts when the answer is out; until then, the stall limit */
}

void bbf_session_flush(struct bbf_session *session)
{
    bool moved;

    if (session->broken || session->out.bytes == 0)
        return;
    if (bbf_sendq_flush(&session->out, atomic_load(&session->fd), &moved) != BBF_OK)
        session->broken = true;
    if (moved)
        session->moved = bbf_monotonic_ms();
    if (session->out.bytes == 0)
        session->asked = false;
}

void bbf_session_spoke(struct bbf_session *session)
{
    session->live_at = session->watching ? 0 : bbf_monotonic_ms() + QUIET_MS;
}

void bbf_session_emit(struct bbf_service *service, struct bbf_session *session,
                      const struct bbf_command *command)
{
    bool moved;

    if (session->broken)
        return;
    if (session->out.bytes == 0)
        session->moved = bbf_monotonic_ms();
    int err = session->reader != NULL
                  ? bbf_sendq_v1(&session->out, command)
                  : bbf_sendq_command(&session->out, command, session->deflate_over);
    if (err != BBF_OK) {
        session->broken = true;
        return;
    }
    /* A document goes out while it is being written, as far as the client keeps up. */
    if (session->out.bytes >= FLUSH_WATER) {
        if (bbf_sendq_flush(&session->out, atomic_load(&session->fd), &moved) != BBF_OK)
            session->broken = true;
        if (moved)
            session->moved = bbf_monotonic_ms();
    }
    if (session->out.bytes > service->config.queue_bytes) {
        atomic_fetch_add_explicit(&service->dropped, 1, memory_order_relaxed);
        session->broken = true;
    }
    if (session->broken)
        bbf_sendq_free(&session->out);
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

void bbf_session_error(struct bbf_service *service, struct bbf_session *session,
                       const char *message)
{
    struct bbf_wire_str text = {(char *)(uintptr_t)message, strlen(message)};
    /* The stock client prints only the stack, so that also has the message. */
    struct bbf_command command = {.type = BBF_CMD_ERROR, .text = {{"bbflow", 6}, text, text}};

    bbf_session_emit(service, session, &command);
}
