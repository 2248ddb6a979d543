/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/event.h"

#include "core/clock.h"
#include "core/layout.h"
#include "render/fingerprint.h"
#include "render/line.h"
#include "render/misuse.h"
#include "trie/trie.h"

struct bbf_event bbf_event_new(enum bbf_event_kind kind)
{
    return (struct bbf_event){.kind = kind,
                              .time_ns = (int64_t)bbf_clock_ns(CLOCK_REALTIME),
                              .monotonic_ns = bbf_monotonic_ns(),
                              .node = BBF_L_NODE_NONE,
                              .memory = BBF_MEM_UNKNOWN,
                              .lost = BBF_LOST_UNKNOWN,
                              .weight = 1};
}

void bbf_event_path(const struct bbf_tracker *tracker, uint32_t node, struct bbf_path *path)
{
    *path = (struct bbf_path)BBF_PATH_INIT;
    while (node != BBF_L_NODE_NONE) {
        const struct bbf_place at = bbf_node_place(tracker, node);
        const struct bbf_site *site = bbf_site_get(tracker, at.site);
        struct bbf_path_step step = {.class_name = NULL};
        if (site != NULL)
            step =
                (struct bbf_path_step){site->class_name, site->method, site->enclosing, site->line};
        if (!bbf_path_climb_step(path, &step))
            return;
        node = at.parent;
    }
}

static uint64_t add_site(uint64_t hash, const struct bbf_site *site)
{
    return site == NULL
               ? hash
               : bbf_fingerprint_step(hash, site->class_name, site->method, site->enclosing);
}

/* Does the path come to this site again below the step `node`, up to `last`? */
static bool comes_again(const struct bbf_tracker *tracker, uint32_t node, uint32_t site,
                        uint32_t last)
{
    for (struct bbf_place at; last != node; last = at.parent) {
        at = bbf_node_place(tracker, last);
        if (at.site == site)
            return true;
    }
    return false;
}

/* As bbf_fingerprint_leak(), of the tracker's nodes. */
uint64_t bbf_event_fingerprint(const struct bbf_tracker *tracker, uint32_t node)
{
    const struct bbf_site *first = NULL, *derive = NULL, *root = NULL, *site;
    const struct bbf_place end = bbf_node_place(tracker, node);
    if (end.site == BBF_L_SITE_GAP)
        node = end.parent;
    const uint32_t last = node;
    uint32_t derive_node = BBF_L_NODE_NONE, root_node = node;
    uint64_t passed = 0;

    for (struct bbf_place at; node != BBF_L_NODE_NONE; root_node = node, node = at.parent) {
        at = bbf_node_place(tracker, node);
        root = site = bbf_site_get(tracker, at.site);
        first = first == NULL ? site : first;
        if (site == NULL)
            continue;
        if (site->kind == BBF_SITE_DERIVE && derive == NULL) {
            derive = site;
            derive_node = node;
        }
        if (node != last && (site->kind == BBF_SITE_ENTER || site->kind == BBF_SITE_RETURN) &&
            !comes_again(tracker, node, at.site, last))
            passed = bbf_fingerprint_pass(passed, site->class_name, site->method, site->enclosing);
    }
    uint64_t hash = add_site(bbf_fingerprint_begin(), root);
    if (derive != NULL && derive_node != root_node)
        hash = add_site(hash, derive);
    if (last != root_node && last != derive_node)
        hash = add_site(hash, first);
    return bbf_fingerprint_end(hash, passed);
}

static void add_loss(struct bbf_buf *out, const struct bbf_event *event)
{
    const struct bbf_line_loss loss = {
        .verdict = event->kind == BBF_EVENT_AGED ? BBF_VERDICT_AGED : BBF_VERDICT_LEAKED,
        .memory = event->memory,
        .estimated = event->weight > 1,
        .added = event->added,
        .added_bytes = event->added_bytes,
        .count = event->count,
        .bytes = event->bytes,
        .thread = event->thread,
        .thread_count = event->thread_count,
        .thread_name = event->thread_name};
    struct bbf_path path;

    bbf_event_path(event->tracker, event->node, &path);
    bbf_line_loss(out, &loss, &path);
}

void bbf_event_line(struct bbf_buf *out, const struct bbf_event *event)
{
    switch (event->kind) {
    case BBF_EVENT_LEAK:
    case BBF_EVENT_AGED:
        add_loss(out, event);
        break;
    case BBF_EVENT_MISUSE:
        bbf_misuse_line(out, event->detail.misuse, NULL);
        break;
    case BBF_EVENT_OOM:
        bbf_line_oom(out);
        break;
    case BBF_EVENT_OOM_REPORT:
        bbf_line_oom_report(out, event->detail.report.path, event->detail.report.why);
        break;
    case BBF_EVENT_NEAR_LIMIT:
        bbf_line_limit(out, event->detail.near_limit.used, event->detail.near_limit.limit,
                       event->detail.near_limit.path, event->detail.near_limit.why);
        break;
    case BBF_EVENT_LIFE:
    case BBF_EVENT_SETTING:
    case BBF_EVENT_SUMMARY:
    case BBF_EVENT_UNTRACKED:
        break;
    }
}
