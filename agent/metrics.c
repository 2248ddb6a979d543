/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/metrics.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cost/meter.h"
#include "agent/report/fill.h"
#include "agent/thread.h"
#include "core/address.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/log.h"
#include "render/metrics.h"
#include "render/render.h"

enum {
    RETRY_SECONDS = 10,
    SHARE = 100,    /* at most this part of one core is spent on documents */
    FRESH_MS = 900, /* so that each of a scrape each second has its own */
    STALE_MS = 60000,
    REQUEST_MS = 5000,
    ANSWER_MS = 9000, /* before Prometheus gives up, after 10 s */
    IDLE_MS = 130000, /* longer than most scrape intervals */
    WRITE_MS = 10000,
    END_MS = 1000
};
#define MS UINT64_C(1000000)

/* The agent thread's. */
static char *asked;       /* the value of metrics= that was looked at last; NULL: none */
static uint64_t retry_ns; /* after an error: when to try again; 0: there was none */
static struct bbf_metrics *memory;

/* Of what follows: any thread may stop it, or ask for its state. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct bbf_http *http; /* NULL: nothing is served */
static struct bbf_address address;
static char not_served[400];
static uint64_t cpu_before_ns; /* of the threads that have ended */

static _Atomic unsigned wanted; /* bits 1 << enum bbf_http_media */

/* The server's thread. */
static void want(void *ctx, enum bbf_http_media media)
{
    (void)ctx;
    atomic_fetch_or(&wanted, 1u << media);
    bbf_thread_wake();
}

/* ---- start and stop ---- */

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

static void refuse(const char *why)
{
    if (not_served[0] == '\0')
        bbf_log(
            BBF_LOG_ERROR,
            "metrics: nothing is served: %s; the JVM runs on, and this is tried again each %d s",
            why, RETRY_SECONDS);
    snprintf(not_served, sizeof not_served, "%s", why);
}

static void say_served(void)
{
    bbf_log(bbf_address_is_loopback(&address) ? BBF_LOG_INFO : BBF_LOG_WARN,
            address.is_ipv6 ? "metrics: http://[%s]:%u/metrics%s"
                            : "metrics: http://%s:%u/metrics%s",
            address.host, (unsigned)address.port,
            bbf_address_is_loopback(&address)
                ? ""
                : " has names of classes and methods, and asks for no password");
}

/* Under the lock. */
static int start(const struct bbf_options *options, char *why, size_t why_size)
{
    struct bbf_http_config config = {.max_clients = (size_t)options->max_clients,
                                     .request_ms = REQUEST_MS,
                                     .idle_ms = IDLE_MS,
                                     .answer_ms = ANSWER_MS,
                                     .write_ms = WRITE_MS,
                                     .want = want};
    const char *bad = "";
    int err = bbf_address_parse(&config.address, options->metrics, &bad);
    if (err != BBF_OK) {
        snprintf(why, why_size, "%s", bad);
        return err;
    }
    if (memory == NULL)
        memory = bbf_metrics_new((size_t)options->metrics_places);
    snprintf(why, why_size, "%s", bbf_strerror(BBF_ENOMEM));
    if (memory == NULL)
        return BBF_ENOMEM;
    err = bbf_http_start(&http, &config, why, why_size);
    if (err != BBF_OK)
        return err;
    address = config.address;
    address.port = bbf_http_port(http);
    not_served[0] = '\0';
    say_served();
    return BBF_OK;
}

static int try_start(const struct bbf_options *options, char *why, size_t why_size)
{
    mind_forks();
    pthread_mutex_lock(&lock);
    int err = start(options, why, why_size);
    if (err != BBF_OK)
        refuse(why);
    pthread_mutex_unlock(&lock);
    retry_ns = err == BBF_OK ? 0 : bbf_monotonic_ns() + RETRY_SECONDS * BBF_CLOCK_SECOND;
    return err;
}

void bbf_metrics_stop(unsigned timeout_ms)
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

int bbf_metrics_apply(const struct bbf_options *options, char *why, size_t why_size)
{
    const char *value = options != NULL ? options->metrics : NULL;
    bool same = value == NULL || asked == NULL ? value == asked : strcmp(value, asked) == 0;

    why[0] = '\0';
    if (same && (retry_ns == 0 || bbf_monotonic_ns() < retry_ns))
        return BBF_OK;
    if (!same) {
        bbf_metrics_stop(END_MS);
        retry_ns = 0;
        free(asked);
        asked = value != NULL ? strdup(value) : NULL;
    }
    if (value == NULL) {
        bbf_metrics_free(memory);
        memory = NULL;
        return BBF_OK;
    }
    return asked != NULL ? try_start(options, why, why_size) : BBF_ENOMEM;
}

/* ---- documents ---- */

static struct bbf_snapshot *make_snapshot(JNIEnv *env)
{
    struct bbf_snapshot *s = bbf_snapshot_new();

    if (s != NULL && bbf_report_fill_numbers(env, s) == BBF_OK)
        return s;
    bbf_snapshot_free(s);
    return NULL;
}

static bool render(struct bbf_buf *out, const struct bbf_snapshot *s, enum bbf_http_media media)
{
    const struct bbf_render_options options = {.metrics = memory};
    enum bbf_format format =
        media == BBF_HTTP_OPENMETRICS ? BBF_FORMAT_OPENMETRICS : BBF_FORMAT_PROM;

    return s != NULL && bbf_render(out, s, format, &options) == BBF_OK;
}

static void publish(const struct bbf_snapshot *s, enum bbf_http_media media, uint64_t begin)
{
    struct bbf_buf body = BBF_BUF_INIT;
    bool is_made = render(&body, s, media);
    uint64_t fresh = SHARE * (bbf_meter_clock() - begin) / MS;

    fresh = fresh < FRESH_MS ? FRESH_MS : fresh > STALE_MS ? STALE_MS : fresh;
    pthread_mutex_lock(&lock);
    if (http != NULL)
        bbf_http_publish(http, media, is_made ? &body : NULL, (unsigned)fresh);
    pthread_mutex_unlock(&lock);
    bbf_buf_free(&body);
}

void bbf_metrics_poll(JNIEnv *env)
{
    unsigned now = atomic_load_explicit(&wanted, memory_order_relaxed);

    if (now == 0 || memory == NULL)
        return;
    now = atomic_exchange(&wanted, 0);
    uint64_t begin = bbf_meter_clock();
    struct bbf_snapshot *s = make_snapshot(env);
    for (int m = 0; m < BBF_HTTP_MEDIA; m++)
        if ((now & 1u << m) != 0)
            publish(s, (enum bbf_http_media)m, begin);
    bbf_snapshot_free(s);
    bbf_meter_reported(begin);
}

/* ---- resets ---- */

/* Only what it leaves in the memory is of use. */
static void count_all(JNIEnv *env)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_snapshot *s = make_snapshot(env);

    (void)render(&text, s, BBF_HTTP_TEXT);
    bbf_snapshot_free(s);
    bbf_buf_free(&text);
}

void bbf_metrics_before_reset(JNIEnv *env)
{
    if (memory != NULL)
        count_all(env);
}

void bbf_metrics_after_reset(JNIEnv *env, bool is_done, bool nodes)
{
    if (memory == NULL || !is_done)
        return;
    bbf_metrics_carry(memory, nodes);
    count_all(env);
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
