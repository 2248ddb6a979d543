/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/metrics_server.h - the HTTP server of metrics=, and its state for `status` and reports.
 *
 * Threads: any, one lock; start: the agent thread.
 */
#ifndef BBF_AGENT_METRICS_SERVER_H
#define BBF_AGENT_METRICS_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "wire/http/server.h"

/* Listen at metrics=`address`; `want` as in wire/http/config.h. An error is logged, but not again
 * if it follows another: BBF_EINVAL, BBF_ENOMEM, those of bbf_http_start(); `why`. */
int bbf_metrics_server_start(const char *address, size_t max_clients,
                             void (*want)(void *ctx, enum bbf_http_media media), char *why,
                             size_t why_size);
/* Waits `timeout_ms` at most; nothing if there is none. */
void bbf_metrics_server_stop(unsigned timeout_ms);
/* As bbf_http_publish(); nothing if there is no server. */
void bbf_metrics_server_publish(enum bbf_http_media media, struct bbf_buf *body, unsigned fresh_ms);

/* What `status` shows: the URL, "" for none, and why there is none. */
struct bbf_metrics_state {
    char url[100], why[400];
    struct bbf_http_stats stats;
};
void bbf_metrics_state(struct bbf_metrics_state *state);
/* Processor time of its threads so far, in nanoseconds. */
uint64_t bbf_metrics_cpu_ns(void);

/* For a report: why nothing is served; nothing if all is well or off. */
void bbf_metrics_note(struct bbf_buf *out);

#endif
