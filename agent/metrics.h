/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/metrics.h - option metrics=: an HTTP endpoint with the numbers of a report, for Prometheus
 * (docs/monitoring.md, ADR 60). A thread of its own serves the clients (wire/http/server.h) and
 * never waits. The agent thread makes the document when one is wanted, at most once a second and
 * at most a hundredth of one core. No scan and no garbage collection is made for it: it has what
 * the scan after the last collection found.
 *
 * Threads: the agent thread, unless another is named.
 */
#ifndef BBF_AGENT_METRICS_H
#define BBF_AGENT_METRICS_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/option.h"
#include "wire/http/server.h"

/* Serve or stop serving, as `options` have it now; NULL: stop. BBF_EINVAL, BBF_ENOMEM and the
 * errors of bbf_http_start(), which are logged once and tried again each ten seconds: `why`. */
int bbf_metrics_apply(const struct bbf_options *options, char *why, size_t why_size);
/* If a document is wanted: make it. */
void bbf_metrics_poll(JNIEnv *env);

/* Around a reset, so that no counter begins again: with all that it takes away, and with what it
 * has left. Nothing while metrics= is off. */
void bbf_metrics_before_reset(JNIEnv *env);
void bbf_metrics_after_reset(JNIEnv *env, bool is_done, bool nodes);

/* The JVM ends or tracking does. Any thread; waits `timeout_ms` at most. */
void bbf_metrics_stop(unsigned timeout_ms);

/* What `status` shows: the URL, "" for none, and why there is none. Any thread. */
struct bbf_metrics_state {
    char url[100], why[400];
    struct bbf_http_stats stats;
};
void bbf_metrics_state(struct bbf_metrics_state *state);
/* Processor time of its threads so far, in nanoseconds. Any thread. */
uint64_t bbf_metrics_cpu_ns(void);

/* For a report: why nothing is served; nothing if all is well or off. */
void bbf_metrics_note(struct bbf_buf *out);

#endif
