/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/metrics.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cost/meter.h"
#include "agent/metrics_server.h"
#include "agent/report/fill.h"
#include "agent/thread.h"
#include "core/clock.h"
#include "core/err.h"
#include "render/metrics.h"
#include "render/render.h"

enum {
    RETRY_SECONDS = 10,
    SHARE = 100,    /* at most this part of one core is spent on documents */
    FRESH_MS = 900, /* so that each of a scrape each second has its own */
    STALE_MS = 60000,
    END_MS = 1000
};
#define MS UINT64_C(1000000)

static char *asked;       /* the value of metrics= that was looked at last; NULL: none */
static uint64_t retry_ns; /* after an error: when to try again; 0: there was none */
static struct bbf_metrics *memory;
static _Atomic unsigned wanted; /* bits 1 << enum bbf_http_media; any thread */

/* The server's thread. */
static void want(void *ctx, enum bbf_http_media media)
{
    (void)ctx;
    atomic_fetch_or(&wanted, 1u << media);
    bbf_thread_wake();
}

static int try_start(const struct bbf_options *options, char *why, size_t why_size)
{
    if (memory == NULL)
        memory = bbf_metrics_new((size_t)options->metrics_places);
    int err = memory == NULL
                  ? BBF_ENOMEM
                  : bbf_metrics_server_start(options->metrics, (size_t)options->max_clients, want,
                                             why, why_size);
    retry_ns = err == BBF_OK ? 0 : bbf_monotonic_ns() + RETRY_SECONDS * BBF_CLOCK_SECOND;
    return err;
}

int bbf_metrics_apply(const struct bbf_options *options, char *why, size_t why_size)
{
    const char *value = options != NULL ? options->metrics : NULL;
    bool same = value == NULL || asked == NULL ? value == asked : strcmp(value, asked) == 0;

    why[0] = '\0';
    if (same && (retry_ns == 0 || bbf_monotonic_ns() < retry_ns))
        return BBF_OK;
    if (!same) {
        bbf_metrics_server_stop(END_MS);
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
    bbf_metrics_server_publish(media, is_made ? &body : NULL, (unsigned)fresh);
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
