/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/sinks/sinks.h"
#include "agent/stream.h"
#include "render/line.h"

static unsigned wanted(void)
{
    unsigned while_watched = BBF_EVENT_BIT(BBF_EVENT_LEAK) | BBF_EVENT_BIT(BBF_EVENT_AGED);

    /* A misuse is posted once only, so it is published even while no client is known to watch: one
     * that has been greeted and does not count yet would miss it. */
    return BBF_EVENT_BIT(BBF_EVENT_MISUSE) | BBF_EVENT_BIT(BBF_EVENT_NEAR_LIMIT) |
           (bbf_stream_is_watched() ? while_watched : 0);
}

void bbf_sink_live_greet(void *out, const struct bbf_event *event)
{
    bbf_event_line(out, event);
    bbf_buf_char(out, '\n');
}

void bbf_sink_live_more(struct bbf_buf *out, uint64_t places)
{
    if (places == 0)
        return;
    bbf_line_more_places(out, places);
    bbf_buf_char(out, '\n');
}

static bool offer(const struct bbf_event *event)
{
    struct bbf_buf line = BBF_BUF_INIT;

    bbf_sink_live_greet(&line, event);
    bool made = !line.failed;
    if (made)
        made = bbf_stream_publish(line.data, line.len);
    bbf_buf_free(&line);
    return made;
}

const struct bbf_sink bbf_sink_live = {"live", wanted, offer, NULL};
