/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/client/conn_io.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/err.h"

enum { READ_BYTES = 64 * 1024 };

int bbf_conn_fail(char *why, size_t why_size, int err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, why_size, format, args);
    va_end(args);
    return err;
}

/* With a stop_fd: no time-out; BBF_EMORE once it can be read. */
static int wait_for(struct bbf_conn *conn, short events, int stop_fd, char *why, size_t why_size)
{
    struct pollfd p[2] = {{.fd = conn->fd, .events = events}, {.fd = stop_fd, .events = POLLIN}};
    int64_t until = bbf_monotonic_ms() + conn->timeout_ms;

    for (;;) {
        int64_t left = until - bbf_monotonic_ms();
        int wait = stop_fd >= 0 ? -1 : left <= 0 ? 0 : (int)(left > INT32_MAX ? INT32_MAX : left);
        int n = poll(p, stop_fd >= 0 ? 2 : 1, wait);
        if (n > 0)
            return stop_fd >= 0 && p[1].revents != 0 ? BBF_EMORE : BBF_OK;
        if (n == 0)
            return bbf_conn_fail(why, why_size, BBF_ETIMEOUT,
                                 "the agent did not answer within %u ms", conn->timeout_ms);
        if (errno != EINTR)
            return bbf_conn_fail(why, why_size, BBF_EIO, "poll: %s", strerror(errno));
    }
}

int bbf_conn_send_pieces(struct bbf_conn *conn, struct iovec *piece, size_t n, char *why,
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
            int err = wait_for(conn, POLLOUT, BBF_CONN_NO_STOP, why, why_size);
            if (err != BBF_OK)
                return err;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return bbf_conn_fail(why, why_size, BBF_ECLOSED, "the agent closed the connection");
        } else if (errno != EINTR) {
            return bbf_conn_fail(why, why_size, BBF_EIO, "send: %s", strerror(errno));
        }
    }
    return BBF_OK;
}

int bbf_conn_send_all(struct bbf_conn *conn, const void *data, size_t len, char *why,
                      size_t why_size)
{
    struct iovec all = {(void *)(uintptr_t)data, len};

    return bbf_conn_send_pieces(conn, &all, 1, why, why_size);
}

int bbf_conn_receive_some(struct bbf_conn *conn, int stop_fd, char *why, size_t why_size)
{
    if (conn->pos > 0) {
        memmove(conn->in.data, conn->in.data + conn->pos, conn->in.len - conn->pos);
        conn->in.len -= conn->pos;
        conn->pos = 0;
    }
    char *to = bbf_buf_reserve(&conn->in, READ_BYTES);
    if (to == NULL)
        return bbf_conn_fail(why, why_size, BBF_ENOMEM, "out of memory");
    for (;;) {
        int err = wait_for(conn, POLLIN, stop_fd, why, why_size);
        if (err != BBF_OK)
            return err;
        ssize_t n = recv(conn->fd, to, READ_BYTES, MSG_DONTWAIT);
        if (n > 0) {
            conn->in.len += (size_t)n;
            if (conn->arrived != NULL)
                conn->arrived((uint64_t)n);
            return BBF_OK;
        }
        if (n == 0 || errno == ECONNRESET)
            return bbf_conn_fail(why, why_size, BBF_ECLOSED, "the agent closed the connection%s",
                                 conn->in.len > 0 ? " in the middle of an answer" : "");
        if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            return bbf_conn_fail(why, why_size, BBF_EIO, "recv: %s", strerror(errno));
    }
}

int bbf_conn_await(struct bbf_conn *conn, size_t n, char *why, size_t why_size)
{
    int err = BBF_OK;

    while (err == BBF_OK && conn->in.len - conn->pos < n)
        err = bbf_conn_receive_some(conn, BBF_CONN_NO_STOP, why, why_size);
    return err;
}
