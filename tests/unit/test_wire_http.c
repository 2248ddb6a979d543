/* link: bbf_wire bbf_core */
/*
 * The HTTP server of metrics= over real sockets: requests whole and in pieces, both media types,
 * slow, hostile and many clients. The maker of the document is this test.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/address.h"
#include "core/clock.h"
#include "core/err.h"
#include "wire/http/request.h"
#include "wire/http/server.h"

static _Atomic unsigned wanted[BBF_HTTP_MEDIA];
static struct bbf_http *_Atomic makes; /* want() makes the document at once; NULL: it does not */
static _Atomic size_t body_bytes = 20;

static void publish(struct bbf_http *http, enum bbf_http_media media, unsigned fresh_ms)
{
    struct bbf_buf body = BBF_BUF_INIT;
    size_t bytes = body_bytes; /* the test may change it meanwhile */

    bbf_buf_str(&body, media == BBF_HTTP_OPENMETRICS ? "open " : "text ");
    char *rest = bbf_buf_reserve(&body, bytes);
    assert_non_null(rest);
    memset(rest, '#', bytes - body.len);
    body.len = bytes;
    bbf_http_publish(http, media, &body, fresh_ms);
    assert_null(body.data);
}

static void want(void *ctx, enum bbf_http_media media)
{
    (void)ctx;
    wanted[media]++;
    if (makes != NULL)
        publish(makes, media, 0);
}

static struct bbf_http *start_with(struct bbf_http_config config)
{
    struct bbf_http *http;
    const char *bad;
    char why[200];

    config.want = want;
    config.max_clients = config.max_clients != 0 ? config.max_clients : 8;
    config.request_ms = config.request_ms != 0 ? config.request_ms : 20000;
    config.idle_ms = config.idle_ms != 0 ? config.idle_ms : 20000;
    config.answer_ms = config.answer_ms != 0 ? config.answer_ms : 20000;
    config.write_ms = config.write_ms != 0 ? config.write_ms : 20000;
    if (config.address.host[0] == '\0')
        assert_int_equal(bbf_address_parse(&config.address, "0", &bad), BBF_OK);
    assert_int_equal(bbf_http_start(&http, &config, why, sizeof why), BBF_OK);
    assert_string_equal(why, "");
    assert_true(bbf_http_port(http) > 0);
    body_bytes = 20;
    wanted[0] = wanted[1] = 0;
    makes = http;
    return http;
}

static void stop(struct bbf_http *http)
{
    makes = NULL;
    bbf_http_stop(http, 20000);
}

static int dial(const struct bbf_http *http)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(bbf_http_port(http)),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const struct timeval limit = {20, 0};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static void put(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static char answer[100000];

/* One answer: its header, and as many bytes as that says. Returns the status; 0: closed. */
static int take(int fd, bool has_body)
{
    size_t len = 0, all = SIZE_MAX;

    while (len < all) {
        ssize_t n = recv(fd, answer + len, all == SIZE_MAX ? 1 : all - len, 0);
        if (n <= 0) {
            assert_true(n == 0 || errno == ECONNRESET);
            assert_int_equal(len, 0);
            return 0;
        }
        len += (size_t)n;
        answer[len] = '\0';
        if (all == SIZE_MAX && strstr(answer, "\r\n\r\n") != NULL)
            all = len + (has_body ? strtoul(strstr(answer, "Content-Length: ") + 16, NULL, 10) : 0);
    }
    return (int)strtol(answer + strlen("HTTP/1.1 "), NULL, 10);
}

static bool is_closed(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, 0);
    return n == 0 || (n < 0 && errno == ECONNRESET);
}

#define HOST "Host: 127.0.0.1\r\n"
#define GET  "GET /metrics HTTP/1.1\r\n" HOST "\r\n"
#define PROMETHEUS                                                                                 \
    "GET /metrics HTTP/1.1\r\n" HOST                                                               \
    "Accept: application/openmetrics-text;version=1.0.0,application/openmetrics-text;"             \
    "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n\r\n"

/* One request on a connection of its own. */
static int ask(struct bbf_http *http, const char *request)
{
    int fd = dial(http);
    put(fd, request);
    int status = take(fd, true);
    close(fd);
    return status;
}

static bool has(const char *text)
{
    return strstr(answer, text) != NULL;
}

/* ---- requests ---- */

