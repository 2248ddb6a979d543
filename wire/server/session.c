/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/server/session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/err.h"
#include "wire/btrace/v1/v1.h"
#include "wire/refusal.h"
#include "wire/server/admit.h"
#include "wire/server/converse.h"
#include "wire/server/negotiate.h"

enum {
    READ_BYTES = 64 * 1024,
    HIGH_WATER = 1024 * 1024, /* queued output that stops the reading of commands */
    LINGER_MS = 1000,
    RETRY_MS = 20,          /* without bytes: a slow sender pauses */
    LIVE_WATER = 16 * 1024, /* queued output that holds the live stream back */
    SMALL_INPUT = 64 * 1024,
    ALL_INPUT = 128 * 1024 * 1024, /* of all sessions, with what v1 keeps of it; over it those with
                                      more than SMALL_INPUT go */
    KEEP_BYTES = 256 * 1024 /* an input buffer that grew past this is given back when empty */
};

short bbf_session_events(const struct bbf_session *session)
{
    int events = 0;

    if (session->out.bytes > 0)
        events |= POLLOUT;
    if (!session->eof && (session->state == BBF_LINGER || session->out.bytes <= HIGH_WATER))
        events |= POLLIN;
    return (short)events;
}

static bool has_live(const struct bbf_service *service, const struct bbf_session *session)
{
    return session->state == BBF_BOUND && !session->eof && session->out.bytes <= LIVE_WATER &&
           (!atomic_load(&session->begun) || session->place < atomic_load(&service->live.head));
}

int64_t bbf_session_due(const struct bbf_service *service, const struct bbf_session *session)
{
    int64_t due = session->deadline;

    if (session->out.bytes > 0 && session->asked && session->moved + service->config.stall_ms < due)
        due = session->moved + service->config.stall_ms;
    if (session->retry < due)
        due = session->retry;
    if (session->live_at < due && has_live(service, session))
        due = session->live_at;
    return due;
}

void bbf_session_expire(struct bbf_service *service, struct bbf_session *session, int64_t now)
{
    bool stalled = session->out.bytes > 0 && session->asked &&
                   now >= session->moved + service->config.stall_ms;

    if (now >= session->retry) {
        session->retry = INT64_MAX;
        session->need = session->want;
        bbf_session_work(service, session, 0);
        return;
    }
    if (now < session->deadline && !stalled)
        return;
    if (session->waiting && session->state < BBF_HANDSHAKE) {
        atomic_fetch_add_explicit(&service->late, 1, memory_order_relaxed);
        bbf_admit_end(session, BBF_WHY_LATE);
        return;
    }
    if (session->out.bytes > 0)
        atomic_fetch_add_explicit(&service->dropped, 1, memory_order_relaxed);
    bbf_session_close(session);
}

/* Something that was read takes other memory than before. */
static void charge(struct bbf_service *service, size_t before, size_t after)
{
    service->input += after - before;
    if (service->input > atomic_load_explicit(&service->most_input, memory_order_relaxed))
        atomic_store_explicit(&service->most_input, service->input, memory_order_relaxed);
}

/* Room for what is to be read next, and how much; NULL: no more for this one. */
static char *input_room(struct bbf_service *service, struct bbf_session *session, size_t *size)
{
    size_t before = session->in.cap;

    *size = session->state == BBF_AUTH ? BBF_AUTH_BYTES - session->in.len : READ_BYTES;
    /* A buffer grows by doubling. */
    if (before - session->in.len < *size && before > 2 * SMALL_INPUT &&
        service->input + before > ALL_INPUT) {
        atomic_fetch_add_explicit(&service->dropped, 1, memory_order_relaxed);
        return NULL;
    }
    char *to = bbf_buf_reserve(&session->in, *size);
    charge(service, before, session->in.cap);
    return to;
}

