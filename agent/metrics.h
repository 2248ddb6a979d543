/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/metrics.h - option metrics=: an HTTP endpoint with the numbers of a report, for Prometheus
 * (docs/monitoring.md, ADR 60). A thread of its own serves the clients (agent/metrics_server.h) and
 * never waits. The agent thread makes the document when one is wanted, at most once a second and
 * at most a hundredth of one core. No scan and no garbage collection is made for it: it has what
 * the scan after the last collection found.
 *
 * Threads: the agent thread.
 */
#ifndef BBF_AGENT_METRICS_H
#define BBF_AGENT_METRICS_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/option.h"

/* Serve or stop serving, as `options` have it now; NULL: stop. BBF_EINVAL, BBF_ENOMEM and the
 * errors of bbf_metrics_server_start() are logged once and tried again each ten seconds: `why`. */
int bbf_metrics_apply(const struct bbf_options *options, char *why, size_t why_size);
/* If a document is wanted: make it. */
void bbf_metrics_poll(JNIEnv *env);

/* Around a reset, so that no counter begins again: with all that it takes away, and with what it
 * has left. Nothing while metrics= is off. */
void bbf_metrics_before_reset(JNIEnv *env);
void bbf_metrics_after_reset(JNIEnv *env, bool is_done, bool nodes);

#endif
