/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/lttng/link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/err.h"
#include "core/log.h"

enum {
    PORT_0_1 = 5345, /* of the RFC, which has no file */
    READ_BYTES = 16 * 1024,
    KEPT_BYTES = 4096, /* of a buffer that is empty */
    SECOND_MS = 1000
};

bool bbf_lttng_link_init(struct bbf_lttng_link *link, enum bbf_lttng_daemon daemon, uint32_t pid,
                         const struct bbf_lttng_state *state)
{
    *link = (struct bbf_lttng_link){.daemon = daemon,
                                    .pid = pid,
                                    .fd = -1,
                                    .due_ms = 0,
                                    .state = *state,
                                    .in = BBF_BUF_INIT,
                                    .out = BBF_BUF_INIT,
                                    .chance = (uint64_t)pid << 8 | (daemon + 1u)};
    bool found = bbf_lttng_port_path(daemon, link->path);
    if (!found)
        link->due_ms = INT64_MAX;
    return found;
}

static void drop(struct bbf_lttng_link *link)
{
    if (link->fd >= 0)
        close(link->fd);
    link->fd = -1;
    link->port = 0;
    bbf_lttng_state_clear(&link->state);
    bbf_buf_free(&link->in);
    bbf_buf_free(&link->out);
    link->phase = BBF_LTTNG_WAITING;
}

void bbf_lttng_link_free(struct bbf_lttng_link *link)
{
    drop(link);
    bbf_lttng_enabled_free(&link->state.enabled);
    link->due_ms = INT64_MAX;
}

/* ---- times ---- */

/* `ms`, more or less by up to a quarter, so that the JVMs of a machine do not all come at once
 * after a daemon's restart (xorshift64). */
static int64_t jitter(struct bbf_lttng_link *link, int64_t ms)
{
    link->chance ^= link->chance << 13;
    link->chance ^= link->chance >> 7;
    link->chance ^= link->chance << 17;
    return ms - ms / 4 + (int64_t)(link->chance % (uint64_t)(ms / 2 + 1));
}

static int64_t retry_ms(struct bbf_lttng_link *link)
{
    int64_t ms = BBF_LTTNG_RETRY_FIRST_MS;

    for (unsigned i = 0; i < link->failures && ms < BBF_LTTNG_RETRY_MOST_MS; i++)
        ms *= 2;
    link->failures++;
    return jitter(link, ms < BBF_LTTNG_RETRY_MOST_MS ? ms : BBF_LTTNG_RETRY_MOST_MS);
}

void bbf_lttng_link_end(struct bbf_lttng_link *link, int64_t now_ms, const char *why)
{
    if (why != NULL)
        bbf_log(BBF_LOG_INFO, "lttng: the connection to the %s daemon ended: %s",
                bbf_lttng_daemon_name(link->daemon), why);
    drop(link);
    link->ended++;
    link->due_ms = now_ms + retry_ms(link);
}

/* Does the daemon owe something: the rest of a command, room for our answers, the registration? */
static bool is_owed(const struct bbf_lttng_link *link)
{
    bool registers = link->state.version == BBF_LTTNG_2_0 && !link->state.is_registered;

    return link->in.len > 0 || link->out.len > 0 || registers;
}

static bool is_paused(const struct bbf_lttng_link *link)
{
    return link->taken >= BBF_LTTNG_COMMANDS_A_SECOND;
}

/* When an open link needs its owner, whatever poll(2) says. */
static int64_t due_when_open(const struct bbf_lttng_link *link)
{
    int64_t stall = is_owed(link) ? link->progress_ms + BBF_LTTNG_STALL_MS : INT64_MAX;
    int64_t second = is_paused(link) ? link->second_ms + SECOND_MS : INT64_MAX;

    return second < stall ? second : stall;
}

static bool may_read(const struct bbf_lttng_link *link)
{
    return !is_paused(link) && link->out.len < BBF_LTTNG_ANSWERS_MAX;
}

struct pollfd bbf_lttng_link_poll(const struct bbf_lttng_link *link)
{
    bool out = link->phase == BBF_LTTNG_CONNECTING || link->out.len > 0;
    bool in = link->phase == BBF_LTTNG_OPEN && may_read(link);
    short events = (short)((out ? POLLOUT : 0) | (in ? POLLIN : 0));

    /* With no event to wait for, poll(2) would still return at once for a connection that ended. */
    return (struct pollfd){.fd = events != 0 ? link->fd : -1, .events = events};
}

/* ---- a connection's begin ---- */

static uint16_t find_port(const struct bbf_lttng_link *link)
{
    uint16_t port = bbf_lttng_port_read(link->path);

    return port == 0 && link->state.version == BBF_LTTNG_0_1 ? PORT_0_1 : port;
}

static void open_link(struct bbf_lttng_link *link, int64_t now_ms)
{
    int one = 1;

    (void)setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    link->phase = BBF_LTTNG_OPEN;
    link->progress_ms = link->second_ms = now_ms;
    link->taken = 0;
    if (link->state.version == BBF_LTTNG_2_0)
        bbf_lttng_add_registration(&link->out, link->pid);
}

static void begin(struct bbf_lttng_link *link, int64_t now_ms, uint16_t taken_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    uint16_t port = find_port(link);

    link->due_ms = now_ms + jitter(link, BBF_LTTNG_FIND_MS);
    if (port == 0 || port == taken_port)
        return;
    address.sin_port = htons(port);
    link->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (link->fd < 0)
        return;
    link->port = port;
    link->phase = BBF_LTTNG_CONNECTING;
    link->due_ms = now_ms + BBF_LTTNG_CONNECT_MS;
    if (connect(link->fd, (struct sockaddr *)&address, sizeof address) != 0 && errno != EINPROGRESS)
        bbf_lttng_link_end(link, now_ms, strerror(errno));
}

