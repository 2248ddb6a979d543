/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ui_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/fail.h"
#include "client/symbols.h"
#include "core/clock.h"
#include "core/err.h"
#include "render/html.h"
#include "wire/http/request.h"

enum { OK = 200, SEE_OTHER = 303, BAD = 400, FORBIDDEN = 403, ABSENT = 404, NO_METHOD = 405 };
enum { BACKLOG = 16, TICK_MS = 1000, WHY_MAX = 300, IDLE_S = BBF_UI_ANSWER_MS / 1000 };

/* ---- The library ----------------------------------------------------------------------------- */

int bbf_mhd_open(struct bbf_mhd *api, const char *const *names, char *why, size_t why_size)
{
    static const char *const usual[] = {"libmicrohttpd.so.12", NULL};
    const struct bbf_symbol functions[] = {{"MHD_start_daemon", &api->start},
                                           {"MHD_stop_daemon", &api->stop},
                                           {"MHD_run", &api->run},
                                           {"MHD_get_timeout", &api->timeout},
                                           {"MHD_get_daemon_info", &api->daemon_info},
                                           {"MHD_get_connection_info", &api->connection_info},
                                           {"MHD_lookup_connection_value", &api->value},
                                           {"MHD_create_response_from_buffer", &api->response},
                                           {"MHD_add_response_header", &api->header},
                                           {"MHD_queue_response", &api->queue},
                                           {"MHD_destroy_response", &api->release}};

    *api = (struct bbf_mhd){.library = NULL};
    if (bbf_symbols_open(&api->library, names != NULL ? names : usual, functions,
                         sizeof functions / sizeof *functions))
        return BBF_OK;
    if (bbf_symbols_cannot("libmicrohttpd", why, why_size))
        return BBF_ENOTFOUND;
    snprintf(why, why_size,
             "%s; install it: apt-get install libmicrohttpd12 (Ubuntu 24.04: libmicrohttpd12t64), "
             "dnf install libmicrohttpd, apk add libmicrohttpd; or write the page to a file: "
             "bbflow tree PID -o leaks.html",
             api->library != NULL ? "libmicrohttpd cannot be used"
                                  : "libmicrohttpd.so.12 was not found");
    return BBF_ENOTFOUND;
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* A browser keeps nothing, shows it in no frame, and takes it for nothing else. */
static bool add_headers(const struct bbf_mhd *api, struct bbf_mhd_response *response,
                        const char *type)
{
    static const char *const headers[][2] = {
        {"Cache-Control", "no-store"},
        {"Connection", "close"}, /* so that a connection's time is limited, not a pause in it */
        {"Content-Security-Policy", "frame-ancestors 'none'"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Referrer-Policy", "no-referrer"},
        {"X-Content-Type-Options", "nosniff"}};
    bool good = api->header(response, "Content-Type", type) == BBF_MHD_YES;

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        good = good && api->header(response, headers[i][0], headers[i][1]) == BBF_MHD_YES;
    return good;
}

static struct bbf_mhd_response *make(const struct bbf_mhd *api, const char *text, size_t len,
                                     int mode, const char *type)
{
    /* The library only reads it, or frees it. */
    struct bbf_mhd_response *response = api->response(len, (void *)(uintptr_t)text, mode);

    if (response == NULL || add_headers(api, response, type))
        return response;
    api->release(response);
    return NULL;
}

static int answer(const struct bbf_ui_server *server, struct bbf_mhd_connection *connection,
                  unsigned status, const char *text, size_t len, const char *type,
                  const char *const *header)
{
    const struct bbf_mhd *api = &server->api;
    struct bbf_mhd_response *response = make(api, text, len, BBF_MHD_MUST_COPY, type);
    int result = BBF_MHD_NO;

    if (response == NULL)
        return result;
    if (header == NULL || api->header(response, header[0], header[1]) == BBF_MHD_YES)
        result = api->queue(connection, status, response);
    api->release(response);
    return result;
}

static int refuse(const struct bbf_ui_server *server, struct bbf_mhd_connection *connection,
                  unsigned status, const char *text)
{
    static const char *const allow[] = {"Allow", "GET"};

    return answer(server, connection, status, text, strlen(text), "text/plain; charset=utf-8",
                  status == NO_METHOD ? allow : NULL);
}

static bool is_secret(const char *secret, const char *given)
{
    return secret[0] != '\0' && given != NULL &&
           bbf_token_equal((const uint8_t *)secret, strlen(secret), (const uint8_t *)given,
                           strlen(given));
}

/* The key's only use. */
static int answer_key(struct bbf_ui_server *server, struct bbf_mhd_connection *connection)
{
    char place[BBF_UI_ADDRESS];
    const char *header[] = {"Location", place};

    memset(server->key, 0, sizeof server->key);
    snprintf(place, sizeof place, "/?token=%s", server->token);
    return answer(server, connection, SEE_OTHER, "", 0, "text/plain; charset=utf-8", header);
}

static int answer_state(struct bbf_ui_server *server, struct bbf_mhd_connection *connection)
{
    struct bbf_buf text = BBF_BUF_INIT;
    int result = BBF_MHD_NO;

    server->state(server->ctx, &text);
    if (!text.failed)
        result = answer(server, connection, OK, text.data, text.len, "application/json", NULL);
    bbf_buf_free(&text);
    return result;
}

static int answer_path(struct bbf_ui_server *server, struct bbf_mhd_connection *connection,
                       const char *path)
{
    if (strcmp(path, "/") == 0)
        return answer(server, connection, OK, server->page.data, server->page.len,
                      "text/html; charset=utf-8", NULL);
    if (strcmp(path, "/state") == 0)
        return answer_state(server, connection);
    if (strcmp(path, "/data") == 0 && server->data != NULL)
        return server->api.queue(connection, OK, server->data);
    return refuse(server, connection, ABSENT, "There is nothing here.\n");
}

static int answer_request(struct bbf_ui_server *server, struct bbf_mhd_connection *connection,
                          const char *path)
{
    const char *host = server->api.value(connection, BBF_MHD_HEADER, "Host");
    const char *token = server->api.value(connection, BBF_MHD_ARGUMENT, "token");

    if (host == NULL || !bbf_http_host_is_local(host, strlen(host)))
        return refuse(server, connection, BAD,
                      "This host has another name here: take 127.0.0.1 or localhost.\n");
    if (token == NULL && strcmp(path, "/") == 0 &&
        is_secret(server->key, server->api.value(connection, BBF_MHD_ARGUMENT, "key")))
        return answer_key(server, connection);
    if (!is_secret(server->token, token))
        return refuse(server, connection, FORBIDDEN,
                      "Open the address that this bbflow ui printed: it has a token.\n");
    return answer_path(server, connection, path);
}

/* Called once when the header is there, and again for each piece of a body. */
static int take_request(void *ctx, struct bbf_mhd_connection *connection, const char *url,
                        const char *method, const char *version, const char *upload,
                        size_t *upload_len, void **request)
{
    struct bbf_ui_server *server = ctx;
    const union bbf_mhd_info *info =
        server->api.connection_info(connection, BBF_MHD_CONNECTION_INFO_CONTEXT);
    struct bbf_ui_connection *row = info != NULL ? info->context : NULL;

    (void)version;
    (void)upload;
    if (row == NULL || *upload_len != 0) /* no GET has a body */
        return BBF_MHD_NO;
    if (strcmp(method, "GET") != 0)
        return refuse(server, connection, NO_METHOD, "Only GET is answered here.\n");
    if (*request == NULL) { /* an answer now would be one to a malformed request */
        *request = row;
        return BBF_MHD_YES;
    }
    row->asked = true;
    return answer_request(server, connection, url);
}

/* ---- Connections ----------------------------------------------------------------------------- */

static void note_connection(void *ctx, struct bbf_mhd_connection *connection, void **context,
                            int what)
{
    struct bbf_ui_server *server = ctx;
    struct bbf_ui_connection *row = *context;

    if (what == BBF_MHD_CLOSED && row != NULL)
        row->fd = -1;
    if (what != BBF_MHD_STARTED)
        return;
    const union bbf_mhd_info *info =
        server->api.connection_info(connection, BBF_MHD_CONNECTION_INFO_FD);
    for (size_t i = 0; i < BBF_UI_CONNECTIONS && info != NULL && *context == NULL; i++)
        if (server->connections[i].fd < 0) {
            server->connections[i] =
                (struct bbf_ui_connection){.fd = info->fd, .began_ms = bbf_monotonic_ms()};
            *context = &server->connections[i];
        }
}

/* The library's own limit is for a pause, and that of an answer: half a request, or a byte now and
 * then, would keep a connection for too long. */
static void end_slow(struct bbf_ui_server *server)
{
    const int64_t now = bbf_monotonic_ms();

    for (size_t i = 0; i < BBF_UI_CONNECTIONS; i++) {
        const struct bbf_ui_connection *row = &server->connections[i];
        if (row->fd >= 0 &&
            now - row->began_ms > (row->asked ? BBF_UI_ANSWER_MS : BBF_UI_REQUEST_MS))
            (void)shutdown(row->fd, SHUT_RDWR);
    }
}

/* ---- The server ------------------------------------------------------------------------------ */

static int listen_at(unsigned port, unsigned *got)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    const int yes = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, BACKLOG) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &len) == 0) {
        *got = ntohs(address.sin_port);
        return fd;
    }
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

