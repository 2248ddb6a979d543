/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/metrics_table.h - the table of metrics: the only list of them. The formats prom and
 * openmetrics have their families from it; monitoring/generate reads it and makes the table in
 * docs/monitoring.md and the dashboard, and refuses there and in the rules a name that is not here.
 * A row: id, name without "bbflow_" and "_total", kind, labels, help (one line, no line end).
 */
#ifndef BBF_RENDER_METRICS_TABLE_H
#define BBF_RENDER_METRICS_TABLE_H

/* clang-format off */
#define BBF_METRICS(XX)                                                                            \
    XX(BUILD, "build", INFO, "version", "The bbflow that wrote this.")                             \
    XX(NETTY, "netty", INFO, "netty", "Each Netty in the JVM: version and package.")               \
    XX(CAPTURED, "captured_timestamp_seconds", GAUGE, "", "When these numbers were taken.")        \
    XX(LEAKED_BUFFERS, "leaked_buffers", COUNTER, "",                                              \
       "Buffers that were garbage-collected unreleased.")                                          \
    XX(LEAKED_BYTES, "leaked_bytes", COUNTER, "", "Bytes of the leaked buffers.")                  \
    XX(ENDED_BUFFERS, "ended_buffers", COUNTER, "end",                                             \
       "Buffers that are no longer open, by their end.")                                           \
    XX(OPEN_BUFFERS, "open_buffers", GAUGE, "", "Buffers that are open.")                          \
    XX(OPEN_BYTES, "open_bytes", GAUGE, "", "Bytes of the open buffers.")                          \
    XX(AGED_BUFFERS, "aged_buffers", GAUGE, "",                                                    \
       "Open buffers that are open for an unusually long time.")                                   \
    XX(MISUSES, "uses_after_release", COUNTER, "", "Uses of buffers after their release.")         \
    XX(PLACES, "places", GAUGE, "labelled",                                                        \
       "Places that lose buffers: with a series of their own, and the others together.")             \
    XX(PLACE_BUFFERS, "place_buffers", GAUGE, "id, place",                                         \
       "Buffers that came to a place that loses some, since the last reset.")                      \
    XX(PLACE_LEAKED, "place_leaked_buffers", COUNTER, "id, place",                                 \
       "Buffers that a place lost: collected unreleased.")                                         \
    XX(PLACE_LEAKED_BYTES, "place_leaked_bytes", COUNTER, "id, place",                             \
       "Bytes of the leaked buffers of a place.")                                                  \
    XX(PLACE_AGED, "place_aged_buffers", GAUGE, "id, place",                                       \
       "Buffers of a place that are open for an unusually long time.")                             \
    XX(PLACE_AGED_BYTES, "place_aged_bytes", GAUGE, "id, place",                                   \
       "Bytes of the aged buffers of a place.")                                                    \
    XX(DIRECT, "direct_memory_bytes", GAUGE, "counter",                                            \
       "Direct memory in use, as Netty and java.nio count it.")                                    \
    XX(DIRECT_LIMIT, "direct_memory_limit_bytes", GAUGE, "counter",                                \
       "What the same counter cannot exceed.")                                                     \
    XX(EXHAUSTION, "direct_memory_exhaustion_seconds", GAUGE, "",                                  \
       "Seconds until direct memory reaches its limit, at its present growth; absent while "       \
       "nothing grows.")                                                                           \
    XX(NOT_SEEN, "not_seen", COUNTER, "what", "What bbflow missed, by the reason.")                \
    XX(LIMIT_HITS, "limit_hits", COUNTER, "limit", "How often a limit of bbflow was reached.")     \
    XX(LIMIT_USED, "limit_used", GAUGE, "limit", "How much of a limit is used.")                   \
    XX(LIMIT, "limit", GAUGE, "limit", "The limit: an option of bbflow.")                          \
    XX(SAMPLE, "sample", GAUGE, "",                                                                \
       "One buffer in this number is followed, and counts as this number.")                        \
    XX(WATCHED, "watched_ratio", GAUGE, "",                                                        \
       "The part of the allocations that was watched, whose counts these are; 1: all.")            \
    XX(CPU, "cpu_seconds", COUNTER, "part",                                                        \
       "Processor time of bbflow: of its threads, and in the application's (estimated).")          \
    XX(PROCESS_CPU, "process_cpu_seconds", COUNTER, "",                                            \
       "Processor time of the whole JVM since bbflow was loaded.")                                 \
    XX(MEMORY, "memory_bytes", GAUGE, "of", "Native memory of bbflow, by purpose.")
/* clang-format on */

enum bbf_metric {
#define XX(id, name, kind, labels, help) BBF_METRIC_##id,
    BBF_METRICS(XX)
#undef XX
        BBF_METRIC_COUNT
};

#endif
