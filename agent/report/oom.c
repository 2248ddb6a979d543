/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/oom.h"

#include <stdatomic.h>

#include "agent/events.h"
#include "agent/report/urgent.h"
#include "agent/rules.h"
#include "agent/state.h"
#include "render/line.h"

static uint64_t seen; /* errors that were looked at */
static struct bbf_urgent reports = {.suffix = "oom"};

static uint64_t errors(void)
{
    return bbf_tracker_exhausted(bbf_agent.tracker);
}

static void post_errors(uint64_t count)
{
    if (!bbf_events_wanted(BBF_EVENT_OOM))
        return;
    struct bbf_event event = bbf_event_new(BBF_EVENT_OOM);
    event.memory = BBF_MEM_DIRECT;
    event.count = count;
    event.added = count - seen;
    bbf_events_post(&event);
}

static const char *last_path(void)
{
    return reports.last_path[0] != '\0' ? reports.last_path : NULL;
}

static void post_report(void)
{
    if (!bbf_events_wanted(BBF_EVENT_OOM_REPORT))
        return;
    struct bbf_event event = bbf_event_new(BBF_EVENT_OOM_REPORT);
    event.memory = BBF_MEM_DIRECT;
    event.count = reports.written;
    event.detail.report.path = last_path();
    event.detail.report.why = reports.why;
    bbf_events_post(&event);
}

void bbf_oom_poll(JNIEnv *env)
{
    const struct bbf_rules *rules = atomic_load(&bbf_agent.rules);
    if (rules == NULL || atomic_load(&bbf_agent.phase) != BBF_PHASE_IN)
        return;
    uint64_t count = errors();
    if (count == seen)
        return;
    post_errors(count);
    seen = count;
    if (bbf_urgent_write(env, &rules->options, &reports))
        post_report();
}

void bbf_oom_note(struct bbf_buf *out)
{
    uint64_t count = errors();
    if (count > 0)
        bbf_line_oom_note(out, count, last_path(), reports.last_at, reports.written);
}
