/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/push_body.h - a snapshot as the body, the URL and the headers that a receiver expects.
 *
 *   otlp   POST URL/v1development/profiles, an ExportProfilesServiceRequest
 *          (https://opentelemetry.io/docs/specs/otlp/#otlphttp), gzip
 *   pprof  POST URL/push.v1.PusherService/Push, a push.v1.PushRequest
 *          (https://github.com/grafana/pyroscope/blob/main/api/push/v1/push.proto)
 *   prom   PUT URL/metrics/job/JOB/instance/INSTANCE, Prometheus' text
 *          (https://github.com/prometheus/pushgateway#api)
 *
 * A path is appended to a URL that has none; of prom, unless it has /metrics/job/.
 *
 * Threads: one. A function that returns an exit code has printed the reason if it is not 0.
 */
#ifndef BBF_CLIENT_PUSH_BODY_H
#define BBF_CLIENT_PUSH_BODY_H

#include "client/push_flags.h"
#include "core/buf.h"
#include "snapshot/snapshot.h"

struct bbf_push_body {
    struct bbf_buf url, body;
    const char *method, *type;
    bool is_gzip;
};

/* `instance`: which of the JVMs of one service it is; a label replaces it. `since_ms`: when the
 * losses began to be counted, 0: all. Free `to` also after a failure. */
int bbf_push_body(const struct bbf_push_flags *flags, const struct bbf_snapshot *snapshot,
                  const char *instance, int64_t since_ms, struct bbf_push_body *to);
void bbf_push_body_free(struct bbf_push_body *body);

/* How many profiles an ExportProfilesServiceResponse says were rejected; *message is its reason,
 * within `answer`, of *len bytes. 0: none, or the answer is no such message. */
uint64_t bbf_push_rejected(const struct bbf_buf *answer, const char **message, size_t *len);

#endif
