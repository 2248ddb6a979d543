/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/http/conn.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/err.h"

enum { LEAVE_MS = 1000, WRITE_BYTES = 65536 };

void bbf_http_document_drop(struct bbf_http_document *document)
{
    if (document == NULL || --document->users > 0)
        return;
    bbf_buf_free(&document->body);
    free(document);
}

static void enter(struct bbf_http_conn *c, enum bbf_http_state state, int64_t now_ms, unsigned ms)
{
    c->state = state;
    c->since_ms = now_ms;
    c->until_ms = now_ms + ms;
}

void bbf_http_conn_open(struct bbf_http_conn *c, const struct bbf_http_desk *desk, int fd,
                        int64_t now_ms)
{
    c->fd = fd;
    c->in_len = 0;
    c->unread = false;
    c->document = NULL;
    enter(c, BBF_HTTP_READING, now_ms, desk->config->request_ms);
}

void bbf_http_conn_close(struct bbf_http_conn *c)
{
    bbf_http_document_drop(c->document);
    c->document = NULL;
    close(c->fd);
    c->fd = -1;
}

short bbf_http_conn_events(const struct bbf_http_conn *c)
{
    return c->state == BBF_HTTP_WRITING                                   ? POLLOUT
           : c->state == BBF_HTTP_READING || c->state == BBF_HTTP_LEAVING ? POLLIN
                                                                          : 0;
}

/* ---- answers ---- */

static void begin_answer(struct bbf_http_conn *c, const struct bbf_http_desk *desk, int status,
                         size_t len, int64_t now_ms)
{
    c->head_len = bbf_http_head(c->head, status, c->media, len, c->keeps, time(NULL));
    c->sent = 0;
    enter(c, BBF_HTTP_WRITING, now_ms, desk->config->write_ms);
}

static void refuse(struct bbf_http_conn *c, struct bbf_http_desk *desk, int status, int64_t now_ms)
{
    c->line = bbf_http_status_line(status);
    begin_answer(c, desk, status, strlen(c->line), now_ms);
}

static void serve(struct bbf_http_conn *c, struct bbf_http_desk *desk, int64_t now_ms)
{
    c->document = desk->documents[c->media];
    c->document->users++;
    desk->served++;
    begin_answer(c, desk, 200, c->document->body.len, now_ms);
}

void bbf_http_conn_answer(struct bbf_http_conn *c, struct bbf_http_desk *desk, bool is_made,
                          int64_t now_ms)
{
    if (is_made) {
        serve(c, desk, now_ms);
        return;
    }
    desk->failed++;
    refuse(c, desk, 503, now_ms);
}

static void ask(struct bbf_http_conn *c, struct bbf_http_desk *desk, int64_t now_ms)
{
    const struct bbf_http_document *document = desk->documents[c->media];

    if (document != NULL && now_ms < document->fresh_until_ms) {
        serve(c, desk, now_ms);
        return;
    }
    enter(c, BBF_HTTP_WAITING, now_ms, desk->config->answer_ms);
    desk->config->want(desk->config->ctx, c->media);
}

static int status_of(const struct bbf_http_request *request, const struct bbf_http_desk *desk)
{
    if (desk->is_loopback && request->host != NULL &&
        !bbf_http_host_is_local(request->host, request->host_len))
        return 421;
    if (request->path_len != strlen("/metrics") ||
        memcmp(request->path, "/metrics", request->path_len) != 0)
        return 404;
    return request->is_get || request->is_head ? 200 : 405;
}

static void read_request(struct bbf_http_conn *c, struct bbf_http_desk *desk, int64_t now_ms)
{
    struct bbf_http_request request;
    size_t used = 0;
    int err = bbf_http_parse(&request, c->in, c->in_len, &used);

    c->unread = false;
    if (err == BBF_EMORE)
        return;
    c->document = NULL;
    c->keeps = err == BBF_OK && request.keeps;
    c->is_head = err == BBF_OK && request.is_head;
    c->media = request.media;
    int status = err == BBF_OK ? status_of(&request, desk) : request.status;
    if (err == BBF_OK) { /* `request` is in what moves here */
        c->in_len -= used;
        memmove(c->in, c->in + used, c->in_len);
        c->unread = c->in_len > 0;
    } else {
        desk->malformed++;
    }
    if (status == 200) {
        ask(c, desk, now_ms);
        return;
    }
    desk->other += err == BBF_OK;
    refuse(c, desk, status, now_ms);
}

