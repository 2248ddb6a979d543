/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/events.h - the way of an event from its producer to every sink that wants it.
 * agent/events.c has the table of the sinks; a new one is a row there and a file in agent/sinks/.
 *
 * Invariants: each sink is offered its events in the order in which they were posted. An event that
 * no sink wants costs one load: a producer asks bbf_events_wanted() before it makes one. Dropped
 * events are counted for each sink, and reports have the sum (bbf_events_note()).
 *
 * Threads: the agent thread, but bbf_events_wanted() and bbf_events_dropped(): any.
 */
#ifndef BBF_AGENT_EVENTS_H
#define BBF_AGENT_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/event.h"

/* Ask every sink what it wants: once a round, and before a client begins. */
void bbf_events_refresh(void);

/* Did any sink want this kind when it was asked last? Any thread; one relaxed load. */
bool bbf_events_wanted(enum bbf_event_kind kind);

/* Offer it to each sink that wants its kind. */
void bbf_events_post(const struct bbf_event *event);

/* `count` events of a kind could not be made: each sink that wants it has lost them. */
void bbf_events_unmade(enum bbf_event_kind kind, uint64_t count);

/* The number of events that the sink of this name dropped since the start; 0: there is no such
 * sink. Any thread. */
uint64_t bbf_events_dropped(const char *sink);

/* For a report: the number of events that each sink dropped. Nothing if no sink dropped any. */
void bbf_events_note(struct bbf_buf *out);

#endif