static void receive(struct bbf_service *service, struct bbf_session *session)
{
    char waste[4096];
    bool lingering = session->state == BBF_LINGER;
    size_t size = sizeof waste;
    char *to = lingering ? waste : input_room(service, session, &size);

    if (to == NULL) {
        session->broken = true;
        return;
    }
    ssize_t n = recv(atomic_load(&session->fd), to, size, MSG_DONTWAIT);
    if (n == 0)
        session->eof = true;
    else if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        session->broken = true;
    else if (n > 0 && !lingering)
        session->in.len += (size_t)n;
    if (n > 0 && session->reader != NULL && session->in.len >= session->want &&
        session->in.len < session->need)
        session->retry = bbf_monotonic_ms() + session->retry_ms;
}

static int decode_v2(struct bbf_session *session, struct bbf_command *command, const uint8_t *in,
                     size_t len, size_t *used)
{
    if (len >= 2 && in[1] < BBF_CMD_TYPES && !bbf_session_reads((enum bbf_command_type)in[1])) {
        command->type = (enum bbf_command_type)in[1];
        int err = bbf_command_skip(in, len, used, &bbf_wire_server_limits, NULL);
        session->need = *used;
        return err;
    }
    int err = bbf_command_decode(command, in, len, used, &bbf_wire_server_limits, NULL);
    session->need = *used;
    return err;
}

/*
 * A v1 stream is read from the command's start each time, so that a slow sender of a large one
 * would cost quadratic time: the next try is when a sixteenth more has come, or after a pause of
 * twenty times what a try takes.
 */
static int decode_v1(struct bbf_service *service, struct bbf_session *session,
                     struct bbf_command *command, const uint8_t *in, size_t len, size_t *used,
                     const char **why)
{
    int64_t begin = bbf_monotonic_ms();
    size_t before = bbf_v1_reader_bytes(session->reader);
    int err = bbf_v1_decode(session->reader, command, in, len, used, why);
    size_t after = bbf_v1_reader_bytes(session->reader);

    if (err == BBF_OK && after > SMALL_INPUT) {
        bbf_v1_reader_trim(session->reader);
        after = bbf_v1_reader_bytes(session->reader);
    }
    charge(service, before, after);
    if ((err == BBF_OK || err == BBF_EMORE) && after > SMALL_INPUT && service->input > ALL_INPUT) {
        bbf_command_free(command);
        *why = "all clients together wait with too much input";
        return BBF_ENOMEM;
    }

    session->retry = INT64_MAX;
    if (err == BBF_EMORE) {
        session->want = *used;
        session->need = *used > len + len / 16 ? *used : len + len / 16;
        session->retry_ms = RETRY_MS + 20 * (bbf_monotonic_ms() - begin);
    }
    return err;
}

/* The stream cannot be resumed; queued answers are still sent. Over v1 a limit is reported. */
static void end_stream(struct bbf_service *service, struct bbf_session *session, int err,
                       const char *why)
{
    atomic_fetch_add_explicit(err == BBF_ENOMEM ? &service->dropped : &service->malformed, 1,
                              memory_order_relaxed);
    if (session->reader != NULL && (err == BBF_ELIMIT || err == BBF_ENOMEM) && why != NULL)
        bbf_session_error(service, session, why);
    bbf_v1_reader_free(session->reader);
    session->reader = NULL;
    bbf_session_linger(session);
}

/* Obey the command at *pos. False: not there yet, or the end. */
static bool next_command(struct bbf_service *service, struct bbf_session *session, size_t *pos)
{
    const uint8_t *in = (const uint8_t *)session->in.data + *pos;
    size_t len = session->in.len - *pos;
    struct bbf_command command = {.type = BBF_CMD_TYPES};
    const char *why = NULL;
    size_t used;

    if (len == 0 || len < session->need)
        return false;
    int err = session->reader != NULL ? decode_v1(service, session, &command, in, len, &used, &why)
                                      : decode_v2(session, &command, in, len, &used);
    if (err == BBF_EMORE)
        return false;
    session->need = session->want = 0;
    if (err != BBF_OK) {
        end_stream(service, session, err, why);
        return false;
    }
    *pos += used;
    session->asked = true;
    session->busy = true;
    bbf_session_obey(service, session, &command);
    session->busy = false;
    bbf_command_free(&command);
    if (session->state == BBF_HANDSHAKE)
        session->deadline = bbf_monotonic_ms() + service->config.handshake_ms;
    return true;
}