/* ---- bytes ---- */

static bool again(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static void receive(struct bbf_http_conn *c, const struct bbf_http_desk *desk, int64_t now_ms)
{
    ssize_t n = recv(c->fd, c->in + c->in_len, sizeof c->in - c->in_len, 0);

    if (n == 0 || (n < 0 && !again()))
        c->state = BBF_HTTP_GONE;
    if (n <= 0)
        return;
    if (c->in_len == 0) /* the request's time begins */
        c->until_ms = now_ms + desk->config->request_ms;
    c->in_len += (size_t)n;
    c->unread = true;
}

/* If it were closed with unread bytes of the client, the kernel would send a reset, and the client
 * might lose the answer. */
static void discard(struct bbf_http_conn *c)
{
    ssize_t n = recv(c->fd, c->in, sizeof c->in, 0);

    if (n == 0 || (n < 0 && !again()))
        c->state = BBF_HTTP_GONE;
}

static void finish(struct bbf_http_conn *c, const struct bbf_http_desk *desk, int64_t now_ms)
{
    bbf_http_document_drop(c->document);
    c->document = NULL;
    if (c->keeps) {
        enter(c, BBF_HTTP_READING, now_ms,
              c->in_len > 0 ? desk->config->request_ms : desk->config->idle_ms);
        return;
    }
    (void)shutdown(c->fd, SHUT_WR);
    enter(c, BBF_HTTP_LEAVING, now_ms, LEAVE_MS);
}

static void transmit(struct bbf_http_conn *c, const struct bbf_http_desk *desk, int64_t now_ms)
{
    const char *body = c->document != NULL ? c->document->body.data : c->line;
    size_t body_len = c->is_head            ? 0
                      : c->document != NULL ? c->document->body.len
                                            : strlen(c->line);
    size_t all = c->head_len + body_len;
    bool in_head = c->sent < c->head_len;
    const char *from = in_head ? c->head + c->sent : body + (c->sent - c->head_len);
    size_t left = in_head ? c->head_len - c->sent : all - c->sent;

    ssize_t n = send(c->fd, from, left < WRITE_BYTES ? left : WRITE_BYTES,
                     MSG_NOSIGNAL | (in_head && body_len > 0 ? MSG_MORE : 0));
    if (n < 0 && !again())
        c->state = BBF_HTTP_GONE;
    if (n > 0)
        c->sent += (size_t)n;
    if (n >= 0 && c->sent == all)
        finish(c, desk, now_ms);
}

void bbf_http_conn_step(struct bbf_http_conn *c, struct bbf_http_desk *desk, short events,
                        int64_t now_ms)
{
    bool reads = (events & (POLLIN | POLLHUP | POLLERR)) != 0;

    if (c->state == BBF_HTTP_WAITING && (events & (POLLHUP | POLLERR)) != 0)
        c->state = BBF_HTTP_GONE;
    if (c->state == BBF_HTTP_LEAVING && reads)
        discard(c);
    if (c->state == BBF_HTTP_READING && reads && c->in_len < sizeof c->in)
        receive(c, desk, now_ms);
    if (c->state == BBF_HTTP_READING && c->unread)
        read_request(c, desk, now_ms);
    /* The head, then the first part of the body: mostly all of it. */
    for (int i = 0; i < 2 && c->state == BBF_HTTP_WRITING; i++)
        transmit(c, desk, now_ms);
}

void bbf_http_conn_expire(struct bbf_http_conn *c, struct bbf_http_desk *desk, int64_t now_ms)
{
    if (now_ms < c->until_ms || c->state == BBF_HTTP_GONE)
        return;
    if (c->state == BBF_HTTP_WAITING) {
        bbf_http_conn_answer(c, desk, false, now_ms);
        return;
    }
    desk->late += (c->state == BBF_HTTP_READING && c->in_len > 0) || c->state == BBF_HTTP_WRITING;
    c->state = BBF_HTTP_GONE;
}