static void the_media_type_is_negotiated(void **state)
{
    struct bbf_http *http = start_with((struct bbf_http_config){0});
    (void)state;
    assert_int_equal(ask(http, GET), 200);
    assert_true(has("\r\n\r\ntext #"));
    assert_true(has("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    assert_true(has(" GMT\r\n"));
    assert_int_equal(ask(http, PROMETHEUS), 200);
    assert_true(has("\r\n\r\nopen #"));
    assert_true(
        has("\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"));
    static const struct {
        const char *accept;
        enum bbf_http_media media;
    } rows[] = {{"", BBF_HTTP_TEXT},
                {"*/*", BBF_HTTP_TEXT},
                {"image/png", BBF_HTTP_TEXT},
                {"application/*", BBF_HTTP_OPENMETRICS},
                {"application/openmetrics-text", BBF_HTTP_OPENMETRICS},
                {"application/openmetrics-text;version=0.0.1", BBF_HTTP_TEXT},
                {"application/openmetrics-text;version=0.0.1, text/plain;q=0.1", BBF_HTTP_TEXT},
                {"APPLICATION/OpenMetrics-Text ; q=0.5 , text/plain;q=0.4", BBF_HTTP_OPENMETRICS},
                {"application/openmetrics-text;q=0,text/plain;q=0", BBF_HTTP_TEXT},
                {"application/openmetrics-text;q=0.2,*/*", BBF_HTTP_TEXT},
                {"text/plain, application/openmetrics-text", BBF_HTTP_OPENMETRICS},
                {"application/openmetrics-text;q=7,text/plain;q=0.1", BBF_HTTP_TEXT},
                {";;;,,,;q=;q", BBF_HTTP_TEXT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bbf_http_accept(rows[i].accept, strlen(rows[i].accept)) != rows[i].media)
            fail_msg("%s", rows[i].accept);
    stop(http);
}

static void what_is_not_the_document_has_its_status(void **state)
{
    struct bbf_http *http = start_with((struct bbf_http_config){0});
    static const struct {
        int status;
        const char *request;
    } rows[] = {{404, "GET / HTTP/1.1\r\n" HOST "\r\n"},
                {404, "GET /metrics/ HTTP/1.1\r\n" HOST "\r\n"},
                {404, "POST /metric HTTP/1.1\r\n" HOST "\r\n"},
                {405, "POST /metrics HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc"},
                {405, "get /metrics HTTP/1.1\r\n" HOST "\r\n"},
                {200, "GET /metrics?name=x HTTP/1.1\r\nHOST:localhost:9404\r\n\r\n"},
                {200, "GET http://127.0.0.1:1/metrics HTTP/1.1\r\n" HOST "\r\n"},
                {200, "\r\nGET /metrics HTTP/1.0\n\n"},
                {200, "GET /metrics HTTP/1.1\r\nHost: [::1]:9404\r\n\r\n"},
                {421, "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n"},
                {421, "GET /metrics HTTP/1.1\r\nHost:\r\n\r\n"},
                {421, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n"},
                {400, "GET /metrics HTTP/1.1\r\n\r\n"},
                {400, "GET /metrics HTTP/1.1\r\n" HOST HOST "\r\n"},
                {400, "GET /metrics HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n"},
                {400, "GET /metrics HTTP/1.1\r\n" HOST " folded\r\n\r\n"},
                {400, "GET /metrics HTTP/1.1\r\n" HOST "X: \x01\r\n\r\n"},
                {400, "GET /metrics\r\n\r\n"},
                {400, "GET  /metrics HTTP/1.1\r\n" HOST "\r\n"},
                {400, "G(T /metrics HTTP/1.1\r\n" HOST "\r\n"},
                {400, "\x16\x03\x01\x02\n\n"},
                {505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status = ask(http, rows[i].request);
        if (status != rows[i].status)
            fail_msg("%d instead of %d: %s", status, rows[i].status, rows[i].request);
        assert_true((status == 405) == has("\r\nAllow: GET, HEAD\r\n"));
        assert_false(has("evil"));
    }
    struct bbf_http_stats stats;
    bbf_http_get_stats(http, &stats);
    assert_int_equal(stats.served, 4);
    assert_int_equal(stats.other, 8);
    assert_int_equal(stats.malformed, 10);
    stop(http);
}

static void a_long_request_is_refused(void **state)
{
    struct bbf_http *http = start_with((struct bbf_http_config){0});
    char request[BBF_HTTP_REQUEST_BYTES + 200] = "GET /metrics HTTP/1.1\r\nX: ";
    (void)state;
    memset(request + strlen(request), 'a', BBF_HTTP_REQUEST_BYTES);
    assert_int_equal(ask(http, request), 431);
    assert_true(has("Connection: close"));
    stop(http);
}

static void a_connection_carries_many_requests(void **state)
{
    struct bbf_http *http = start_with((struct bbf_http_config){0});
    int fd = dial(http);
    (void)state;
    put(fd, GET);
    assert_int_equal(take(fd, true), 200);
    assert_true(has("Connection: keep-alive"));
    for (const char *c = PROMETHEUS; *c != '\0'; c++) { /* byte by byte */
        char byte[2] = {*c, '\0'};
        put(fd, byte);
    }
    assert_int_equal(take(fd, true), 200);
    put(fd, GET "HEAD /metrics HTTP/1.1\r\n" HOST "\r\n" GET); /* without waiting */
    assert_int_equal(take(fd, true), 200);
    assert_int_equal(take(fd, false), 200);
    assert_true(has("Content-Length: 20\r\n"));
    assert_int_equal(take(fd, true), 200);
    put(fd, "GET /metrics HTTP/1.1\r\n" HOST "Connection: x, Close\r\n\r\n");
    assert_int_equal(take(fd, true), 200);
    assert_true(has("Connection: close"));
    assert_true(is_closed(fd));
    close(fd);
    fd = dial(http); /* 1.0 closes unless asked */
    put(fd, "GET /metrics HTTP/1.0\r\n\r\n");
    assert_int_equal(take(fd, true), 200);
    assert_true(is_closed(fd));
    close(fd);
    fd = dial(http);
    put(fd, "GET /metrics HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_int_equal(take(fd, true), 200);
    put(fd, GET);
    assert_int_equal(take(fd, true), 200);
    close(fd);
    stop(http);
}

/* ---- the document ---- */

static void a_fresh_document_is_made_once(void **state)
{
    struct bbf_http *http = start_with((struct bbf_http_config){0});
    (void)state;
    makes = NULL;
    publish(http, BBF_HTTP_TEXT, 60000);
    for (int i = 0; i < 5; i++)
        assert_int_equal(ask(http, GET), 200);
    assert_int_equal(wanted[BBF_HTTP_TEXT], 0);
    publish(http, BBF_HTTP_TEXT, 0); /* old at once */
    makes = http;
    assert_int_equal(ask(http, GET), 200);
    assert_int_equal(ask(http, GET), 200);
    assert_int_equal(wanted[BBF_HTTP_TEXT], 2);
    assert_int_equal(wanted[BBF_HTTP_OPENMETRICS], 0);
    stop(http);
}

static void without_a_document_the_answer_is_503(void **state)
{
    struct bbf_http *http = start_with((struct bbf_http_config){.answer_ms = 50});
    (void)state;
    makes = NULL;
    assert_int_equal(ask(http, GET), 503);
    stop(http);
    http = start_with((struct bbf_http_config){0});
    makes = NULL;
    int fd = dial(http);
    put(fd, GET);
    while (wanted[BBF_HTTP_TEXT] == 0)
        usleep(1000);
    bbf_http_publish(http, BBF_HTTP_TEXT, NULL, 0); /* no memory */
    assert_int_equal(take(fd, true), 503);
    assert_true(has("keep-alive"));
    makes = http;
    put(fd, GET);
    assert_int_equal(take(fd, true), 200);
    close(fd);
    stop(http);
}

/* ---- slow, hostile, many ---- */

static void slow_clients_are_closed(void **state)
{
    struct bbf_http *http =
        start_with((struct bbf_http_config){.request_ms = 100, .idle_ms = 100, .write_ms = 100});
    (void)state;
    int silent = dial(http), slow = dial(http), idle = dial(http);
    put(slow, "GET /metr");
    put(idle, GET);
    assert_int_equal(take(idle, true), 200);
    assert_true(is_closed(silent));
    assert_true(is_closed(slow));
    assert_true(is_closed(idle));
    makes = NULL;
    body_bytes = 64 << 20; /* more than the kernel takes */
    publish(http, BBF_HTTP_TEXT, 60000);
    int deaf = dial(http);
    put(deaf, GET);
    struct bbf_http_stats stats;
    do {
        usleep(5000);
        bbf_http_get_stats(http, &stats);
    } while (stats.late < 2);
    body_bytes = 20;
    publish(http, BBF_HTTP_TEXT, 60000);
    assert_int_equal(ask(http, GET), 200);
    close(silent), close(slow), close(idle), close(deaf);
    stop(http);
}

/* A client that reads nothing does not delay the others. */
static void a_client_that_does_not_read_delays_no_other(void **state)
{
    struct bbf_http *http = start_with((struct bbf_http_config){.max_clients = 4});
    int deaf[3];
    (void)state;
    makes = NULL;
    body_bytes = 64 << 20;
    publish(http, BBF_HTTP_OPENMETRICS, 60000);
    body_bytes = 20;
    publish(http, BBF_HTTP_TEXT, 60000);
    for (int i = 0; i < 3; i++) {
        deaf[i] = dial(http);
        put(deaf[i], PROMETHEUS);
        put(deaf[i], PROMETHEUS);
    }
    int64_t began = bbf_monotonic_ms();
    for (int i = 0; i < 20; i++)
        assert_int_equal(ask(http, GET), 200);
    assert_true(bbf_monotonic_ms() - began < 15000);
    for (int i = 0; i < 3; i++)
        close(deaf[i]);
    stop(http);
}

/* As many as there may be and more, that never end their request: each other is still served. */
static void idle_clients_shut_no_other_out(void **state)
{
    struct bbf_http *http = start_with((struct bbf_http_config){.max_clients = 4});
    int fds[40];
    (void)state;
    for (int i = 0; i < 40; i++) {
        fds[i] = dial(http);
        if (i % 2 == 0)
            put(fds[i], "GET /metrics HTTP/1.1\r\n");
        if (i % 8 == 7)
            assert_int_equal(ask(http, GET), 200);
    }
    struct bbf_http_stats stats;
    bbf_http_get_stats(http, &stats);
    assert_true(stats.crowded >= 36);
    assert_int_equal(stats.served, 5);
    for (int i = 0; i < 40; i++)
        close(fds[i]);
    stop(http);
}

static void *scrape(void *arg)
{
    static _Atomic unsigned turn;
    unsigned failed = 0;
    char text[4096];

    for (int i = 0; i < 50; i++) {
        int fd = dial(arg);
        put(fd, turn++ % 2 == 0 ? "GET /metrics HTTP/1.0\r\n\r\n" : "GET /x HTTP/1.0\r\n\r\n");
        size_t len = 0;
        for (ssize_t n; (n = recv(fd, text + len, sizeof text - 1 - len, 0)) > 0;)
            len += (size_t)n;
        text[len] = '\0';
        failed += strncmp(text, "HTTP/1.1 200", 12) != 0 && strncmp(text, "HTTP/1.1 404", 12) != 0;
        close(fd);
    }
    return (void *)(uintptr_t)failed;
}

static void many_clients_are_all_served(void **state)
{
    struct bbf_http *http = start_with((struct bbf_http_config){.max_clients = 16});
    pthread_t threads[8];
    (void)state;
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, scrape, http), 0);
    for (size_t i = 0; i < 8; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_ptr_equal(failed, NULL);
    }
    struct bbf_http_stats stats;
    bbf_http_get_stats(http, &stats);
    assert_int_equal(stats.served + stats.other, 400);
    stop(http);
}

/* A client that leaves at any moment. */
static void clients_may_leave_at_any_moment(void **state)
{
    struct bbf_http *http = start_with((struct bbf_http_config){.max_clients = 3});
    (void)state;
    body_bytes = 1 << 20;
    for (size_t n = 0; n <= strlen(GET); n++) {
        int fd = dial(http);
        const struct linger hard = {1, 0};
        assert_int_equal(send(fd, GET, n, MSG_NOSIGNAL), n);
        if (n % 2 == 0) /* with a reset */
            assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
        close(fd);
    }
    body_bytes = 20;
    makes = NULL; /* one waits for its document when the server stops */
    int fd = dial(http);
    put(fd, PROMETHEUS);
    while (wanted[BBF_HTTP_OPENMETRICS] == 0)
        usleep(1000);
    stop(http);
    assert_true(is_closed(fd));
    close(fd);
}

/* ---- the address ---- */

static void a_taken_port_is_said(void **state)
{
    struct bbf_http *http = start_with((struct bbf_http_config){0}), *second = NULL;
    struct bbf_http_config config = {.max_clients = 1, .want = want};
    const char *bad;
    char why[200], address[20];
    (void)state;
    snprintf(address, sizeof address, "%u", (unsigned)bbf_http_port(http));
    assert_int_equal(bbf_address_parse(&config.address, address, &bad), BBF_OK);
    assert_int_equal(bbf_http_start(&second, &config, why, sizeof why), BBF_EIO);
    assert_non_null(strstr(why, address));
    assert_non_null(strstr(why, "another program listens on this port"));
    stop(http);
    assert_int_equal(bbf_http_start(&second, &config, why, sizeof why), BBF_OK); /* at once */
    bbf_http_stop(second, 20000);
}

static void an_address_is_a_port_or_both(void **state)
{
    static const struct {
        const char *text, *host;
        int port, err;
        bool is_loopback;
    } rows[] = {{"9404", "127.0.0.1", 9404, BBF_OK, true},
                {"0", "127.0.0.1", 0, BBF_OK, true},
                {"localhost:1", "127.0.0.1", 1, BBF_OK, true},
                {"0.0.0.0:65535", "0.0.0.0", 65535, BBF_OK, false},
                {"127.9.9.9:80", "127.9.9.9", 80, BBF_OK, true},
                {"[::1]:80", "::1", 80, BBF_OK, true},
                {"[::]:80", "::", 80, BBF_OK, false},
                {"65536", NULL, 0, BBF_ERANGE, false},
                {"", NULL, 0, BBF_EINVAL, false},
                {":80", NULL, 0, BBF_EINVAL, false},
                {"127.0.0.1:", NULL, 0, BBF_EINVAL, false},
                {"127.0.0.1", NULL, 0, BBF_EINVAL, false},
                {"host:80", NULL, 0, BBF_EINVAL, false},
                {"::1:80", NULL, 0, BBF_EINVAL, false},
                {"[::1]80", NULL, 0, BBF_EINVAL, false},
                {"80 ", NULL, 0, BBF_EINVAL, false},
                {"-1", NULL, 0, BBF_EINVAL, false}};
    struct bbf_address address;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *why = NULL;
        if (bbf_address_parse(&address, rows[i].text, &why) != rows[i].err)
            fail_msg("%s", rows[i].text);
        if (rows[i].err != BBF_OK) {
            assert_non_null(why);
            continue;
        }
        assert_string_equal(address.host, rows[i].host);
        assert_int_equal(address.port, rows[i].port);
        assert_int_equal(bbf_address_is_loopback(&address), rows[i].is_loopback);
    }
}

/* A host that is not the loopback is reached by names. */
static void another_host_may_have_a_name(void **state)
{
    struct bbf_http_config config = {0};
    const char *bad;
    (void)state;
    assert_int_equal(bbf_address_parse(&config.address, "0.0.0.0:0", &bad), BBF_OK);
    struct bbf_http *http = start_with(config);
    assert_int_equal(ask(http, "GET /metrics HTTP/1.1\r\nHost: pod-7.svc\r\n\r\n"), 200);
    stop(http);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_media_type_is_negotiated),
        cmocka_unit_test(what_is_not_the_document_has_its_status),
        cmocka_unit_test(a_long_request_is_refused),
        cmocka_unit_test(a_connection_carries_many_requests),
        cmocka_unit_test(a_fresh_document_is_made_once),
        cmocka_unit_test(without_a_document_the_answer_is_503),
        cmocka_unit_test(slow_clients_are_closed),
        cmocka_unit_test(a_client_that_does_not_read_delays_no_other),
        cmocka_unit_test(idle_clients_shut_no_other_out),
        cmocka_unit_test(many_clients_are_all_served),
        cmocka_unit_test(clients_may_leave_at_any_moment),
        cmocka_unit_test(a_taken_port_is_said),
        cmocka_unit_test(an_address_is_a_port_or_both),
        cmocka_unit_test(another_host_may_have_a_name),
    };
    return cmocka_run_group_tests_name("wire_http", tests, NULL, NULL);
}
