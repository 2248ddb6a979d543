/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/jfr.c - a snapshot as a flight recording (render/record.h has the events): what leaked or
 * is aged, paths, uses after release, totals, settings, notes. All at the time of the snapshot but
 * profiler.Malloc, which has the time that the place's oldest buffer was opened.
 */
#include <stdlib.h>

#include "core/err.h"
#include "render/fingerprint.h"
#include "render/formats.h"
#include "render/head.h"
#include "render/record.h"
#include "render/view.h"

#define SECOND UINT64_C(1000000000)

struct recording {
    struct bbf_view *view;
    const struct bbf_snapshot *snapshot;
    struct bbf_jfr_writer writer;
    struct bbf_jfr_frame *frames; /* room for the longest path */
    uint64_t now;                 /* ticks: nanoseconds since the recording's begin */
    uint64_t lives;               /* numbers given out */
};

static int append(void *ctx, const char *data, size_t len)
{
    struct bbf_buf *out = ctx;

    bbf_buf_add(out, data, len);
    return out->failed ? BBF_ENOMEM : BBF_OK;
}

/* ---- parts of events ---- */

static struct bbf_record_path path_of(struct recording *r, uint32_t node)
{
    const struct bbf_view_path path = bbf_view_path(r->view, node);

    for (size_t i = 0; i < path.n; i++) {
        uint32_t step = path.nodes[path.n - 1 - i];
        const struct bbf_snap_site *site = &r->snapshot->sites[r->snapshot->nodes[step].site];
        r->frames[i] = bbf_record_frame(site->class_name, site->method, site->descriptor);
    }
    return (struct bbf_record_path){.frames = r->frames, .n = path.n};
}

static struct bbf_record_thread thread_of(const struct recording *r, uint64_t id)
{
    return (struct bbf_record_thread){.id = id, .name = bbf_snapshot_thread(r->snapshot, id)};
}

/* ---- events ---- */

static void add_leak(struct recording *r, const struct bbf_snap_leak *row)
{
    struct bbf_record_leak leak = {
        .path = path_of(r, row->node),
        .thread = thread_of(r, row->thread),
        .place = r->snapshot->nodes[row->node].id,
        .verdict = row->verdict,
        .memory = row->memory,
        .lost = row->lost,
        .count = row->count,
        .bytes = row->bytes,
        .total_count = row->count,
        .total_bytes = row->bytes,
        .references = row->references,
        .oldest_ns = row->oldest_seconds * SECOND,
        .median_ns = row->p50_seconds * SECOND,
        .opened = row->thread_count,
        .weight = bbf_record_sample(r->snapshot),
        .fingerprint = bbf_fingerprint_leak(r->view, row->node),
    };
    const struct bbf_record_lost lost = {.path = leak.path,
                                         .thread = leak.thread,
                                         .opened_ticks =
                                             leak.oldest_ns < r->now ? r->now - leak.oldest_ns : 0,
                                         .count = row->count,
                                         .bytes = row->bytes};

    bbf_record_leak(&r->writer, r->now, &leak);
    bbf_record_allocations(&r->writer, &lost, &r->lives);
}

static void add_flows(struct recording *r)
{
    for (size_t i = 0; i < r->snapshot->n_nodes; i++) {
        const struct bbf_snap_node *node = &r->snapshot->nodes[i];
        if (!bbf_view_has_end(node))
            continue;
        const struct bbf_record_flow flow = {
            .path = path_of(r, (uint32_t)i), .place = node->id, .node = node};
        bbf_record_flow(&r->writer, r->now, &flow);
    }
}

static void add_untracked(void *recording, const char *text)
{
    struct recording *r = recording;

    bbf_record_untracked(&r->writer, r->now, text);
}

static int add_events(struct recording *r)
{
    const struct bbf_snapshot *s = r->snapshot;
    bool made = true;

    for (size_t i = 0; i < s->n_settings; i++)
        bbf_record_setting(&r->writer, r->now, s->settings[i].name, s->settings[i].value);
    int err = bbf_head_each(s, add_untracked, r);
    for (size_t i = 0; i < s->n_leaks; i++)
        add_leak(r, &s->leaks[i]);
    for (size_t i = 0; i < s->n_misuses && made; i++)
        made = bbf_record_misuse(&r->writer, r->now, &s->misuses[i],
                                 thread_of(r, s->misuses[i].used_thread));
    add_flows(r);
    bbf_record_summary(&r->writer, r->now, s, &(struct bbf_record_left_out){0});
    return made ? err : BBF_ENOMEM;
}

/* The recording begins when the oldest buffer in it was opened, a second ago at least: converters
 * take no recording without length. */
static uint64_t begin_of(const struct bbf_snapshot *s, uint64_t now)
{
    uint64_t oldest = 1; /* ages are whole seconds */

    for (size_t i = 0; i < s->n_leaks; i++)
        oldest = s->leaks[i].oldest_seconds > oldest ? s->leaks[i].oldest_seconds : oldest;
    return oldest < now / SECOND ? now - oldest * SECOND : 0;
}

int bbf_render_jfr(struct bbf_buf *out, struct bbf_view *view,
                   const struct bbf_render_options *options)
{
    const struct bbf_snapshot *s = view->snapshot;
    struct recording *r = calloc(1, sizeof *r);
    int64_t ms =
        s->captured_at_ms > 0 && s->captured_at_ms < INT64_MAX / 1000000 ? s->captured_at_ms : 0;

    (void)options;
    if (r == NULL)
        return BBF_ENOMEM;
    r->view = view;
    r->snapshot = s;
    uint64_t now = (uint64_t)ms * 1000000, begin = begin_of(s, now);
    /* Small numbers: the leak profiler computes with ticks as doubles. */
    r->now = now - begin;
    r->frames = calloc(s->n_nodes + 1, sizeof *r->frames);
    const struct bbf_jfr_config config = {.schema = bbf_record_schema,
                                          .output = {append, NULL, out},
                                          .start_ns = begin,
                                          .start_ticks = 0};
    int err = r->frames != NULL ? bbf_jfr_writer_init(&r->writer, &config) : BBF_ENOMEM;
    if (err == BBF_OK) {
        bbf_jfr_begin_chunk(&r->writer, 0);
        err = add_events(r);
        int end = bbf_jfr_finish(&r->writer, r->now);
        err = err == BBF_OK ? end : err;
    }
    bbf_jfr_writer_free(&r->writer);
    free(r->frames);
    free(r);
    return err;
}
