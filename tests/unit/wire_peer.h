/*
 * tests/unit/wire_peer.h - a client made of bare bytes, and a server with a small application
 * behind it, for the tests of wire/server/server.h and wire/client/conn.h. Everything static: each
 * test program has its own copy and its own folder for sockets.
 */
#ifndef BBF_TESTS_WIRE_PEER_H
#define BBF_TESTS_WIRE_PEER_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/err.h"
#include "wire/server/server.h"

#define PROBE "123e4567-e89b-12d3-a456-426614174000"

/* The folder that holds bbflow-UID/. */
static char peer_base[64];

static inline int make_base(void **state)
{
    (void)state;
    strcpy(peer_base, "/tmp/bbflow-test-XXXXXX");
    return mkdtemp(peer_base) == NULL ? -1 : 0;
}

static inline int remove_base(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", peer_base);
    return system(command);
}

static inline int64_t peer_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline int raw_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_true(strlen(path) < sizeof address.sun_path);
    strcpy(address.sun_path, path);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static inline void raw_send(int fd, const void *data, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = send(fd, (const char *)data + at, len - at, MSG_NOSIGNAL);
        assert_true(n > 0);
        at += (size_t)n;
    }
}

/* Everything until the server closes, or until `enough` bytes have come, or 10 s. */
static inline size_t raw_receive(int fd, void *to, size_t enough)
{
    size_t len = 0;

    while (len < enough) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 10000) != 1)
            fail_msg("the server is silent after %zu of %zu bytes", len, enough);
        ssize_t n = recv(fd, (char *)to + len, enough - len, 0);
        if (n < 0 && errno == ECONNRESET)
            n = 0;
        assert_true(n >= 0);
        if (n == 0)
            break;
        len += (size_t)n;
    }
    return len;
}

/* Does the server close within `ms`? Whatever it sends is thrown away. */
static inline bool raw_closes(int fd, int ms)
{
    char waste[4096];
    int64_t until = peer_now_ms() + ms;

    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = until - peer_now_ms();
        if (left < 0 || poll(&p, 1, (int)left) != 1)
            return false;
        if (recv(fd, waste, sizeof waste, 0) <= 0)
            return true;
    }
}

/*
 * The application: "hello" is a line, "text N" N bytes of lines, "doc N" a document of N bytes,
 * "slow N" answers after N ms, "fail" is an ERROR, anything else is unknown.
 */
static inline void app_event(void *ctx, const char *name, struct bbf_reply *reply)
{
    unsigned n;

    (void)ctx;
    if (strcmp(name, "hello") == 0) {
        bbf_reply_text(reply, "hello\n", 6);
    } else if (strcmp(name, "fail") == 0) {
        bbf_reply_error(reply, "it did not work");
    } else if (sscanf(name, "slow %u", &n) == 1) {
        nanosleep(&(struct timespec){n / 1000, (long)(n % 1000) * 1000000}, NULL);
        bbf_reply_text(reply, "at last\n", 8);
    } else if (sscanf(name, "parts %u", &n) == 1) { /* of 256 KiB, as the agent's JSON goes out */
        static const char piece[1 << 18] = "a part of a document";
        int err = BBF_OK;
        while (n-- > 0 && err == BBF_OK)
            err = bbf_reply_document_part(reply, piece, sizeof piece);
    } else if (sscanf(name, "text %u", &n) == 1 || sscanf(name, "doc %u", &n) == 1) {
        char *text = malloc(n > 0 ? n : 1);
        assert_non_null(text);
        for (unsigned i = 0; i < n; i++)
            text[i] = i % 61 == 60 ? '\n' : (char)('a' + i % 26);
        (name[0] == 't' ? bbf_reply_text : bbf_reply_document)(reply, text, n);
        free(text);
    } else {
        bbf_reply_text(reply, "known: hello, text, doc, slow, fail\n", 36);
        bbf_reply_status(reply, false);
    }
}

/* "bad" is refused; all else is repeated as the answer. */
static inline int app_set(void *ctx, const struct bbf_entry *params, size_t n,
                          struct bbf_buf *answer)
{
    (void)ctx;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(params[i].key.s, "bad") == 0) {
            bbf_buf_free(answer);
            bbf_buf_str(answer, "bad: no such option");
            return BBF_EINVAL;
        }
        bbf_buf_printf(answer, "%s=%s\n", params[i].key.s,
                       params[i].value.kind == BBF_VALUE_STRING ? params[i].value.text.s : "?");
    }
    return 0;
}

