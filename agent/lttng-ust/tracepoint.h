/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/lttng-ust/tracepoint.h - lttng_jul:event, as LTTng's own Java agent defines it.
 *
 * The text of TP_ARGS is the tracepoint's signature, names included: with another text the events
 * of one of the two would be lost where both are in a process.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lttng_jul

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "agent/lttng-ust/tracepoint.h"

#if !defined(BBF_AGENT_LTTNG_UST_TRACEPOINT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BBF_AGENT_LTTNG_UST_TRACEPOINT_H

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(lttng_jul, event,
    LTTNG_UST_TP_ARGS(const char *, msg, const char *, logger_name,
                      const char *, class_name, const char *, method_name,
                      long, millis, int, log_level, int, thread_id),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_string(msg, msg)
        lttng_ust_field_string(logger_name, logger_name)
        lttng_ust_field_string(class_name, class_name)
        lttng_ust_field_string(method_name, method_name)
        lttng_ust_field_integer(long, long_millis, millis)
        lttng_ust_field_integer(int, int_loglevel, log_level)
        lttng_ust_field_integer(int, int_threadid, thread_id)
    )
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
