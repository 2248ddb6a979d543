/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/sinks/sinks.h - the sinks of events (agent/event.h has their rules): one line here, one row
 * in agent/events.c, one file NAME.c.
 *
 * Threads: the agent thread.
 */
#ifndef BBF_AGENT_SINKS_H
#define BBF_AGENT_SINKS_H

#include "agent/event.h"
#include "core/option.h"

/*
 * live: a line for the clients that watch. Bounded by option `queue`, which counts lines; a client
 * that reads too slowly loses the oldest ones, and is sent how many. Dropped: no memory for a line.
 */
extern const struct bbf_sink bbf_sink_live;
/* The same line, with its end, for one client that begins: `out` is a struct bbf_buf. */
void bbf_sink_live_greet(void *out, const struct bbf_event *event);
/* And the line that counts the places without one; nothing for 0. */
void bbf_sink_live_more(struct bbf_buf *out, uint64_t places);

/*
 * log: the first use after release of the JVM, the first time that direct memory ran out, and why
 * there is no report of that. Not bounded by a queue: core/log.h writes at once, waits at most
 * 20 ms for room, and counts the lines that it loses.
 */
extern const struct bbf_sink bbf_sink_log;

/*
 * lttng: records of bbflow's loggers (agent/lttng.h), where a session of LTTng has enabled them.
 * Nothing waits in bbflow: without room in the session's buffer LTTng discards the record and
 * counts it in the trace. Dropped: no memory for a line; a summary with more paths than
 * agent/sinks/flow.h remembers.
 */
extern const struct bbf_sink bbf_sink_lttng;

/*
 * jmx: notifications of the MBean of jmx=, once it has had a listener. Bounded by 1,000 that wait
 * for the thread of the listeners (java-shim/jmx, Tracker); dropped: what has no room there.
 */
extern const struct bbf_sink bbf_sink_jmx;

/*
 * jfr: the flight recording of jfr=. An event is encoded as it is offered; once a second what there
 * is goes to a thread that writes it (agent/sinks/disk.h). Bounded by BBF_DISK_QUEUE and by
 * BBF_SINK_JFR_PENDING; dropped: what has no room because the disk does not keep up, or after it
 * failed.
 */
enum { BBF_SINK_JFR_PENDING = 4 << 20 };
extern const struct bbf_sink bbf_sink_jfr;
/* Begin or end the recording, as `options` have it now (NULL: there is none). BBF_EINVAL and the
 * errors of bbf_disk_open(), which are logged once: `why` says what is wrong; BBF_EIO: what was
 * begun before has failed. */
int bbf_sink_jfr_apply(const struct bbf_options *options, char *why, size_t why_size);
/* Could this `jfr=` be written now? Nothing is left there. Errors as above. Any thread. */
int bbf_sink_jfr_check(const char *pattern, char *why, size_t why_size);
/* Once a second: flush; a new file if it is time; after an error try again each ten seconds. */
void bbf_sink_jfr_poll(const struct bbf_options *options);
/* End the recording and wait for the disk, `timeout_ms` at most. */
void bbf_sink_jfr_end(unsigned timeout_ms);
/* For a report: why nothing is recorded; nothing if it is. */
void bbf_sink_jfr_note(struct bbf_buf *out);

#endif
