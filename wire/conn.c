#include "wire/conn.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/err.h"

enum { READ_BYTES = 64 * 1024 };

static const char magic[4] = {'B', 'T', 'R', '2'};

struct bbf_conn {
    int fd;
    unsigned timeout_ms;
    struct bbf_buf in; /* received; [0..pos) is used up */
    size_t pos;
    size_t need; /* bytes from pos below which decoding is in vain */
    bool over;   /* the conversation was ended by DISCONNECT */
};

static int say(char *why, size_t why_size, int err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int say(char *why, size_t why_size, int err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, why_size, format, args);
    va_end(args);
    return err;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int wait_for(struct bbf_conn *conn, short events, char *why, size_t why_size)
{
    struct pollfd p = {.fd = conn->fd, .events = events};
    int64_t until = now_ms() + conn->timeout_ms;

    for (;;) {
        int64_t left = until - now_ms();
        int n = poll(&p, 1, left > 0 ? (int)(left > INT32_MAX ? INT32_MAX : left) : 0);
        if (n > 0)
            return BBF_OK;
        if (n == 0)
            return say(why, why_size, BBF_ETIMEOUT, "the agent did not answer within %u ms",
                       conn->timeout_ms);
        if (errno != EINTR)
            return say(why, why_size, BBF_EIO, "poll: %s", strerror(errno));
    }
}

static int send_all(struct bbf_conn *conn, const void *data, size_t len, char *why, size_t why_size)
{
    const char *at = data;

    while (len > 0) {
        ssize_t n = send(conn->fd, at, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            at += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            int err = wait_for(conn, POLLOUT, why, why_size);
            if (err != BBF_OK)
                return err;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return say(why, why_size, BBF_ECLOSED, "the agent closed the connection");
        } else if (errno != EINTR) {
            return say(why, why_size, BBF_EIO, "send: %s", strerror(errno));
        }
    }
    return BBF_OK;
}

/* At least one byte more in conn->in. */
static int receive_some(struct bbf_conn *conn, char *why, size_t why_size)
{
    if (conn->pos > 0) {
        memmove(conn->in.data, conn->in.data + conn->pos, conn->in.len - conn->pos);
        conn->in.len -= conn->pos;
        conn->pos = 0;
    }
    char *to = bbf_buf_reserve(&conn->in, READ_BYTES);
    if (to == NULL)
        return say(why, why_size, BBF_ENOMEM, "out of memory");
    for (;;) {
        int err = wait_for(conn, POLLIN, why, why_size);
        if (err != BBF_OK)
            return err;
        ssize_t n = recv(conn->fd, to, READ_BYTES, MSG_DONTWAIT);
        if (n > 0) {
            conn->in.len += (size_t)n;
            return BBF_OK;
        }
        if (n == 0 || errno == ECONNRESET)
            return say(why, why_size, BBF_ECLOSED, "the agent closed the connection%s",
                       conn->in.len > 0 ? " in the middle of an answer" : "");
        if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            return say(why, why_size, BBF_EIO, "recv: %s", strerror(errno));
    }
}

static int connect_failed(const char *path, char *why, size_t why_size)
{
    int error = errno;

    switch (error) {
    case ENOENT:
        return say(why, why_size, BBF_ENOTFOUND, "%s: no such socket", path);
    case ECONNREFUSED:
        return say(why, why_size, BBF_ENOTFOUND, "%s: nobody answers (the process has ended)",
                   path);
    case EACCES:
    case EPERM:
        return say(why, why_size, BBF_EPERMISSION, "%s: permission denied (another user's JVM)",
                   path);
    default:
        return say(why, why_size, BBF_EIO, "%s: %s", path, strerror(error));
    }
}

/* A full backlog makes connect fail at once with EAGAIN on Linux: then wait a little. */
static int connect_unix(struct bbf_conn *conn, const char *path, char *why, size_t why_size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int64_t until = now_ms() + conn->timeout_ms;

    if (strlen(path) >= sizeof address.sun_path)
        return say(why, why_size, BBF_EIO, "%s: longer than the %zu bytes of a socket's path", path,
                   sizeof address.sun_path - 1);
    strcpy(address.sun_path, path);
    while (connect(conn->fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN)
            return connect_failed(path, why, why_size);
        if (now_ms() >= until)
            return say(why, why_size, BBF_ETIMEOUT, "%s: not accepted within %u ms", path,
                       conn->timeout_ms);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return BBF_OK;
}

static int negotiate(struct bbf_conn *conn, char *why, size_t why_size)
{
    int err = send_all(conn, magic, sizeof magic, why, why_size);

    while (err == BBF_OK && conn->in.len < sizeof magic)
        err = receive_some(conn, why, why_size);
    if (err == BBF_ECLOSED)
        return say(why, why_size, BBF_EREFUSED,
                   "the agent closed the connection at once (too many clients, or another user)");
    if (err != BBF_OK)
        return err;
    if (memcmp(conn->in.data, "\xAC\xED", 2) == 0)
        return say(why, why_size, BBF_EVERSION, "the agent speaks BTrace v1 only, no BTR2");
    if (memcmp(conn->in.data, magic, sizeof magic) != 0)
        return say(why, why_size, BBF_EVERSION, "who answers there speaks no BTrace v2");
    conn->pos = sizeof magic;
    return BBF_OK;
}

int bbf_conn_open_unix(struct bbf_conn **out, const char *path, unsigned timeout_ms, char *why,
                       size_t why_size)
{
    struct bbf_conn *conn = calloc(1, sizeof *conn);

    *out = NULL;
    if (conn == NULL)
        return say(why, why_size, BBF_ENOMEM, "out of memory");
    conn->timeout_ms = timeout_ms;
    conn->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int err = conn->fd < 0 ? say(why, why_size, BBF_EIO, "socket: %s", strerror(errno))
                           : connect_unix(conn, path, why, why_size);
    if (err == BBF_OK)
        err = negotiate(conn, why, why_size);
    if (err != BBF_OK) {
        bbf_conn_close(conn);
        return err;
    }
    *out = conn;
    return BBF_OK;
}

void bbf_conn_close(struct bbf_conn *conn)
{
    if (conn == NULL)
        return;
    if (conn->fd >= 0)
        close(conn->fd);
    bbf_buf_free(&conn->in);
    free(conn);
}

int bbf_conn_send(struct bbf_conn *conn, const struct bbf_command *command, char *why,
                  size_t why_size)
{
    struct bbf_buf frame = BBF_BUF_INIT;
    int err = bbf_command_encode(&frame, command, BBF_DEFLATE_OVER);

    if (err != BBF_OK)
        say(why, why_size, err, "%s cannot be sent: %s", bbf_command_name(command->type),
            bbf_strerror(err));
    else
        err = send_all(conn, frame.data, frame.len, why, why_size);
    bbf_buf_free(&frame);
    return err;
}

int bbf_conn_receive(struct bbf_conn *conn, struct bbf_command *out, char *why, size_t why_size)
{
    for (;;) {
        const char *reason = NULL;
        size_t used, len = conn->in.len - conn->pos;
        int err = BBF_EMORE;
        if (len > 0 && len >= conn->need)
            err = bbf_command_decode(out, (const uint8_t *)conn->in.data + conn->pos, len, &used,
                                     &bbf_wire_client_limits, &reason);
        else
            used = conn->need;
        if (err == BBF_OK) {
            conn->pos += used;
            conn->need = 0;
            return BBF_OK;
        }
        if (err != BBF_EMORE)
            return say(why, why_size, err, "the agent's answer is malformed: %s", reason);
        conn->need = used;
        err = receive_some(conn, why, why_size);
        if (err != BBF_OK)
            return err;
    }
}

static int send_text(struct bbf_conn *conn, enum bbf_command_type type, const char *text, char *why,
                     size_t why_size)
{
    struct bbf_command command = {.type = type, .text = {{(char *)(uintptr_t)text, strlen(text)}}};

    return bbf_conn_send(conn, &command, why, why_size);
}

/* LIST_PROBES: the id of the first probe of class "bbflow". */
static int ask_probe(struct bbf_conn *conn, char id[64], char *why, size_t why_size)
{
    static const char suffix[] = " [bbflow]";
    struct bbf_command command = {.type = BBF_CMD_LIST_PROBES};
    int err = bbf_conn_send(conn, &command, why, why_size);

    while (err == BBF_OK) {
        err = bbf_conn_receive(conn, &command, why, why_size);
        if (err != BBF_OK)
            return err;
        bool listed = command.type == BBF_CMD_LIST_PROBES;
        bool found = false;
        for (size_t i = 0; listed && i < command.n_list && !found; i++) {
            const struct bbf_wire_str *probe = &command.list[i];
            size_t n = sizeof suffix - 1;
            found = probe->s != NULL && probe->len > n && probe->len - n < 64 &&
                    strcmp(probe->s + probe->len - n, suffix) == 0;
            if (found)
                snprintf(id, 64, "%.*s", (int)(probe->len - n), probe->s);
        }
        bbf_command_free(&command);
        if (found)
            return BBF_OK;
        if (listed)
            return say(why, why_size, BBF_ENOTFOUND,
                       "a BTrace agent answers, but it has no bbflow probe");
    }
    return err;
}

/* RECONNECT: the first STATUS is the answer. */
static int bind_probe(struct bbf_conn *conn, const char *id, char *why, size_t why_size)
{
    struct bbf_command command = {.type = BBF_CMD_MESSAGE};
    int err = send_text(conn, BBF_CMD_RECONNECT, id, why, why_size);

    while (err == BBF_OK && command.type != BBF_CMD_STATUS) {
        err = bbf_conn_receive(conn, &command, why, why_size);
        if (err != BBF_OK)
            return err;
        if (command.type == BBF_CMD_STATUS && !command.flag)
            err = say(why, why_size, BBF_EREFUSED, "the agent refused to reconnect to %s", id);
        enum bbf_command_type type = command.type;
        bbf_command_free(&command);
        command.type = type;
    }
    return err;
}

/* What an answer consists of, until its last command. */
struct answer {
    struct bbf_buf *texts;
    bool failed;        /* ERROR, or STATUS failed */
    struct bbf_buf why; /* the first ERROR's text */
};

static void note(struct answer *answer, const struct bbf_command *command)
{
    const struct bbf_wire_str *text;

    switch (command->type) {
    case BBF_CMD_MESSAGE:
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

static int gather(struct bbf_conn *conn, struct answer *answer, enum bbf_command_type last,
                  char *why, size_t why_size)
{
    bool more = true;

    while (more) {
        struct bbf_command command;
        int err = bbf_conn_receive(conn, &command, why, why_size);
        if (err != BBF_OK)
            return err;
        more = command.type != last;
        note(answer, &command);
        bbf_command_free(&command);
        if (answer->texts->failed)
            return say(why, why_size, BBF_ENOMEM, "out of memory");
    }
    return BBF_OK;
}

int bbf_conn_event(struct bbf_conn *conn, const char *name, struct bbf_buf *document, char *why,
                   size_t why_size)
{
    struct answer answer = {.texts = document, .why = BBF_BUF_INIT};
    char id[64];

    if (conn->over)
        return say(why, why_size, BBF_ECLOSED, "this connection has had its conversation");
    int err = ask_probe(conn, id, why, why_size);
    if (err == BBF_OK)
        err = bind_probe(conn, id, why, why_size);
    if (err == BBF_OK)
        err = send_text(conn, BBF_CMD_EVENT, name, why, why_size);
    if (err == BBF_OK)
        err = send_text(conn, BBF_CMD_DISCONNECT, "", why, why_size);
    conn->over = true;
    if (err == BBF_OK)
        err = gather(conn, &answer, BBF_CMD_DISCONNECT, why, why_size);
    /* An answer that is refused without an ERROR says why in its text. */
    if (err == BBF_OK && answer.failed)
        err = say(why, why_size, BBF_EREFUSED, "%s",
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
        return say(why, why_size, BBF_ECLOSED, "this connection has had its conversation");
    /* The encoder only reads; the struct serves both directions. */
    command.entries = (struct bbf_entry *)(uintptr_t)params;
    int err = bbf_conn_send(conn, &command, why, why_size);
    if (err == BBF_OK)
        err = gather(conn, &gathered, BBF_CMD_STATUS, why, why_size);
    if (err == BBF_OK && gathered.failed) {
        bbf_buf_add(answer, gathered.why.data, gathered.why.len);
        err = say(why, why_size, BBF_EREFUSED, "%s", bbf_buf_cstr(answer));
    }
    bbf_buf_free(&gathered.why);
    return err;
}