static int fail_listening(unsigned port)
{
    if (errno == EADDRINUSE && port != 0)
        return bbf_fail(BBF_EXIT_FAILED,
                        "port %u of 127.0.0.1 is in use; take another one by --port, or leave it "
                        "out for any free one",
                        port);
    if (errno == EACCES && port != 0)
        return bbf_fail(BBF_EXIT_PERMISSION,
                        "port %u needs root's permission; take one above 1023 by --port", port);
    return bbf_fail(BBF_EXIT_FAILED, "127.0.0.1 cannot be listened on: %s", strerror(errno));
}

static int start(struct bbf_ui_server *server, int listening)
{
    const struct bbf_mhd *api = &server->api;

    server->daemon = api->start(
        BBF_MHD_USE_EPOLL, 0, NULL, NULL, take_request, server, BBF_MHD_OPTION_LISTEN_SOCKET,
        listening, BBF_MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)BBF_UI_REQUEST_BYTES,
        BBF_MHD_OPTION_CONNECTION_LIMIT, (unsigned)BBF_UI_CONNECTIONS,
        BBF_MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, BBF_MHD_OPTION_NOTIFY_CONNECTION,
        note_connection, (void *)server, BBF_MHD_OPTION_END);
    const union bbf_mhd_info *info =
        server->daemon != NULL ? api->daemon_info(server->daemon, BBF_MHD_DAEMON_INFO_EPOLL_FD)
                               : NULL;
    if (info == NULL)
        return bbf_fail(BBF_EXIT_FAILED, "libmicrohttpd does not start: no epoll, or no memory");
    server->fd = info->fd;
    return BBF_EXIT_OK;
}

