/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/client/dial.c - the beginning of a client's connection (bbf_conn_open of
 * wire/client/conn.h): connect, authenticate, agree on a protocol. Source: docs/btrace-wire.md 2.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/err.h"
#include "wire/client/conn.h"
#include "wire/client/conn_io.h"
#include "wire/refusal.h"

enum {
    MAGIC = 4,
    REASON_MS = 500, /* for the four bytes after BTAF, which only our agent sends */
    BUSY_MS = 3000,  /* how long to try again while the agent is busy */
    BUSY_PAUSE_MS = 50
};

/* ---- Connect --------------------------------------------------------------------------------- */

static int unix_failed(const char *path, char *why, size_t why_size)
{
    int error = errno;

    switch (error) {
    case ENOENT:
        return bbf_conn_fail(why, why_size, BBF_ENOTFOUND, "%s: no such socket", path);
    case ECONNREFUSED:
        return bbf_conn_fail(why, why_size, BBF_ENOTFOUND, "%s: no answer (the process has ended)",
                             path);
    case EACCES:
    case EPERM:
        return bbf_conn_fail(why, why_size, BBF_EPERMISSION,
                             "%s: permission denied (another user's JVM)", path);
    default:
        return bbf_conn_fail(why, why_size, BBF_EIO, "%s: %s", path, strerror(error));
    }
}

/* A full backlog makes connect fail at once with EAGAIN on Linux: then wait a little. */
static int connect_unix(struct bbf_conn *conn, const char *path, char *why, size_t why_size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int64_t until = bbf_monotonic_ms() + conn->timeout_ms;

    if (strlen(path) >= sizeof address.sun_path)
        return bbf_conn_fail(why, why_size, BBF_EIO,
                             "%s: longer than the %zu bytes of a socket's path", path,
                             sizeof address.sun_path - 1);
    strcpy(address.sun_path, path);
    conn->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (conn->fd < 0)
        return bbf_conn_fail(why, why_size, BBF_EIO, "socket: %s", strerror(errno));
    while (connect(conn->fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN)
            return unix_failed(path, why, why_size);
        if (bbf_monotonic_ms() >= until)
            return bbf_conn_fail(why, why_size, BBF_ETIMEOUT, "%s: not accepted within %u ms", path,
                                 conn->timeout_ms);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return BBF_OK;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family != AF_INET6)
        return false;
    const struct in6_addr *in6 = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(in6) || (IN6_IS_ADDR_V4MAPPED(in6) && in6->s6_addr[12] == 127);
}

/* Wait for a connect in progress. 0 or an errno. */
static int finish_connect(struct bbf_conn *conn)
{
    struct pollfd p = {.fd = conn->fd, .events = POLLOUT};
    int64_t until = bbf_monotonic_ms() + conn->timeout_ms;
    int error = 0, n;
    socklen_t size = sizeof error;

    do {
        int64_t left = until - bbf_monotonic_ms();
        n = poll(&p, 1, left > 0 ? (int)(left > INT32_MAX ? INT32_MAX : left) : 0);
    } while (n < 0 && errno == EINTR);
    if (n == 0)
        return ETIMEDOUT;
    if (n < 0 || getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        return errno;
    return error;
}

/* 0 or an errno; EPERM: a token would leave this machine. */
static int connect_address(struct bbf_conn *conn, const struct bbf_conn_config *config,
                           const struct addrinfo *at)
{
    int error = 0, on = 1;

    if (config->token != NULL && !config->token_anywhere && !is_loopback(at->ai_addr))
        return EPERM;
    conn->fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (conn->fd < 0)
        return errno;
    if (connect(conn->fd, at->ai_addr, at->ai_addrlen) != 0)
        error = errno == EINPROGRESS || errno == EINTR ? finish_connect(conn) : errno;
    if (error == 0) {
        (void)setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        return 0;
    }
    close(conn->fd);
    conn->fd = -1;
    return error;
}

static int connect_tcp(struct bbf_conn *conn, const struct bbf_conn_config *config, char *why,
                       size_t why_size)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *list;
    int error = getaddrinfo(config->host, config->port, &hints, &list);

    if (error != 0)
        return bbf_conn_fail(why, why_size, BBF_ENOTFOUND, "%s: %s", config->host,
                             gai_strerror(error));
    error = ENOENT;
    for (const struct addrinfo *at = list; at != NULL && error != 0; at = at->ai_next)
        error = connect_address(conn, config, at);
    freeaddrinfo(list);
    switch (error) {
    case 0:
        return BBF_OK;
    case EPERM:
        return bbf_conn_fail(why, why_size, BBF_EPERMISSION,
                             "%s is another machine, and the token would travel there in clear; "
                             "use a tunnel (ssh -L), or --remote-token",
                             config->host);
    case ECONNREFUSED:
        return bbf_conn_fail(why, why_size, BBF_ENOTFOUND, "no process listens on port %s",
                             config->port);
    case ETIMEDOUT:
        return bbf_conn_fail(why, why_size, BBF_ETIMEOUT, "not accepted within %u ms",
                             conn->timeout_ms);
    default:
        return bbf_conn_fail(why, why_size, BBF_EIO, "%s", strerror(error));
    }
}

