/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/http/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/err.h"
#include "core/spawn.h"
#include "wire/http/conn.h"

enum {
    STACK_BYTES = 128 * 1024,
    BACKLOG = 64,
    ACCEPTS = 16,    /* in one round */
    NO_FD_MS = 1000, /* before the next accept(2) where no descriptor is left */
    LONGEST_MS = 60000
};

struct bbf_http {
    struct bbf_http_config config;
    struct bbf_http_desk desk;
    pthread_t thread;
    int listens, wake; /* wake: an eventfd */
    uint16_t port;
    _Atomic bool stops;

    pthread_mutex_t lock; /* of `mail` */
    struct mail {
        bool has_come;
        struct bbf_http_document *document; /* NULL: none could be made */
    } mail[BBF_HTTP_MEDIA];

    int64_t accept_ms; /* not before; the thread's, as all that follows */
    struct pollfd *fds;
    struct bbf_http_conn conns[];
};

/* ---- documents ---- */

void bbf_http_publish(struct bbf_http *h, enum bbf_http_media media, struct bbf_buf *body,
                      unsigned fresh_ms)
{
    struct bbf_http_document *document = body != NULL ? calloc(1, sizeof *document) : NULL;

    if (document != NULL) {
        *document = (struct bbf_http_document){
            .users = 1, .body = *body, .fresh_until_ms = bbf_monotonic_ms() + fresh_ms};
        *body = (struct bbf_buf)BBF_BUF_INIT;
    }
    pthread_mutex_lock(&h->lock);
    struct bbf_http_document *before = h->mail[media].document;
    h->mail[media] = (struct mail){true, document};
    pthread_mutex_unlock(&h->lock);
    bbf_http_document_drop(before); /* the thread has not seen it */
    (void)eventfd_write(h->wake, 1);
}

static void answer_waiting(struct bbf_http *h, enum bbf_http_media media, bool is_made,
                           int64_t now_ms)
{
    for (size_t i = 0; i < h->config.max_clients; i++) {
        struct bbf_http_conn *c = &h->conns[i];
        if (c->fd >= 0 && c->state == BBF_HTTP_WAITING && c->media == media)
            bbf_http_conn_answer(c, &h->desk, is_made, now_ms);
    }
}

static void take_mail(struct bbf_http *h, int64_t now_ms)
{
    for (int m = 0; m < BBF_HTTP_MEDIA; m++) {
        pthread_mutex_lock(&h->lock);
        struct mail mail = h->mail[m];
        h->mail[m] = (struct mail){false, NULL};
        pthread_mutex_unlock(&h->lock);
        if (!mail.has_come)
            continue;
        bbf_http_document_drop(h->desk.documents[m]);
        h->desk.documents[m] = mail.document;
        answer_waiting(h, (enum bbf_http_media)m, mail.document != NULL, now_ms);
    }
}

/* ---- connections ---- */

/* In this order, of equals the oldest: it leaves; waits for another request; for its first. Those
 * whose answer is under way stay. */
static int urgency(const struct bbf_http_conn *c)
{
    if (c->state == BBF_HTTP_LEAVING)
        return 3;
    if (c->state == BBF_HTTP_READING)
        return c->in_len == 0 ? 2 : 1;
    return 0;
}

static struct bbf_http_conn *place_for_another(struct bbf_http *h)
{
    struct bbf_http_conn *worst = NULL;

    for (size_t i = 0; i < h->config.max_clients; i++) {
        struct bbf_http_conn *c = &h->conns[i];
        if (c->fd < 0)
            return c;
        int more = urgency(c) - (worst != NULL ? urgency(worst) : 0);
        if (more > 0 || (more == 0 && worst != NULL && c->since_ms < worst->since_ms))
            worst = c;
    }
    if (worst != NULL) {
        h->desk.crowded += worst->state == BBF_HTTP_READING;
        bbf_http_conn_close(worst);
    }
    return worst;
}

