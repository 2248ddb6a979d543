#include "wire/session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/err.h"

enum {
    READ_BYTES = 64 * 1024,
    HIGH_WATER = 1024 * 1024, /* queued output that stops the reading of commands */
    LINGER_MS = 1000,
    KEEP_BYTES = 256 * 1024 /* an input buffer that grew past this is given back when empty */
};

static const char magic[4] = {'B', 'T', 'R', '2'};

int64_t bbf_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void bbf_session_open(struct bbf_service *service, struct bbf_session *session, int fd)
{
    session->state = BBF_NEGOTIATE;
    session->broken = session->eof = session->shut = false;
    session->need = 0;
    session->moved = bbf_now_ms();
    session->deadline = session->moved + service->config.handshake_ms;
    atomic_store(&session->fd, fd);
}

void bbf_session_close(struct bbf_session *session)
{
    /* The slot first: a child forked in between then has a stray fd at worst, and never closes a
     * number that belongs to someone else by then. */
    int fd = atomic_exchange(&session->fd, -1);

    if (fd >= 0)
        close(fd);
    bbf_buf_free(&session->in);
    bbf_sendq_free(&session->out);
}

void bbf_session_linger(struct bbf_session *session)
{
    session->state = BBF_LINGER;
    session->deadline = INT64_MAX; /* starts when the answer is out; until then, the stall limit */
}

short bbf_session_events(const struct bbf_session *session)
{
    int events = 0;

    if (session->out.bytes > 0)
        events |= POLLOUT;
    if (!session->eof && (session->state == BBF_LINGER || session->out.bytes <= HIGH_WATER))
        events |= POLLIN;
    return (short)events;
}

int64_t bbf_session_due(const struct bbf_service *service, const struct bbf_session *session)
{
    int64_t stall = session->out.bytes > 0 ? session->moved + service->config.stall_ms : INT64_MAX;
    return stall < session->deadline ? stall : session->deadline;
}

void bbf_session_expire(struct bbf_service *service, struct bbf_session *session, int64_t now)
{
    if (now < bbf_session_due(service, session))
        return;
    if (session->out.bytes > 0)
        atomic_fetch_add_explicit(&service->dropped, 1, memory_order_relaxed);
    bbf_session_close(session);
}

static void flush(struct bbf_session *session)
{
    bool moved;

    if (session->broken || session->out.bytes == 0)
        return;
    if (bbf_sendq_flush(&session->out, atomic_load(&session->fd), &moved) != BBF_OK)
        session->broken = true;
    if (moved)
        session->moved = bbf_now_ms();
}

static void receive(struct bbf_session *session)
{
    char waste[4096];
    bool lingering = session->state == BBF_LINGER;
    char *to = lingering ? waste : bbf_buf_reserve(&session->in, READ_BYTES);

    if (to == NULL) {
        session->broken = true;
        return;
    }
    ssize_t n =
        recv(atomic_load(&session->fd), to, lingering ? sizeof waste : READ_BYTES, MSG_DONTWAIT);
    if (n == 0)
        session->eof = true;
    else if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        session->broken = true;
    else if (n > 0 && !lingering)
        session->in.len += (size_t)n;
}

/* The first four bytes. Anything but BTR2 is sent away at its first wrong byte. */
static bool negotiate(struct bbf_service *service, struct bbf_session *session, size_t *pos)
{
    size_t n = session->in.len < sizeof magic ? session->in.len : sizeof magic;

    if (n > 0 && memcmp(session->in.data, magic, n) != 0) {
        atomic_fetch_add_explicit(&service->malformed, 1, memory_order_relaxed);
        session->broken = true;
        return false;
    }
    if (n < sizeof magic)
        return false;
    *pos = sizeof magic;
    if (bbf_sendq_add(&session->out, magic, sizeof magic) != BBF_OK)
        session->broken = true;
    atomic_fetch_add_explicit(&service->accepted, 1, memory_order_relaxed);
    session->state = BBF_HANDSHAKE;
    session->moved = bbf_now_ms();
    session->deadline = session->moved + service->config.handshake_ms;
    return true;
}

/* Obey the frame at *pos. False: not there yet, or the end. */
static bool next_frame(struct bbf_service *service, struct bbf_session *session, size_t *pos)
{
    const uint8_t *in = (const uint8_t *)session->in.data + *pos;
    size_t len = session->in.len - *pos;
    struct bbf_command command = {.type = BBF_CMD_TYPES};
    size_t used;
    int err;

    if (len == 0 || len < session->need)
        return false;
    if (len < 2 || in[1] >= BBF_CMD_TYPES || bbf_session_reads((enum bbf_command_type)in[1])) {
        err = bbf_command_decode(&command, in, len, &used, &bbf_wire_server_limits, NULL);
    } else {
        err = bbf_command_skip(in, len, &used, &bbf_wire_server_limits, NULL);
        command.type = (enum bbf_command_type)in[1];
    }
    if (err == BBF_EMORE) {
        session->need = used;
        return false;
    }
    session->need = 0;
    if (err != BBF_OK) {
        /* There is no way back into the stream; what was answered so far still goes out. */
        atomic_fetch_add_explicit(&service->malformed, 1, memory_order_relaxed);
        bbf_session_linger(session);
        return false;
    }
    *pos += used;
    bbf_session_obey(service, session, &command);
    bbf_command_free(&command);
    if (session->state == BBF_HANDSHAKE)
        session->deadline = bbf_now_ms() + service->config.handshake_ms;
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

    if (session->state == BBF_NEGOTIATE)
        (void)negotiate(service, session, &pos);
    while (session->state != BBF_NEGOTIATE && may_obey(session) &&
           next_frame(service, session, &pos))
        continue;
    size_t left = session->state == BBF_LINGER ? 0 : session->in.len - pos;
    if (left == 0 && session->in.cap > KEEP_BYTES)
        bbf_buf_free(&session->in);
    else if (left > 0 && pos > 0)
        memmove(session->in.data, session->in.data + pos, left);
    session->in.len = left;
    return left > 0 && !session->broken && session->out.bytes > HIGH_WATER;
}

void bbf_session_work(struct bbf_service *service, struct bbf_session *session, short revents)
{
    flush(session);
    if (!session->broken && !session->eof && (revents & (POLLIN | POLLHUP | POLLERR)) != 0)
        receive(session);
    bool held = true;
    while (held && !session->broken) {
        held = obey_input(service, session);
        flush(session);
        if (session->out.bytes > HIGH_WATER)
            break;
    }
    if (!session->broken && session->out.bytes == 0) {
        if (session->eof) {
            session->broken = true;
        } else if (session->state == BBF_LINGER && !session->shut) {
            session->shut = true;
            shutdown(atomic_load(&session->fd), SHUT_WR);
            session->deadline = bbf_now_ms() + LINGER_MS;
        }
    }
    if (session->broken)
        bbf_session_close(session);
}
