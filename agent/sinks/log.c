/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/sinks/sinks.h"
#include "core/log.h"

static bool has_misuse; /* the first one was logged, or was below the level */

static unsigned wanted(void)
{
    return BBF_EVENT_BIT(BBF_EVENT_OOM) | BBF_EVENT_BIT(BBF_EVENT_OOM_REPORT) |
           BBF_EVENT_BIT(BBF_EVENT_NEAR_LIMIT) | (has_misuse ? 0 : BBF_EVENT_BIT(BBF_EVENT_MISUSE));
}

/* A step after the release is not proof that anything is wrong: in reports alone. */
static bool is_misuse_of(const struct bbf_event *event)
{
    return event->kind == BBF_EVENT_MISUSE && event->detail.misuse->use != BBF_USE_STEP;
}

static bool is_worth_a_line(const struct bbf_event *event)
{
    if (event->kind == BBF_EVENT_MISUSE)
        return !has_misuse && is_misuse_of(event);
    if (event->kind == BBF_EVENT_OOM)
        return event->added == event->count; /* the first time */
    if (event->kind == BBF_EVENT_NEAR_LIMIT)
        return true; /* one for each crossing */
    return event->kind == BBF_EVENT_OOM_REPORT && event->detail.report.path == NULL;
}

static bool offer(const struct bbf_event *event)
{
    bool is_misuse = is_misuse_of(event);
    bool is_lost = event->kind == BBF_EVENT_OOM_REPORT ||
                   (event->kind == BBF_EVENT_NEAR_LIMIT && event->detail.near_limit.why != NULL);
    enum bbf_log_level level = is_lost ? BBF_LOG_ERROR : BBF_LOG_WARN;
    bool worth = is_worth_a_line(event);

    has_misuse = has_misuse || is_misuse;
    if (!worth || !bbf_log_enabled(level))
        return true;
    struct bbf_buf line = BBF_BUF_INIT;
    bbf_event_line(&line, event);
    bool made = !line.failed;
    if (made)
        bbf_log(level, "%s%s", bbf_buf_cstr(&line),
                is_misuse ? " (further ones: see a report)" : "");
    bbf_buf_free(&line);
    return made;
}

const struct bbf_sink bbf_sink_log = {"log", wanted, offer, NULL};