static void accept_some(struct bbf_http *h, int64_t now_ms)
{
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(h->listens, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
            h->accept_ms = now_ms + NO_FD_MS; /* it stays readable: do not turn in a circle */
        if (fd < 0)
            return;
        struct bbf_http_conn *c = place_for_another(h);
        if (c != NULL) {
            bbf_http_conn_open(c, &h->desk, fd, now_ms);
        } else {
            h->desk.crowded++;
            close(fd);
        }
    }
}

/* ---- the thread ---- */

/* Until something must be done without an event. */
static int timeout_of(const struct bbf_http *h, int64_t now_ms)
{
    int64_t until = now_ms + LONGEST_MS;

    if (h->accept_ms > now_ms && h->accept_ms < until)
        until = h->accept_ms;
    for (size_t i = 0; i < h->config.max_clients; i++) {
        const struct bbf_http_conn *c = &h->conns[i];
        if (c->fd >= 0 && c->until_ms < until)
            until = c->until_ms;
        if (c->fd >= 0 && c->state == BBF_HTTP_READING && c->unread)
            until = now_ms;
    }
    return until > now_ms ? (int)(until - now_ms) : 0;
}

static void wait_for_events(struct bbf_http *h)
{
    int64_t now_ms = bbf_monotonic_ms();

    h->fds[0] = (struct pollfd){.fd = h->wake, .events = POLLIN};
    h->fds[1] = (struct pollfd){.fd = now_ms < h->accept_ms ? -1 : h->listens, .events = POLLIN};
    for (size_t i = 0; i < h->config.max_clients; i++)
        h->fds[2 + i] =
            (struct pollfd){.fd = h->conns[i].fd, .events = bbf_http_conn_events(&h->conns[i])};
    if (poll(h->fds, 2 + h->config.max_clients, timeout_of(h, now_ms)) < 0)
        for (size_t i = 0; i < 2 + h->config.max_clients; i++)
            h->fds[i].revents = 0;
}

static void serve_round(struct bbf_http *h)
{
    int64_t now_ms = bbf_monotonic_ms();
    eventfd_t n;

    if (h->fds[0].revents != 0)
        (void)eventfd_read(h->wake, &n);
    take_mail(h, now_ms);
    for (size_t i = 0; i < h->config.max_clients; i++) {
        struct bbf_http_conn *c = &h->conns[i];
        if (c->fd < 0)
            continue;
        bbf_http_conn_step(c, &h->desk, h->fds[2 + i].revents, now_ms);
        bbf_http_conn_expire(c, &h->desk, now_ms);
        if (c->state == BBF_HTTP_GONE)
            bbf_http_conn_close(c);
    }
    if (h->fds[1].revents != 0)
        accept_some(h, now_ms);
}

static void release(struct bbf_http *h)
{
    for (size_t i = 0; i < h->config.max_clients; i++)
        if (h->conns[i].fd >= 0)
            bbf_http_conn_close(&h->conns[i]);
    for (int m = 0; m < BBF_HTTP_MEDIA; m++) {
        bbf_http_document_drop(h->desk.documents[m]);
        bbf_http_document_drop(h->mail[m].document);
    }
    if (h->listens >= 0)
        close(h->listens);
    if (h->wake >= 0)
        close(h->wake);
    pthread_mutex_destroy(&h->lock);
    free(h->fds);
    free(h);
}

static void *run(void *arg)
{
    struct bbf_http *h = arg;

    (void)pthread_setname_np(pthread_self(), "bbflow-metrics");
    while (!atomic_load(&h->stops)) {
        h->desk.cpu_ns = bbf_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        wait_for_events(h);
        serve_round(h);
    }
    return NULL;
}

/* ---- start and stop ---- */

