/* SPDX-License-Identifier: Apache-2.0 */
/* agent/lttng-ust/recorder.c - the tracepoint (unless BBF_SHARED_TRACEPOINT) and its calls. */
#include "agent/lttng-ust/recorder.h"

#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_DEFINE
#ifdef BBF_SHARED_TRACEPOINT
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#else
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#endif
#include "agent/lttng-ust/tracepoint.h"

static bool is_on(void)
{
    return lttng_ust_tracepoint_enabled(lttng_jul, event) != 0;
}

static void record(const struct bbf_log_record *r)
{
    lttng_ust_do_tracepoint(lttng_jul, event, r->message, r->logger, r->class_name, r->method,
                            r->time_ms, r->level, r->thread);
}

__attribute__((visibility("default"))) extern const struct bbf_recorder bbf_recorder;
const struct bbf_recorder bbf_recorder = {BBF_RECORDER_ABI, is_on, record};
