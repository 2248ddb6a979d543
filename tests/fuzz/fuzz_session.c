/* link: bbf_wire bbf_core pthread */
/*
 * Any bytes as a client's side of a connection, over a socket pair, without the server's thread:
 * the first byte says whether a token is asked for, the next how the rest is cut into pieces.
 * Whatever comes, the session ends or waits, nothing is obeyed before the token, and what it says
 * begins as the protocol does.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/err.h"
#include "wire/server/reply.h"
#include "wire/server/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned obeyed;

static void require(int condition)
{
    if (!condition)
        abort();
}

static void on_event(void *ctx, const char *name, struct bbf_reply *reply)
{
    (void)ctx;
    obeyed++;
    require(strlen(name) < 70000);
    bbf_reply_text(reply, "hello\n", 6);
    bbf_reply_status(reply, name[0] != 'f');
}

static int on_set(void *ctx, const struct bbf_entry *params, size_t n, struct bbf_buf *answer)
{
    (void)ctx;
    obeyed++;
    for (size_t i = 0; i < n; i++)
        bbf_buf_printf(answer, "%.100s\n", params[i].key.s);
    return n % 2 == 0 ? BBF_OK : BBF_EINVAL;
}

static struct bbf_service *service_with(uint8_t *token)
{
    static struct bbf_service service;
    static char id[] = "123e4567-e89b-12d3-a456-426614174000";

    if (service.config.probe_id == NULL) {
        service.config = (struct bbf_server_config){.max_clients = 1,
                                                    .probe_id = id,
                                                    .event = on_event,
                                                    .set = on_set,
                                                    .handshake_ms = 5000,
                                                    .stall_ms = 30000,
                                                    .queue_bytes = 1 << 24};
        require(bbf_live_init(&service.live, 4) == BBF_OK);
        for (int i = 0; i < 6; i++)
            bbf_live_add(&service.live, 1, "LEAK\n", 5);
    }
    service.token = token;
    service.token_len = 3;
    service.input = 0;
    return &service;
}

/* What the server said so far, the first four bytes of it kept. */
static void listen_to(int fd, char first[4], size_t *got)
{
    char text[65536];
    ssize_t n;

    while ((n = recv(fd, text, sizeof text, MSG_DONTWAIT)) > 0) {
        for (ssize_t i = 0; i < n && *got + (size_t)i < 4; i++)
            first[*got + (size_t)i] = text[i];
        *got += (size_t)n;
    }
}

static void check_first(const char first[4], size_t got, int asked)
{
    if (got == 0)
        return;
    require(got >= 4);
    if (asked)
        require(memcmp(first, "BTAK", 4) == 0 || memcmp(first, "BTAF", 4) == 0);
    else
        require(memcmp(first, "BTR2", 4) == 0 || memcmp(first, BBF_V1_HEADER, 4) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t secret[] = {'k', 'e', 'y'};
    struct bbf_session session = {.in = BBF_BUF_INIT};
    int pair[2], asked = size > 0 && (data[0] & 1) != 0;
    char first[4] = {0};
    size_t got = 0;

    if (size < 2 || size > 60000)
        return 0;
    struct bbf_service *service = service_with(asked ? secret : NULL);
    size_t piece = data[1] == 0 ? size : data[1];
    data += 2;
    size -= 2;
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    atomic_init(&session.fd, -1);
    obeyed = 0;
    bbf_session_open(service, &session, pair[0], true);
    for (size_t at = 0; at < size && atomic_load(&session.fd) >= 0;) {
        size_t n = size - at < piece ? size - at : piece;
        ssize_t sent = send(pair[1], data + at, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0)
            break;
        at += (size_t)sent;
        bbf_session_work(service, &session, POLLIN | POLLOUT);
        if (atomic_load(&session.fd) >= 0)
            bbf_session_feed(service, &session, INT64_MAX);
        require(!asked || obeyed == 0 || memcmp(first, "BTA", 3) == 0 || got == 0);
        listen_to(pair[1], first, &got);
        require(session.state != BBF_AUTH || obeyed == 0);
    }
    if (atomic_load(&session.fd) >= 0) /* a pause, then the end */
        bbf_session_expire(service, &session, session.retry);
    shutdown(pair[1], SHUT_WR);
    for (int i = 0; i < 100 && atomic_load(&session.fd) >= 0; i++) {
        bbf_session_work(service, &session, POLLIN | POLLOUT);
        listen_to(pair[1], first, &got);
    }
    listen_to(pair[1], first, &got);
    require(atomic_load(&session.fd) < 0);
    check_first(first, got, asked);
    require(!asked || obeyed == 0 || memcmp(first, "BTAK", 4) == 0);
    close(pair[1]);
    return 0;
}