static bool may_obey(const struct bbf_session *session)
{
    return !session->broken && session->state != BBF_LINGER && session->out.bytes <= HIGH_WATER;
}

/* Obey what has come in. True: stopped by queued output, there may be more to obey. */
static bool obey_input(struct bbf_service *service, struct bbf_session *session)
{
    size_t pos = 0;

    if (session->state == BBF_AUTH || session->state == BBF_NEGOTIATE)
        bbf_session_negotiate(service, session, &pos);
    while (session->state > BBF_NEGOTIATE && may_obey(session) &&
           next_command(service, session, &pos))
        continue;
    size_t left = session->state == BBF_LINGER ? 0 : session->in.len - pos;
    if (left == 0 && session->in.cap > KEEP_BYTES)
        bbf_buf_free(&session->in);
    else if (left > 0 && pos > 0)
        memmove(session->in.data, session->in.data + pos, left);
    session->in.len = left;
    return left > 0 && !session->broken && session->out.bytes > HIGH_WATER;
}

/* The live stream begins for this client. */
static void begin_stream(struct bbf_service *service, struct bbf_session *session)
{
    struct bbf_reply reply = {service, session};

    if (service->config.begin != NULL) {
        session->busy = true;
        session->place = service->config.begin(service->config.ctx, &reply);
        session->busy = false;
    }
    atomic_store(&session->begun, true);
}

void bbf_session_feed(struct bbf_service *service, struct bbf_session *session, int64_t now)
{
    char text[BBF_LIVE_TEXT];
    struct bbf_command message = {.type = BBF_CMD_MESSAGE, .text = {{text, 0}}};
    uint64_t lost;
    bool fed = false;

    if (session->out.bytes == 0)
        session->asked = false;
    if (!session->broken && !atomic_load(&session->begun) && now >= session->live_at &&
        has_live(service, session)) {
        begin_stream(service, session);
        fed = true;
    }
    while (!session->broken && now >= session->live_at && has_live(service, session) &&
           bbf_live_next(&service->live, &session->place, text, &message.text[0].len,
                         &message.timestamp_ms, &lost)) {
        if (lost > 0) {
            atomic_fetch_add_explicit(&service->lost, lost, memory_order_relaxed);
            bbf_session_lost(service, session, message.timestamp_ms, lost);
        }
        bbf_session_emit(service, session, &message);
        fed = true;
    }
    /* Not what others queued: what follows once it is out is bbf_session_work()'s to do. */
    if (fed)
        bbf_session_flush(session);
    if (session->broken)
        bbf_session_close(session);
}

void bbf_session_work(struct bbf_service *service, struct bbf_session *session, short revents)
{
    bbf_session_flush(session);
    if (!session->broken && !session->eof && (revents & (POLLIN | POLLHUP | POLLERR)) != 0)
        receive(service, session);
    if (session->eof)
        session->need = session->want; /* what is there is all */
    bool held = true;
    while (held && !session->broken) {
        held = obey_input(service, session);
        bbf_session_flush(session);
        if (session->out.bytes > HIGH_WATER)
            break;
    }
    if (!session->broken && session->out.bytes == 0) {
        if (session->eof) {
            session->broken = true;
        } else if (session->state == BBF_LINGER && !session->shut) {
            session->shut = true;
            shutdown(atomic_load(&session->fd), SHUT_WR);
            session->deadline = bbf_monotonic_ms() + LINGER_MS;
        }
    }
    if (session->broken)
        bbf_session_close(session);
}