/* A port that is free may be given to the very socket that connects to it. */
static bool is_own_end(const struct bbf_lttng_link *link)
{
    struct sockaddr_in own = {0};
    socklen_t len = sizeof own;

    return getsockname(link->fd, (struct sockaddr *)&own, &len) != 0 ||
           ntohs(own.sin_port) == link->port;
}

static void finish_connect(struct bbf_lttng_link *link, short revents, int64_t now_ms)
{
    int error = 0;
    socklen_t len = sizeof error;

    if (revents == 0) {
        if (now_ms >= link->due_ms)
            bbf_lttng_link_end(link, now_ms, "no connection in time");
        return;
    }
    if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
        error = errno;
    if (error != 0 || is_own_end(link))
        bbf_lttng_link_end(link, now_ms, error != 0 ? strerror(error) : "no daemon listens");
    else
        open_link(link, now_ms);
}

/* ---- an open connection ---- */

/* The functions below return why the connection has to end; NULL: it does not. */

/* The first `used` bytes are done with. */
static void consume(struct bbf_buf *buf, size_t used)
{
    if (used > 0 && used < buf->len)
        memmove(buf->data, buf->data + used, buf->len - used);
    buf->len -= used;
    if (buf->len == 0 && buf->cap > KEPT_BYTES)
        bbf_buf_free(buf);
}

static const char *flush(struct bbf_lttng_link *link, int64_t now_ms)
{
    while (link->out.len > 0) {
        ssize_t n = send(link->fd, link->out.data, link->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK ? NULL : strerror(errno);
        consume(&link->out, (size_t)n);
        link->progress_ms = now_ms;
    }
    return NULL;
}

static const char *read_some(struct bbf_lttng_link *link, int64_t now_ms)
{
    char *room = bbf_buf_reserve(&link->in, READ_BYTES);

    if (room == NULL)
        return bbf_strerror(BBF_ENOMEM);
    ssize_t n = recv(link->fd, room, READ_BYTES, MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? NULL : strerror(errno);
    if (n == 0)
        return "the daemon closed it";
    link->in.len += (size_t)n;
    link->progress_ms = now_ms;
    return NULL;
}

static void switch_version(struct bbf_lttng_link *link)
{
    if (link->may_switch)
        link->state.version = link->state.version == BBF_LTTNG_2_0 ? BBF_LTTNG_0_1 : BBF_LTTNG_2_0;
}

static const char *answer_all(struct bbf_lttng_link *link)
{
    size_t done = 0, used;
    const char *why = NULL;
    int err = BBF_OK;

    while (may_read(link) && (err == BBF_OK || err == BBF_EFORMAT)) {
        err = bbf_lttng_answer(&link->state, (const uint8_t *)link->in.data + done,
                               link->in.len - done, &used, &why, &link->out);
        if (err != BBF_OK && err != BBF_EFORMAT)
            break;
        link->malformed += err == BBF_EFORMAT;
        link->taken++;
        done += used;
    }
    consume(&link->in, done);
    if (link->state.is_registered || (link->state.version == BBF_LTTNG_0_1 && done > 0))
        link->failures = 0;
    if (err == BBF_EVERSION)
        switch_version(link);
    if (err == BBF_ENOMEM)
        return bbf_strerror(err);
    return err == BBF_ELIMIT || err == BBF_EVERSION ? why : NULL;
}

/* Where answers had no more room, the commands behind them are in no socket that could wake the
 * owner: they are answered as soon as these answers are sent. */
static const char *answer_and_send(struct bbf_lttng_link *link, int64_t now_ms)
{
    size_t before;

    do {
        before = link->in.len;
        const char *why = before > 0 ? answer_all(link) : NULL;
        if (why == NULL)
            why = flush(link, now_ms);
        if (why != NULL)
            return why;
    } while (link->in.len > 0 && link->in.len < before && link->out.len == 0);
    return NULL;
}

static const char *talk(struct bbf_lttng_link *link, short revents, int64_t now_ms)
{
    if (now_ms - link->second_ms >= SECOND_MS) {
        link->second_ms = now_ms;
        link->taken = 0;
    }
    const char *why = flush(link, now_ms);
    if (why == NULL && link->in.len > 0)
        why = answer_all(link);
    if (why == NULL && may_read(link) && (revents & (POLLIN | POLLHUP | POLLERR)) != 0)
        why = read_some(link, now_ms);
    if (why == NULL)
        why = answer_and_send(link, now_ms);
    if (why == NULL && is_owed(link) && now_ms - link->progress_ms >= BBF_LTTNG_STALL_MS)
        why = "the daemon did not finish what it began";
    return why;
}

void bbf_lttng_link_work(struct bbf_lttng_link *link, short revents, int64_t now_ms,
                         uint16_t taken_port)
{
    if (link->phase == BBF_LTTNG_WAITING && now_ms >= link->due_ms)
        begin(link, now_ms, taken_port);
    else if (link->phase == BBF_LTTNG_CONNECTING)
        finish_connect(link, revents, now_ms);
    if (link->phase != BBF_LTTNG_OPEN)
        return;
    const char *why = talk(link, revents, now_ms);
    if (why != NULL)
        bbf_lttng_link_end(link, now_ms, why);
    else
        link->due_ms = due_when_open(link);
}