/* ---- Token, protocol ------------------------------------------------------------------------- */

/* Are the next four bytes, at pos, equal to these? */
static bool next_is(const struct bbf_conn *conn, const char *magic)
{
    return memcmp(conn->in.data + conn->pos, magic, MAGIC) == 0;
}

/* The answer is BTAF: our agent sends the reason in four more bytes (wire/refusal.h). BBF_OK: no
 * reason. BBF_ELIMIT: no room for the connection; BBF_EMORE: not now. */
static int turned_away(struct bbf_conn *conn, char *why, size_t why_size)
{
    static const struct {
        const char *reason;
        int err;
        const char *text;
    } reasons[] = {
        {BBF_WHY_BUSY, BBF_EMORE,
         "the agent is busy with connections that show no token; try again, or ask on its host by "
         "pid, over its socket"},
        {BBF_WHY_FULL, BBF_ELIMIT,
         "the agent refused: too many clients (its option maxClients=); close one"},
        {BBF_WHY_LATE, BBF_ELIMIT,
         "the agent refused: the token did not come in time (its option authSeconds=)"},
        {BBF_WHY_NONE, BBF_EREFUSED, "the agent asks for no token; leave it out"},
    };
    unsigned timeout_ms = conn->timeout_ms;
    char ignored[128];

    if (conn->timeout_ms > REASON_MS)
        conn->timeout_ms = REASON_MS;
    int err = bbf_conn_await(conn, 2 * (size_t)MAGIC, ignored, sizeof ignored);
    conn->timeout_ms = timeout_ms;
    for (size_t i = 0; err == BBF_OK && i < sizeof reasons / sizeof reasons[0]; i++) {
        if (memcmp(conn->in.data + conn->pos + MAGIC, reasons[i].reason, MAGIC) == 0)
            return bbf_conn_fail(why, why_size, reasons[i].err, "%s", reasons[i].text);
    }
    return BBF_OK;
}

/* Send the start of a conversation and await the first four bytes of the answer. An agent that
 * refuses at once may answer and close before all is sent. */
static int exchange(struct bbf_conn *conn, const void *data, size_t len, char *why, size_t why_size)
{
    int err = bbf_conn_send_all(conn, data, len, why, why_size);

    if (err == BBF_OK || err == BBF_ECLOSED)
        err = bbf_conn_await(conn, MAGIC, why, why_size);
    if (err == BBF_OK && next_is(conn, "BTAF"))
        err = turned_away(conn, why, why_size);
    return err;
}

static int authenticate(struct bbf_conn *conn, const struct bbf_conn_config *config, char *why,
                        size_t why_size)
{
    struct bbf_buf preamble = BBF_BUF_INIT;
    uint32_t len = htonl((uint32_t)config->token_len);

    bbf_buf_add(&preamble, "BTA1", MAGIC);
    bbf_buf_add(&preamble, &len, sizeof len);
    bbf_buf_add(&preamble, config->token, config->token_len);
    int err = preamble.failed ? bbf_conn_fail(why, why_size, BBF_ENOMEM, "out of memory")
                              : exchange(conn, preamble.data, preamble.len, why, why_size);
    if (preamble.data != NULL)
        explicit_bzero(preamble.data, preamble.cap);
    bbf_buf_free(&preamble);
    if (err == BBF_ECLOSED)
        return bbf_conn_fail(
            why, why_size, BBF_EREFUSED,
            "the agent closed the connection without an answer to the token: it is "
            "stopping, or it knows no token (then leave it out)");
    if (err != BBF_OK)
        return err;
    if (next_is(conn, "BTAF"))
        return bbf_conn_fail(why, why_size, BBF_EPERMISSION,
                             "the token is wrong; the JVM's property btrace.auth.tokenFile names "
                             "its file");
    if (!next_is(conn, "BTAK"))
        return bbf_conn_fail(why, why_size, BBF_EREFUSED,
                             "the agent asks for no token; leave it out");
    conn->pos += MAGIC;
    return BBF_OK;
}

/* BBF_EVERSION, BBF_EREFUSED (closed at once), BBF_ETIMEOUT: v1 may still work. */
static int begin_v2(struct bbf_conn *conn, char *why, size_t why_size)
{
    unsigned timeout_ms = conn->timeout_ms;

    if (conn->timeout_ms > BBF_NEGOTIATE_MS)
        conn->timeout_ms = BBF_NEGOTIATE_MS;
    int err = exchange(conn, "BTR2", MAGIC, why, why_size);
    conn->timeout_ms = timeout_ms;
    if (err == BBF_ECLOSED)
        return bbf_conn_fail(why, why_size, BBF_EREFUSED,
                             "the agent closed the connection at once (too many clients, or "
                             "another user)");
    if (err != BBF_OK)
        return err;
    if (next_is(conn, "BTAF"))
        return bbf_conn_fail(why, why_size, BBF_EPERMISSION,
                             "the agent asks for a token: --token-file FILE; the JVM's property "
                             "btrace.auth.tokenFile names the file");
    if (memcmp(conn->in.data + conn->pos, "\xAC\xED", 2) == 0)
        return bbf_conn_fail(why, why_size, BBF_EVERSION,
                             "the agent speaks BTrace v1 only, no BTR2");
    if (!next_is(conn, "BTR2"))
        return bbf_conn_fail(why, why_size, BBF_EVERSION, "who answers there speaks no BTrace v2");
    conn->pos += MAGIC;
    return BBF_OK;
}

