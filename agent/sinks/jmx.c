/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jmx_notice.h"
#include "agent/sinks/sinks.h"
#include "render/text.h"

static const char *const types[] = {[BBF_EVENT_LEAK] = "leak",
                                    [BBF_EVENT_AGED] = "aged",
                                    [BBF_EVENT_MISUSE] = "misuse",
                                    [BBF_EVENT_OOM] = "oom",
                                    [BBF_EVENT_OOM_REPORT] = "oomReport",
                                    [BBF_EVENT_NEAR_LIMIT] = "nearLimit"};
enum { TYPES = sizeof types / sizeof types[0] };

static unsigned wanted(void)
{
    return bbf_jmx_is_listened() ? BBF_EVENT_BIT(TYPES) - 1 : 0;
}

static bool offer(const struct bbf_event *event)
{
    struct bbf_buf line = BBF_BUF_INIT;
    if ((unsigned)event->kind >= TYPES)
        return true;
    bool has_place = event->kind == BBF_EVENT_LEAK || event->kind == BBF_EVENT_AGED;

    bbf_event_line(&line, event);
    struct bbf_jmx_notice notice = {
        .type = types[event->kind],
        .line = bbf_buf_cstr(&line),
        .line_len = line.len,
        .memory = has_place ? bbf_memory_name(event->memory) : "",
        .time_ms = event->time_ns / 1000000,
        .count = event->count,
        .bytes = event->bytes,
        .added = event->added,
        .added_bytes = event->added_bytes,
        .fingerprint = has_place ? bbf_event_fingerprint(event->tracker, event->node) : 0};
    bool taken = !line.failed && bbf_jmx_offer(&notice);
    bbf_buf_free(&line);
    return taken;
}

const struct bbf_sink bbf_sink_jmx = {"jmx", wanted, offer, NULL};
