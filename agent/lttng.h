/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/lttng.h - option lttng=: what bbflow reports, in a trace of LTTng. Two halves: the client
 * of the session daemons (wire/lttng/client.h), which knows what they have enabled, and the
 * recorder (agent/lttng-ust/recorder.h), which puts events into the trace. The recorder is loaded
 * when a daemon first enables a logger, in a thread of its own, because the start of liblttng-ust
 * may take seconds; it is never unloaded. Without it nothing is recorded, and one line of the log
 * has the reason.
 *
 * Threads: apply and stop: any, one lock; the others: any.
 */
#ifndef BBF_AGENT_LTTNG_H
#define BBF_AGENT_LTTNG_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/lttng-ust/recorder.h"
#include "core/option.h"

/* The names that `lttng list --jul` shows. */
enum bbf_logger {
    BBF_LOGGER_LEAK,
    BBF_LOGGER_MISUSE,
    BBF_LOGGER_FLOW,
    BBF_LOGGER_LIFE,
    BBF_LOGGER_STATS,
    BBF_LOGGERS
};

/* java.util.logging.Level.intValue() */
enum bbf_logger_level {
    BBF_LEVEL_FINE = 500,
    BBF_LEVEL_INFO = 800,
    BBF_LEVEL_WARNING = 900,
    BBF_LEVEL_SEVERE = 1000
};

/* Connect, disconnect or stay, as the options say. BBF_ENOMEM, BBF_EIO: disconnected, and logged.
 */
int bbf_tracing_apply(const struct bbf_options *options);
/* Disconnect. It does not wait for anything but its own thread. */
void bbf_tracing_stop(void);

struct bbf_tracing_status {
    bool on;             /* connected, or looking for a daemon */
    uint16_t root, user; /* ports of the daemons that have registered the JVM; 0: none */
    bool records;        /* the recorder is loaded */
};
void bbf_tracing_status(struct bbf_tracing_status *status);

/* Would an event of that logger and level be recorded now? */
bool bbf_tracing_wants(enum bbf_logger logger, enum bbf_logger_level level);
/* Record it, if so; `record` needs no logger. */
void bbf_tracing_record(enum bbf_logger logger, struct bbf_log_record record);

#endif