static socklen_t socket_address(const struct bbf_address *address, struct sockaddr_storage *out)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;

    memset(out, 0, sizeof *out);
    if (address->is_ipv6) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(address->port);
        (void)inet_pton(AF_INET6, address->host, &v6->sin6_addr);
        return sizeof *v6;
    }
    v4->sin_family = AF_INET;
    v4->sin_port = htons(address->port);
    (void)inet_pton(AF_INET, address->host, &v4->sin_addr);
    return sizeof *v4;
}

static int open_listener(struct bbf_http *h, char *why, size_t why_size)
{
    const struct bbf_address *address = &h->config.address;
    struct sockaddr_storage at;
    socklen_t len = socket_address(address, &at);
    int on = 1;

    h->listens = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    h->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (h->listens >= 0 && h->wake >= 0 &&
        setsockopt(h->listens, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(h->listens, (struct sockaddr *)&at, len) == 0 && listen(h->listens, BACKLOG) == 0 &&
        getsockname(h->listens, (struct sockaddr *)&at, &len) == 0) {
        h->port = ntohs(address->is_ipv6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                         : ((struct sockaddr_in *)&at)->sin_port);
        return BBF_OK;
    }
    int cause = errno;
    snprintf(why, why_size, address->is_ipv6 ? "[%s]:%u: %s" : "%s:%u: %s", address->host,
             (unsigned)address->port,
             cause == EADDRINUSE ? "another program listens on this port" : strerror(cause));
    return cause == EACCES ? BBF_EPERMISSION : BBF_EIO;
}

int bbf_http_start(struct bbf_http **out, const struct bbf_http_config *config, char *why,
                   size_t why_size)
{
    struct bbf_http *h = calloc(1, sizeof *h + config->max_clients * sizeof *h->conns);

    snprintf(why, why_size, "%s", bbf_strerror(BBF_ENOMEM));
    if (h == NULL)
        return BBF_ENOMEM;
    h->config = *config;
    h->desk.config = &h->config;
    h->desk.is_loopback = bbf_address_is_loopback(&config->address);
    h->listens = h->wake = -1;
    pthread_mutex_init(&h->lock, NULL);
    for (size_t i = 0; i < config->max_clients; i++)
        h->conns[i].fd = -1;
    h->fds = calloc(2 + config->max_clients, sizeof *h->fds);
    int err = h->fds == NULL ? BBF_ENOMEM : open_listener(h, why, why_size);
    if (err == BBF_OK && bbf_spawn(&h->thread, STACK_BYTES, run, h) != BBF_OK) {
        snprintf(why, why_size, "no thread can be started");
        err = BBF_EIO;
    }
    if (err != BBF_OK) {
        release(h);
        return err;
    }
    why[0] = '\0';
    *out = h;
    return BBF_OK;
}

void bbf_http_stop(struct bbf_http *h, unsigned timeout_ms)
{
    if (h == NULL)
        return;
    struct timespec until =
        bbf_clock_timespec(bbf_clock_ns(CLOCK_REALTIME) + (uint64_t)timeout_ms * UINT64_C(1000000));
    atomic_store(&h->stops, true);
    (void)eventfd_write(h->wake, 1);
    if (pthread_timedjoin_np(h->thread, NULL, &until) == 0)
        release(h);
    else
        (void)pthread_detach(h->thread);
}

void bbf_http_forget(struct bbf_http *h)
{
    close(h->listens);
    close(h->wake);
    for (size_t i = 0; i < h->config.max_clients; i++)
        if (h->conns[i].fd >= 0)
            close(h->conns[i].fd);
}

uint16_t bbf_http_port(const struct bbf_http *h)
{
    return h->port;
}

void bbf_http_get_stats(const struct bbf_http *h, struct bbf_http_stats *stats)
{
    const struct bbf_http_desk *d = &h->desk;

    *stats = (struct bbf_http_stats){.served = d->served,
                                     .other = d->other,
                                     .failed = d->failed,
                                     .malformed = d->malformed,
                                     .late = d->late,
                                     .crowded = d->crowded,
                                     .cpu_ns = d->cpu_ns};
}
