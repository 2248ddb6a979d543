/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/client/conn.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/err.h"
#include "core/units.h"
#include "wire/client/conn_io.h"

enum { READ_BYTES = 64 * 1024, NO_STOP = -1 };

int bbf_conn_say(char *why, size_t why_size, int err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, why_size, format, args);
    va_end(args);
    return err;
}

int64_t bbf_conn_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* With a stop_fd: no time-out; BBF_EMORE once it can be read. */
static int wait_for(struct bbf_conn *conn, short events, int stop_fd, char *why, size_t why_size)
{
    struct pollfd p[2] = {{.fd = conn->fd, .events = events}, {.fd = stop_fd, .events = POLLIN}};
    int64_t until = bbf_conn_now_ms() + conn->timeout_ms;

    for (;;) {
        int64_t left = until - bbf_conn_now_ms();
        int wait = stop_fd >= 0 ? -1 : left <= 0 ? 0 : (int)(left > INT32_MAX ? INT32_MAX : left);
        int n = poll(p, stop_fd >= 0 ? 2 : 1, wait);
        if (n > 0)
            return stop_fd >= 0 && p[1].revents != 0 ? BBF_EMORE : BBF_OK;
        if (n == 0)
            return bbf_conn_say(why, why_size, BBF_ETIMEOUT,
                                "the agent did not answer within %u ms", conn->timeout_ms);
        if (errno != EINTR)
            return bbf_conn_say(why, why_size, BBF_EIO, "poll: %s", strerror(errno));
    }
}

/* Send all pieces. Consumes the list. */
static int send_pieces(struct bbf_conn *conn, struct iovec *piece, size_t n, char *why,
                       size_t why_size)
{
    while (n > 0) {
        struct msghdr next = {.msg_iov = piece, .msg_iovlen = n < IOV_MAX ? n : IOV_MAX};
        ssize_t sent = sendmsg(conn->fd, &next, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            size_t left = (size_t)sent;
            for (; n > 0 && left >= piece->iov_len; n--)
                left -= piece++->iov_len;
            if (n > 0) {
                piece->iov_base = (char *)piece->iov_base + left;
                piece->iov_len -= left;
            }
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            int err = wait_for(conn, POLLOUT, NO_STOP, why, why_size);
            if (err != BBF_OK)
                return err;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return bbf_conn_say(why, why_size, BBF_ECLOSED, "the agent closed the connection");
        } else if (errno != EINTR) {
            return bbf_conn_say(why, why_size, BBF_EIO, "send: %s", strerror(errno));
        }
    }
    return BBF_OK;
}

int bbf_conn_send_all(struct bbf_conn *conn, const void *data, size_t len, char *why,
                      size_t why_size)
{
    struct iovec all = {(void *)(uintptr_t)data, len};

    return send_pieces(conn, &all, 1, why, why_size);
}

/* Receive at least one more byte into conn->in. */
static int receive_some(struct bbf_conn *conn, int stop_fd, char *why, size_t why_size)
{
    if (conn->pos > 0) {
        memmove(conn->in.data, conn->in.data + conn->pos, conn->in.len - conn->pos);
        conn->in.len -= conn->pos;
        conn->pos = 0;
    }
    char *to = bbf_buf_reserve(&conn->in, READ_BYTES);
    if (to == NULL)
        return bbf_conn_say(why, why_size, BBF_ENOMEM, "out of memory");
    for (;;) {
        int err = wait_for(conn, POLLIN, stop_fd, why, why_size);
        if (err != BBF_OK)
            return err;
        ssize_t n = recv(conn->fd, to, READ_BYTES, MSG_DONTWAIT);
        if (n > 0) {
            conn->in.len += (size_t)n;
            return BBF_OK;
        }
        if (n == 0 || errno == ECONNRESET)
            return bbf_conn_say(why, why_size, BBF_ECLOSED, "the agent closed the connection%s",
                                conn->in.len > 0 ? " in the middle of an answer" : "");
        if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            return bbf_conn_say(why, why_size, BBF_EIO, "recv: %s", strerror(errno));
    }
}

int bbf_conn_await(struct bbf_conn *conn, size_t n, char *why, size_t why_size)
{
    int err = BBF_OK;

    while (err == BBF_OK && conn->in.len - conn->pos < n)
        err = receive_some(conn, NO_STOP, why, why_size);
    return err;
}

void bbf_conn_close(struct bbf_conn *conn)
{
    if (conn == NULL)
        return;
    if (conn->fd >= 0)
        close(conn->fd);
    bbf_v1_reader_free(conn->reader);
    bbf_buf_free(&conn->in);
    bbf_pieces_free(&conn->out);
    free(conn);
}

void bbf_conn_set_timeout(struct bbf_conn *conn, unsigned timeout_ms)
{
    conn->timeout_ms = timeout_ms;
}

