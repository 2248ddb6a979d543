/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "agent/lttng.h"
#include "agent/sinks/sinks.h"
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
};
enum { KINDS = sizeof targets / sizeof targets[0] };
_Static_assert((int)KINDS == (int)BBF_EVENT_LIFE,
               "a kind without a logger would go to the first one");

static unsigned wanted(void)
{
    unsigned kinds = 0;

    for (unsigned kind = 0; kind < KINDS; kind++)
        if (bbf_tracing_wants(targets[kind].logger, targets[kind].level))
            kinds |= BBF_EVENT_BIT(kind);
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

/* The step at which the buffer was last seen. */
static void take_place(const struct bbf_event *event, struct bbf_log_record *record)
{
    struct bbf_path path;

    bbf_event_path(event->tracker, event->node, &path);
    if (path.n == 0)
        return;
    if (path.steps[0].class_name != NULL)
        record->class_name = path.steps[0].class_name;
    if (path.steps[0].method != NULL)
        record->method = path.steps[0].method;
}

static bool offer(const struct bbf_event *event)
{
    const struct target target = targets[event->kind];
    struct bbf_log_record record = {.class_name = "",
                                    .method = "",
                                    .time_ms = (long)(event->time_ns / 1000000),
                                    .level = (int)target.level,
                                    .thread = (int)event->thread};
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

const struct bbf_sink bbf_sink_lttng = {"lttng", wanted, offer};