/* Both sides send the header first; an agent sends its own after it has received ours. */
static int begin_v1(struct bbf_conn *conn, char *why, size_t why_size)
{
    conn->reader = bbf_v1_reader_new(&bbf_wire_client_limits);
    if (conn->reader == NULL)
        return bbf_conn_fail(why, why_size, BBF_ENOMEM, "out of memory");
    int err = exchange(conn, BBF_V1_HEADER, BBF_V1_HEADER_LEN, why, why_size);
    if (err == BBF_ECLOSED)
        return bbf_conn_fail(why, why_size, BBF_EREFUSED,
                             "the agent closed the connection at once");
    if (err != BBF_OK)
        return err;
    if (next_is(conn, "BTAF"))
        return bbf_conn_fail(why, why_size, BBF_EPERMISSION,
                             "the agent asks for a token: --token-file FILE");
    if (!next_is(conn, BBF_V1_HEADER))
        return bbf_conn_fail(why, why_size, BBF_EVERSION, "who answers there speaks no BTrace");
    conn->pos += BBF_V1_HEADER_LEN;
    return BBF_OK;
}

/* There is no answer, neither from an agent that knows the key nor from a stock agent. */
static int ask_to_compress(struct bbf_conn *conn, uint32_t over, char *why, size_t why_size)
{
    static char key[] = BBF_COMPRESS;
    struct bbf_entry entry = {.key = {key, sizeof key - 1},
                              .value = {.kind = BBF_VALUE_LONG, .u.l = over}};
    struct bbf_command command = {.type = BBF_CMD_SET_PARAMS, .entries = &entry, .n_entries = 1};

    return bbf_conn_send(conn, &command, why, why_size);
}

/* *asked: the connection got as far as the choice of the protocol. */
static int dial(struct bbf_conn **out, const struct bbf_conn_config *config,
                enum bbf_protocol protocol, bool *asked, char *why, size_t why_size)
{
    struct bbf_conn *conn = calloc(1, sizeof *conn);

    *out = NULL;
    *asked = false;
    if (conn == NULL)
        return bbf_conn_fail(why, why_size, BBF_ENOMEM, "out of memory");
    conn->fd = -1;
    conn->timeout_ms = config->timeout_ms;
    conn->max_answer = config->max_answer;
    conn->arrived = config->arrived;
    conn->asked_ms = bbf_monotonic_ms();
    conn->deflate_over = config->deflate_over > 0 ? config->deflate_over : BBF_DEFLATE_OVER;
    int err = config->path != NULL ? connect_unix(conn, config->path, why, why_size)
                                   : connect_tcp(conn, config, why, why_size);
    if (err == BBF_OK && config->path == NULL && config->token != NULL)
        err = authenticate(conn, config, why, why_size);
    *asked = err == BBF_OK;
    if (err == BBF_OK)
        err = protocol == BBF_PROTOCOL_1 ? begin_v1(conn, why, why_size)
                                         : begin_v2(conn, why, why_size);
    if (err == BBF_OK && protocol != BBF_PROTOCOL_1 && config->compress > 0)
        err = ask_to_compress(conn, config->compress, why, why_size);
    if (err != BBF_OK) {
        bbf_conn_close(conn);
        return err;
    }
    *out = conn;
    return BBF_OK;
}

int bbf_conn_open(struct bbf_conn **out, const struct bbf_conn_config *config, char *why,
                  size_t why_size)
{
    bool asked;
    int64_t until =
        bbf_monotonic_ms() + (config->timeout_ms < BUSY_MS ? config->timeout_ms : BUSY_MS);
    int err = dial(out, config, config->protocol, &asked, why, why_size);

    while (err == BBF_EMORE && bbf_monotonic_ms() < until) {
        nanosleep(&(struct timespec){.tv_nsec = BUSY_PAUSE_MS * 1000000L}, NULL);
        err = dial(out, config, config->protocol, &asked, why, why_size);
    }

    /* A wrong answer, the end, silence: an agent of v1 may do any of these after BTR2. */
    if (config->protocol == BBF_PROTOCOL_AUTO && asked &&
        (err == BBF_EVERSION || err == BBF_EREFUSED || err == BBF_ETIMEOUT))
        err = dial(out, config, BBF_PROTOCOL_1, &asked, why, why_size);
    return err == BBF_EMORE || err == BBF_ELIMIT ? BBF_EREFUSED : err;
}