pid_t bbf_conn_pid(const struct bbf_conn *conn)
{
    struct ucred peer = {.pid = 0};
    socklen_t len = sizeof peer;

    if (getsockopt(conn->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 || peer.pid < 0)
        return 0;
    return peer.pid;
}

enum bbf_protocol bbf_conn_protocol(const struct bbf_conn *conn)
{
    return conn->reader != NULL ? BBF_PROTOCOL_1 : BBF_PROTOCOL_2;
}

static int encode(struct bbf_conn *conn, const struct bbf_command *command)
{
    struct bbf_pieces *out = &conn->out;

    if (conn->reader != NULL)
        return bbf_v1_encode_pieces(out, command, conn->spoke);
    bbf_pieces_clear(out);
    int err = bbf_command_encode(&out->copied, command, conn->deflate_over);
    return err == BBF_OK && !bbf_pieces_end(out) ? BBF_ENOMEM : err;
}

int bbf_conn_send(struct bbf_conn *conn, const struct bbf_command *command, char *why,
                  size_t why_size)
{
    int err = encode(conn, command);
    size_t n;

    if (err != BBF_OK) {
        bbf_pieces_free(&conn->out);
        err = bbf_conn_say(why, why_size, err, "%s cannot be sent: %s",
                           bbf_command_name(command->type), bbf_strerror(err));
    } else {
        struct iovec *all = bbf_pieces_all(&conn->out, &n);
        err = send_pieces(conn, all, n, why, why_size);
    }
    conn->spoke = true;
    conn->answered = 0;
    conn->asked_ms = bbf_conn_now_ms();
    return err;
}

static int decode(struct bbf_conn *conn, struct bbf_command *out, size_t len, size_t *used,
                  const char **reason)
{
    const uint8_t *in = (const uint8_t *)conn->in.data + conn->pos;

    if (conn->reader != NULL)
        return bbf_v1_decode(conn->reader, out, in, len, used, reason);
    return bbf_command_decode(out, in, len, used, &bbf_wire_client_limits, reason);
}

/* Is the answer within the limits of size and time? `more` bytes of it are not yet counted. */
static int check_answer(struct bbf_conn *conn, uint64_t more, char *why, size_t why_size)
{
    uint64_t bytes = conn->answered + more;
    int64_t allowed_ms = (int64_t)conn->timeout_ms + (int64_t)(bytes * 1000 / BBF_CONN_RATE);
    char most[32];

    if (conn->max_answer != 0 && bytes > conn->max_answer)
        return bbf_conn_say(why, why_size, BBF_ELIMIT,
                            "the answer is longer than %s and was given up; --max-document=SIZE "
                            "allows more",
                            bbf_size_text(conn->max_answer, most, sizeof most));
    if (bbf_conn_now_ms() - conn->asked_ms > allowed_ms)
        return bbf_conn_say(why, why_size, BBF_ETIMEOUT,
                            "the answer does not end: %llu bytes came within %lld s; "
                            "--timeout SECONDS allows more time",
                            (unsigned long long)bytes, (long long)(allowed_ms / 1000));
    return BBF_OK;
}

/* The size of the command: received or inflated, the larger. */
static uint64_t size_of(const struct bbf_command *command, size_t used)
{
    return command->text[0].len > used ? command->text[0].len : used;
}

static int receive(struct bbf_conn *conn, int stop_fd, struct bbf_command *out, char *why,
                   size_t why_size)
{
    for (;;) {
        const char *reason = NULL;
        size_t used = conn->need, len = conn->in.len - conn->pos;
        int err = BBF_EMORE;
        if (len > 0 && len >= conn->need)
            err = decode(conn, out, len, &used, &reason);
        if (err == BBF_OK) {
            conn->pos += used;
            conn->need = 0;
            conn->answered += size_of(out, used);
            err = stop_fd == NO_STOP ? check_answer(conn, 0, why, why_size) : BBF_OK;
            if (err != BBF_OK)
                bbf_command_free(out);
            return err;
        }
        if (err != BBF_EMORE)
            return bbf_conn_say(why, why_size, err, "the agent's answer is malformed: %s", reason);
        conn->need = used;
        err = receive_some(conn, stop_fd, why, why_size);
        if (err == BBF_OK && stop_fd == NO_STOP)
            err = check_answer(conn, conn->in.len - conn->pos, why, why_size);
        if (err != BBF_OK) {
            memset(out, 0, sizeof *out);
            return err;
        }
    }
}

int bbf_conn_receive(struct bbf_conn *conn, struct bbf_command *out, char *why, size_t why_size)
{
    return receive(conn, NO_STOP, out, why, why_size);
}

int bbf_conn_receive_until(struct bbf_conn *conn, int stop_fd, struct bbf_command *out, char *why,
                           size_t why_size)
{
    return receive(conn, stop_fd, out, why, why_size);
}
