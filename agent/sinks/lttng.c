/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "agent/lttng.h"
#include "agent/sinks/flow.h"
#include "agent/sinks/sinks.h"
#include "core/clock.h"
#include "render/line.h"
#include "render/misuse.h"

/* Where an event goes. */
static const struct target {
    enum bbf_logger logger;
    enum bbf_logger_level level;
} targets[] = {
    [BBF_EVENT_LEAK] = {BBF_LOGGER_LEAK, BBF_LEVEL_WARNING},
    [BBF_EVENT_AGED] = {BBF_LOGGER_LEAK, BBF_LEVEL_INFO},
    [BBF_EVENT_MISUSE] = {BBF_LOGGER_MISUSE, BBF_LEVEL_WARNING},
    [BBF_EVENT_OOM] = {BBF_LOGGER_LEAK, BBF_LEVEL_SEVERE},
    [BBF_EVENT_OOM_REPORT] = {BBF_LOGGER_LEAK, BBF_LEVEL_SEVERE},
    [BBF_EVENT_NEAR_LIMIT] = {BBF_LOGGER_LEAK, BBF_LEVEL_SEVERE},
};
enum { KINDS = sizeof targets / sizeof targets[0] };
_Static_assert((int)KINDS == (int)BBF_EVENT_LIFE,
               "a kind without a logger would go to the first one");

static bool is_leak(const struct bbf_event *life)
{
    return !life->detail.life.is_released && life->detail.life.end == BBF_END_LEAKED;
}

static unsigned wanted(void)
{
    unsigned kinds = 0;

    for (unsigned kind = 0; kind < KINDS; kind++)
        if (bbf_tracing_wants(targets[kind].logger, targets[kind].level))
            kinds |= BBF_EVENT_BIT(kind);
    if (bbf_tracing_wants(BBF_LOGGER_LIFE, BBF_LEVEL_INFO) ||
        bbf_tracing_wants(BBF_LOGGER_LIFE, BBF_LEVEL_FINE))
        kinds |= BBF_EVENT_BIT(BBF_EVENT_LIFE);
    bool has_flow = bbf_tracing_wants(BBF_LOGGER_FLOW, BBF_LEVEL_INFO);
    if (!has_flow)
        bbf_flow_forget();
    if (has_flow || bbf_tracing_wants(BBF_LOGGER_STATS, BBF_LEVEL_INFO))
        kinds |= BBF_EVENT_BIT(BBF_EVENT_SUMMARY);
    return kinds;
}

/* "com.app.Handler.read" in two; the method is a part of `name`, the class is in `text`. */
static void split(struct bbf_buf *text, const char *name, struct bbf_log_record *record)
{
    const char *dot = strrchr(name, '.');

    record->method = dot != NULL ? dot + 1 : name;
    if (dot != NULL)
        bbf_buf_add(text, name, (size_t)(dot - name));
    record->class_name = bbf_buf_cstr(text);
}

static void take_last_step(const struct bbf_path *path, struct bbf_log_record *record)
{
    if (path->n == 0)
        return;
    if (path->steps[0].class_name != NULL)
        record->class_name = path->steps[0].class_name;
    if (path->steps[0].method != NULL)
        record->method = path->steps[0].method;
}

/* The step at which the buffer was last seen. */
static void take_place(const struct bbf_event *event, struct bbf_log_record *record)
{
    struct bbf_path path;

    bbf_event_path(event->tracker, event->node, &path);
    take_last_step(&path, record);
}

/* Half made: the caller adds the message. */
static struct bbf_log_record new_record(const struct bbf_event *event, enum bbf_logger_level level)
{
    return (struct bbf_log_record){.class_name = "",
                                   .method = "",
                                   .time_ms = (long)(event->time_ns / 1000000),
                                   .level = (int)level,
                                   .thread = (int)event->thread};
}

/* ---- bbflow.life ---- */

