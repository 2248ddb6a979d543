/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/client/conn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/err.h"
#include "core/units.h"
#include "wire/client/conn_io.h"

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
        err = bbf_conn_fail(why, why_size, err, "%s cannot be sent: %s",
                            bbf_command_name(command->type), bbf_strerror(err));
    } else {
        struct iovec *all = bbf_pieces_all(&conn->out, &n);
        err = bbf_conn_send_pieces(conn, all, n, why, why_size);
    }
    conn->spoke = true;
    conn->answered = 0;
    conn->asked_ms = bbf_monotonic_ms();
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
        return bbf_conn_fail(why, why_size, BBF_ELIMIT,
                             "the answer is longer than %s and was given up; --max-document=SIZE "
                             "allows more",
                             bbf_size_text(conn->max_answer, most, sizeof most));
    if (bbf_monotonic_ms() - conn->asked_ms > allowed_ms)
        return bbf_conn_fail(why, why_size, BBF_ETIMEOUT,
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
            err = stop_fd == BBF_CONN_NO_STOP ? check_answer(conn, 0, why, why_size) : BBF_OK;
            if (err != BBF_OK)
                bbf_command_free(out);
            return err;
        }
        if (err != BBF_EMORE)
            return bbf_conn_fail(why, why_size, err, "the agent's answer is malformed: %s", reason);
        conn->need = used;
        err = bbf_conn_receive_some(conn, stop_fd, why, why_size);
        if (err == BBF_OK && stop_fd == BBF_CONN_NO_STOP)
            err = check_answer(conn, conn->in.len - conn->pos, why, why_size);
        if (err != BBF_OK) {
            memset(out, 0, sizeof *out);
            return err;
        }
    }
}

int bbf_conn_receive(struct bbf_conn *conn, struct bbf_command *out, char *why, size_t why_size)
{
    return receive(conn, BBF_CONN_NO_STOP, out, why, why_size);
}

int bbf_conn_receive_until(struct bbf_conn *conn, int stop_fd, struct bbf_command *out, char *why,
                           size_t why_size)
{
    return receive(conn, stop_fd, out, why, why_size);
}
