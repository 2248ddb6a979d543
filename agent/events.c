/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/events.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "agent/sinks/sinks.h"
#include "render/line.h"

/* Every sink: one row, its file is agent/sinks/NAME.c. */
static const struct bbf_sink *const sinks[] = {
    &bbf_sink_live,  /* clients that watch */
    &bbf_sink_log,   /* log=, stderr */
    &bbf_sink_lttng, /* lttng=: sessions of LTTng */
    &bbf_sink_jfr,   /* jfr= */
    &bbf_sink_jmx,   /* jmx=: listeners of its MBean */
};
enum { SINKS = sizeof sinks / sizeof sinks[0] };

/* Relaxed everywhere: numbers that publish nothing else. A kind may still be offered just after its
 * sink ceased to want it (agent/event.h), and a sink misses what was posted before it was asked. */
static _Atomic unsigned wanted_by_any;
static _Atomic uint64_t dropped[SINKS];
static unsigned wanted_by[SINKS]; /* agent thread */

void bbf_events_refresh(void)
{
    unsigned any = 0;

    for (size_t i = 0; i < SINKS; i++) {
        wanted_by[i] = sinks[i]->wanted();
        any |= wanted_by[i];
    }
    atomic_store_explicit(&wanted_by_any, any, memory_order_relaxed);
}

bool bbf_events_wanted(enum bbf_event_kind kind)
{
    return (atomic_load_explicit(&wanted_by_any, memory_order_relaxed) & BBF_EVENT_BIT(kind)) != 0;
}

static void count_dropped(size_t sink, uint64_t count)
{
    atomic_fetch_add_explicit(&dropped[sink], count, memory_order_relaxed);
}

static void offer_to(size_t sink, const struct bbf_event *event)
{
    if (!sinks[sink]->offer(event))
        count_dropped(sink, 1);
    if (sinks[sink]->lost != NULL)
        count_dropped(sink, sinks[sink]->lost());
}

void bbf_events_post(const struct bbf_event *event)
{
    if (!bbf_events_wanted(event->kind))
        return;
    for (size_t i = 0; i < SINKS; i++)
        if ((wanted_by[i] & BBF_EVENT_BIT(event->kind)) != 0)
            offer_to(i, event);
}

void bbf_events_unmade(enum bbf_event_kind kind, uint64_t count)
{
    for (size_t i = 0; i < SINKS; i++)
        if ((wanted_by[i] & BBF_EVENT_BIT(kind)) != 0)
            count_dropped(i, count);
}

uint64_t bbf_events_dropped(const char *sink)
{
    for (size_t i = 0; i < SINKS; i++)
        if (strcmp(sinks[i]->name, sink) == 0)
            return atomic_load_explicit(&dropped[i], memory_order_relaxed);
    return 0;
}

void bbf_events_note(struct bbf_buf *out)
{
    for (size_t i = 0; i < SINKS; i++)
        bbf_line_dropped(out, sinks[i]->name,
                         atomic_load_explicit(&dropped[i], memory_order_relaxed));
}