static const char *end_of(const struct bbf_event *event)
{
    static const char *const ends[] = {[BBF_END_LEAKED] = "leaked",
                                       [BBF_END_HELD] = "held",
                                       [BBF_END_HARMLESS] = "harmless",
                                       [BBF_END_UNKNOWN] = "unknown"};
    return event->detail.life.is_released ? "released" : ends[event->detail.life.end];
}

/* An end that is not a leak is less important. */
static bool offer_life(const struct bbf_event *event)
{
    const struct bbf_line_loss loss = {.memory = event->memory,
                                       .estimated = event->weight > 1,
                                       .added = event->added,
                                       .added_bytes = event->added_bytes,
                                       .count = event->count,
                                       .thread = event->thread,
                                       .thread_count = event->thread_count,
                                       .thread_name = event->thread_name};
    struct bbf_log_record record =
        new_record(event, is_leak(event) ? BBF_LEVEL_INFO : BBF_LEVEL_FINE);
    struct bbf_buf line = BBF_BUF_INIT;
    struct bbf_path path;

    bbf_event_path(event->tracker, event->node, &path);
    take_last_step(&path, &record);
    bbf_line_life(&line, &loss, end_of(event), event->age_ns / BBF_CLOCK_SECOND, &path);
    bool made = !line.failed;
    record.message = bbf_buf_cstr(&line);
    if (made)
        bbf_tracing_record(BBF_LOGGER_LIFE, record);
    bbf_buf_free(&line);
    return made;
}

/* ---- bbflow.stats, bbflow.flow ---- */

static uint64_t lost_paths; /* since lost() */

static uint64_t lost(void)
{
    uint64_t paths = lost_paths;

    lost_paths = 0;
    return paths;
}

static void take_flow(const char *line, const struct bbf_path *path, void *context)
{
    struct bbf_log_record record = new_record(context, BBF_LEVEL_INFO);

    take_last_step(path, &record);
    record.message = line;
    bbf_tracing_record(BBF_LOGGER_FLOW, record);
}

static bool offer_summary(const struct bbf_event *event)
{
    struct bbf_log_record record = new_record(event, BBF_LEVEL_INFO);
    struct bbf_event copy = *event;
    struct bbf_buf line = BBF_BUF_INIT;

    bbf_line_stats(&line, &event->detail.snapshot->totals);
    bool made = !line.failed;
    record.message = bbf_buf_cstr(&line);
    if (made)
        bbf_tracing_record(BBF_LOGGER_STATS, record);
    bbf_buf_free(&line);
    if (bbf_tracing_wants(BBF_LOGGER_FLOW, BBF_LEVEL_INFO))
        lost_paths += bbf_flow_lines(event->detail.snapshot, take_flow, &copy);
    return made;
}

/* ---- what has a line for people ---- */

static bool offer_line(const struct bbf_event *event)
{
    const struct target target = targets[event->kind];
    struct bbf_log_record record = new_record(event, target.level);
    struct bbf_buf line = BBF_BUF_INIT, user = BBF_BUF_INIT;

    bbf_event_line(&line, event);
    if (event->kind == BBF_EVENT_MISUSE)
        split(&user, bbf_misuse_user(event->detail.misuse), &record);
    else if (event->tracker != NULL)
        take_place(event, &record);
    record.message = bbf_buf_cstr(&line);
    bool made = !line.failed && !user.failed;
    if (made)
        bbf_tracing_record(target.logger, record);
    bbf_buf_free(&line);
    bbf_buf_free(&user);
    return made;
}

static bool offer(const struct bbf_event *event)
{
    switch (event->kind) {
    case BBF_EVENT_LIFE:
        return offer_life(event);
    case BBF_EVENT_SUMMARY:
        return offer_summary(event);
    case BBF_EVENT_SETTING:
    case BBF_EVENT_UNTRACKED:
        return true;
    default:
        return offer_line(event);
    }
}

const struct bbf_sink bbf_sink_lttng = {"lttng", wanted, offer, lost};