int bbf_ui_server_open(struct bbf_ui_server *server, unsigned port,
                       void (*state)(void *ctx, struct bbf_buf *to), void *ctx)
{
    char why[WHY_MAX];

    *server = (struct bbf_ui_server){.fd = -1, .state = state, .ctx = ctx};
    for (size_t i = 0; i < BBF_UI_CONNECTIONS; i++)
        server->connections[i].fd = -1;
    if (bbf_mhd_open(&server->api, NULL, why, sizeof why) != BBF_OK)
        return bbf_fail(BBF_EXIT_FAILED, "%s", why);
    bbf_html_live(&server->page);
    if (server->page.failed)
        return bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));
    if (!bbf_token_new(server->token) || !bbf_token_new(server->key))
        return bbf_fail(BBF_EXIT_FAILED, "no random bytes for a token: %s", strerror(errno));
    int listening = listen_at(port, &server->port);
    if (listening < 0)
        return fail_listening(port);
    int exit_code = start(server, listening);
    if (server->daemon == NULL)
        close(listening);
    return exit_code;
}

void bbf_ui_server_close(struct bbf_ui_server *server)
{
    if (server->daemon != NULL)
        server->api.stop(server->daemon);
    if (server->data != NULL)
        server->api.release(server->data);
    bbf_buf_free(&server->page);
    explicit_bzero(server->token, sizeof server->token);
    explicit_bzero(server->key, sizeof server->key);
}

bool bbf_ui_server_set(struct bbf_ui_server *server, struct bbf_buf *data)
{
    const struct bbf_mhd *api = &server->api;
    char number[16];
    struct bbf_mhd_response *response =
        make(api, data->data, data->len, BBF_MHD_MUST_FREE, "text/plain; charset=utf-8");

    if (response == NULL)
        return false;
    const char *text = data->data;
    const size_t len = data->len;
    *data = (struct bbf_buf)BBF_BUF_INIT; /* the response has it */
    snprintf(number, sizeof number, "%u", server->sequence + 1);
    if (api->header(response, "Bbflow-Sequence", number) != BBF_MHD_YES) {
        api->release(response);
        return false;
    }
    if (server->data != NULL)
        api->release(server->data); /* its memory when the last answer with it is gone */
    server->data = response;
    server->data_text = text;
    server->data_len = len;
    server->sequence++;
    return true;
}

static unsigned open_connections(const struct bbf_ui_server *server)
{
    unsigned n = 0;

    for (size_t i = 0; i < BBF_UI_CONNECTIONS; i++)
        n += server->connections[i].fd >= 0;
    return n;
}

/* At its limit of connections libmicrohttpd does not listen, and when they end it listens again
 * only in a later run; if all end in one, no event would cause that. */
void bbf_ui_server_run(struct bbf_ui_server *server)
{
    enum { RUNS = 3 };
    const unsigned before = open_connections(server);

    end_slow(server);
    (void)server->api.run(server->daemon);
    if (open_connections(server) < before)
        server->runs_due = RUNS;
    else if (server->runs_due > 0)
        server->runs_due--;
}

int bbf_ui_server_wait(const struct bbf_ui_server *server)
{
    unsigned long long ms = 0;
    int wait = -1;

    if (server->runs_due > 0)
        return 0;
    for (size_t i = 0; i < BBF_UI_CONNECTIONS && wait < 0; i++)
        wait = server->connections[i].fd >= 0 ? TICK_MS : -1;
    if (server->api.timeout(server->daemon, &ms) == BBF_MHD_YES && (wait < 0 || ms < TICK_MS))
        wait = ms < TICK_MS ? (int)ms : TICK_MS;
    return wait;
}

void bbf_ui_server_address(const struct bbf_ui_server *server, bool with_key,
                           char to[BBF_UI_ADDRESS])
{
    snprintf(to, BBF_UI_ADDRESS, "http://127.0.0.1:%u/?%s=%s", server->port,
             with_key ? "key" : "token", with_key ? server->key : server->token);
}
