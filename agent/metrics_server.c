/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/metrics_server.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/address.h"
#include "core/err.h"
#include "core/log.h"

enum {
    REQUEST_MS = 5000,
    ANSWER_MS = 9000, /* before Prometheus gives up, after 10 s */
    IDLE_MS = 130000, /* longer than most scrape intervals */
    WRITE_MS = 10000
};

/* Of what follows. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct bbf_http *http; /* NULL: nothing is served */
static struct bbf_address address;
static char not_served[400];
static uint64_t cpu_before_ns; /* of the threads that have ended */

/* In the child: another thread may have had the lock, so it is not taken. */
static void in_forked_child(void)
{
    if (http != NULL)
        bbf_http_forget(http);
    http = NULL;
}

static void mind_forks(void)
{
    static bool done;
    if (!done)
        pthread_atfork(NULL, NULL, in_forked_child);
    done = true;
}

/* ---- start and stop ---- */

/* Under the lock. */
static void say_served(void)
{
    bool is_loopback = bbf_address_is_loopback(&address);

    bbf_log(is_loopback ? BBF_LOG_INFO : BBF_LOG_WARN, "metrics: http://%s%s%s:%u/metrics%s",
            address.is_ipv6 ? "[" : "", address.host, address.is_ipv6 ? "]" : "",
            (unsigned)address.port,
            is_loopback ? "" : " has names of classes and methods, and asks for no password");
}

/* Under the lock. */
static int start(const struct bbf_http_config *config, char *why, size_t why_size)
{
    int err = bbf_http_start(&http, config, why, why_size);

    if (err != BBF_OK)
        return err;
    address = config->address;
    address.port = bbf_http_port(http);
    not_served[0] = '\0';
    say_served();
    return BBF_OK;
}

/* Under the lock. */
static void refuse(const char *why)
{
    if (not_served[0] == '\0')
        bbf_log(BBF_LOG_ERROR,
                "metrics: nothing is served: %s; the JVM runs on, and this is tried again", why);
    snprintf(not_served, sizeof not_served, "%s", why);
}

int bbf_metrics_server_start(const char *text, size_t max_clients,
                             void (*want)(void *ctx, enum bbf_http_media media), char *why,
                             size_t why_size)
{
    struct bbf_http_config config = {.max_clients = max_clients,
                                     .request_ms = REQUEST_MS,
                                     .idle_ms = IDLE_MS,
                                     .answer_ms = ANSWER_MS,
                                     .write_ms = WRITE_MS,
                                     .want = want};
    const char *bad = "";
    int err = bbf_address_parse(&config.address, text, &bad);

    mind_forks();
    snprintf(why, why_size, "%s", bad);
    pthread_mutex_lock(&lock);
    if (err == BBF_OK)
        err = start(&config, why, why_size);
    if (err != BBF_OK)
        refuse(why);
    pthread_mutex_unlock(&lock);
    return err;
}

void bbf_metrics_server_stop(unsigned timeout_ms)
{
    struct bbf_http_stats stats = {0};

    pthread_mutex_lock(&lock);
    struct bbf_http *old = http;
    if (old != NULL)
        bbf_http_get_stats(old, &stats);
    cpu_before_ns += stats.cpu_ns;
    http = NULL;
    not_served[0] = '\0';
    pthread_mutex_unlock(&lock);
    bbf_http_stop(old, timeout_ms);
}

void bbf_metrics_server_publish(enum bbf_http_media media, struct bbf_buf *body, unsigned fresh_ms)
{
    pthread_mutex_lock(&lock);
    if (http != NULL)
        bbf_http_publish(http, media, body, fresh_ms);
    pthread_mutex_unlock(&lock);
}

/* ---- state ---- */

void bbf_metrics_state(struct bbf_metrics_state *state)
{
    *state = (struct bbf_metrics_state){.url = ""};
    pthread_mutex_lock(&lock);
    snprintf(state->why, sizeof state->why, "%s", not_served);
    if (http != NULL) {
        snprintf(state->url, sizeof state->url,
                 address.is_ipv6 ? "http://[%s]:%u/metrics" : "http://%s:%u/metrics", address.host,
                 (unsigned)address.port);
        bbf_http_get_stats(http, &state->stats);
    }
    pthread_mutex_unlock(&lock);
}

uint64_t bbf_metrics_cpu_ns(void)
{
    struct bbf_http_stats stats = {0};

    pthread_mutex_lock(&lock);
    if (http != NULL)
        bbf_http_get_stats(http, &stats);
    uint64_t all = cpu_before_ns + stats.cpu_ns;
    pthread_mutex_unlock(&lock);
    return all;
}

void bbf_metrics_note(struct bbf_buf *out)
{
    pthread_mutex_lock(&lock);
    if (not_served[0] != '\0')
        bbf_buf_printf(out, "metrics: nothing is served: %s (metrics=)", not_served);
    pthread_mutex_unlock(&lock);
}
