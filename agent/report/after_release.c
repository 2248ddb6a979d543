/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/after_release.h"

#include <stdlib.h>

#include "agent/events.h"
#include "agent/report/misuse.h"
#include "agent/state.h"
#include "core/err.h"
#include "trie/after_release.h"

/* Fill `row`, which is the caller's to free by bbf_misuse_row_free(). */
static int name_row(const struct bbf_after *after, struct bbf_snap_misuse *row)
{
    const struct bbf_site *site = bbf_site_get(bbf_agent.tracker, after->site);
    *row = (struct bbf_snap_misuse){.use = BBF_USE_STEP,
                                    .count = after->count,
                                    .released_thread = after->released_tid,
                                    .used_thread = after->used_tid};
    int err = BBF_OK;
    if (after->node != BBF_L_NODE_NONE)
        err = bbf_misuse_name_path(row, after->node, after->class_number);
    if (err == BBF_OK)
        err = bbf_misuse_add_step(&row->used_by, &row->n_used_by,
                                  site != NULL ? site->class_name : NULL,
                                  site != NULL ? site->method : NULL);
    return err;
}

static int by_count(const void *left, const void *right)
{
    const struct bbf_after *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static size_t rows(struct bbf_after out[BBF_AFTER_ROWS])
{
    size_t n = bbf_after_release_rows(bbf_agent.tracker, out);
    qsort(out, n, sizeof *out, by_count);
    return n;
}

static void take_row(const struct bbf_after *after,
                     void (*take)(void *ctx, const struct bbf_event *event), void *ctx,
                     uint64_t added)
{
    struct bbf_snap_misuse row;
    if (name_row(after, &row) == BBF_OK) {
        struct bbf_event event = bbf_event_new(BBF_EVENT_MISUSE);
        event.tracker = bbf_agent.tracker;
        event.node = after->node;
        event.count = after->count;
        event.added = added;
        event.thread = after->used_tid;
        event.detail.misuse = &row;
        take(ctx, &event);
    }
    bbf_misuse_row_free(&row);
}

static void post(void *ctx, const struct bbf_event *event)
{
    (void)ctx;
    bbf_events_post(event);
}

void bbf_after_release_poll(void)
{
    static struct bbf_after all[BBF_AFTER_ROWS];
    if (!bbf_events_wanted(BBF_EVENT_MISUSE) || bbf_after_release_sum(bbf_agent.tracker) == 0)
        return;
    size_t n = rows(all);
    for (size_t i = 0; i < n; i++) {
        if (!*all[i].posted)
            take_row(&all[i], post, NULL, all[i].count);
        *all[i].posted = true;
    }
}

void bbf_after_release_each(void (*take)(void *ctx, const struct bbf_event *event), void *ctx)
{
    struct bbf_after all[BBF_AFTER_ROWS];
    size_t n = rows(all);
    for (size_t i = 0; i < n; i++)
        take_row(&all[i], take, ctx, 0);
}

int bbf_after_release_fill(struct bbf_snapshot *s)
{
    struct bbf_after all[BBF_AFTER_ROWS];
    size_t n = rows(all);
    int err = BBF_OK;
    struct bbf_snap_misuse *grown = realloc(s->misuses, (s->n_misuses + n + 1) * sizeof *grown);
    if (grown == NULL)
        return BBF_ENOMEM;
    s->misuses = grown;
    for (size_t i = 0; i < n && err == BBF_OK; i++)
        err = name_row(&all[i], &s->misuses[s->n_misuses++]);
    return err;
}
