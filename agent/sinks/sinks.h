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

#endif