static inline struct bbf_server *start(struct bbf_server_config config)
{
    static pid_t pid = 1000; /* one name a server: a failed test leaves its server running */
    struct bbf_server *server;
    char why[512] = "";

    config.socket_dir = peer_base;
    config.pid = pid++;
    if (config.max_clients == 0)
        config.max_clients = 4;
    config.probe_id = PROBE;
    config.event = app_event;
    config.set = app_set;
    int err = bbf_server_start(&server, &config, why, sizeof why);
    if (err != BBF_OK)
        fail_msg("server: %d %s", err, why);
    return server;
}

/* The bytes of a conversation, written out. */
#define MAGIC              "BTR2"
#define LIST_REQUEST       "\x03\x0E\0\0\0\0"
#define LIST_ANSWER        "\x03\x0E\0\0\0\x01\0\0\0\x2D" PROBE " [bbflow]"
#define RECONNECT          "\x03\x10\0\0\0\x24" PROBE
#define BOUND              "\x03\x06\0\0\0\x08\x01"
#define NOT_BOUND          "\x03\x06\0\0\0\x08\0"
#define EVENT_HELLO        "\x03\x01\0\0\0\x05hello"
#define HELLO              "\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\x06hello\n"
#define DISCONNECT_REQUEST "\x03\x0F\0\0\0\0"
#define DISCONNECT_ANSWER  "\x03\x0F\0\0\0\x24" PROBE
#define EXIT_7             "\x03\x02\0\0\0\x07"
#define EXIT_1             "\x03\x02\0\0\0\x01"
#define STATUS_0_OK        "\x03\x06\0\0\0\0\x01"
#define STATUS_0_FAILED    "\x03\x06\0\0\0\0\0"
#define STATUS_1_FAILED    "\x03\x06\0\0\0\x01\0"

/* Send `c2s`, expect exactly `s2c` and, if `ends`, then the end of the stream. */
static inline void converse_bytes(int fd, const char *c2s, size_t c2s_len, const char *s2c,
                                  size_t s2c_len, bool ends)
{
    char got[4096];

    raw_send(fd, c2s, c2s_len);
    assert_true(s2c_len < sizeof got);
    size_t n = raw_receive(fd, got, ends ? sizeof got : s2c_len);
    assert_int_equal(n, s2c_len);
    assert_memory_equal(got, s2c, s2c_len);
}
#define CONVERSE(fd, c2s, s2c) converse_bytes(fd, c2s, sizeof c2s - 1, s2c, sizeof s2c - 1, false)
#define CONVERSE_END(fd, c2s, s2c)                                                                 \
    converse_bytes(fd, c2s, sizeof c2s - 1, s2c, sizeof s2c - 1, true)

static inline int open_raw(const struct bbf_server *server)
{
    int fd = raw_connect(bbf_server_path(server));

    assert_true(fd >= 0);
    return fd;
}

/* One conversation on a connection of its own, to its end. */
#define ASK(server, c2s, s2c)                                                                      \
    do {                                                                                           \
        int ask_fd = open_raw(server);                                                             \
        CONVERSE_END(ask_fd, c2s, s2c);                                                            \
        close(ask_fd);                                                                             \
    } while (0)

static inline int tcp_connect_to(const char *address, uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(inet_pton(AF_INET, address, &to.sin_addr), 1);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static inline int tcp_open(const struct bbf_server *server)
{
    int fd = tcp_connect_to("127.0.0.1", bbf_server_port(server));

    assert_true(fd >= 0);
    return fd;
}

#define ASK_TCP(server, c2s, s2c)                                                                  \
    do {                                                                                           \
        int ask_fd = tcp_open(server);                                                             \
        CONVERSE_END(ask_fd, c2s, s2c);                                                            \
        close(ask_fd);                                                                             \
    } while (0)

static inline struct bbf_server_stats stats_of(const struct bbf_server *server)
{
    struct bbf_server_stats stats;

    bbf_server_get_stats(server, &stats);
    return stats;
}

#endif
