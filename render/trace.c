/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/trace.c - what was lost on a timeline, for Perfetto, chrome://tracing and speedscope: the
 * trace event format (JSON object, "Trace Event Format" of the Chromium project). A slice for each
 * leak row, on the thread that opened most of its buffers, as long as its oldest was open; all end
 * with the snapshot, so that slices nest. Counters: what the histories have, by place. Microseconds
 * since 1970.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/err.h"
#include "render/fingerprint.h"
#include "render/formats.h"
#include "render/json_names.h"
#include "render/json_text.h"
#include "render/text.h"
#include "render/view.h"

#define SECOND UINT64_C(1000000)

struct trace {
    struct bbf_buf *out;
    struct bbf_buf *spare;
    struct bbf_view *view;
    uint64_t now; /* of the snapshot */
    bool any;
};

static void begin(struct trace *t, char phase)
{
    bbf_buf_printf(t->out, "%s{\"ph\":\"%c\",\"pid\":%" PRId64, t->any ? ",\n" : "\n", phase,
                   t->view->snapshot->jvm.pid);
    t->any = true;
}

static void add_name(const struct trace *t, uint32_t node)
{
    const struct bbf_name *name = &t->view->names.names[t->view->snapshot->nodes[node].site];

    bbf_json_text_of(t->out, name->text, name->len);
}

static void add_safe(const struct trace *t, const char *text)
{
    t->spare->len = 0;
    bbf_text_safe(t->spare, text, '\0');
    bbf_json_text_of(t->out, t->spare->data, t->spare->len);
}

static void add_path(const struct trace *t, uint32_t node)
{
    const struct bbf_view_path path = bbf_view_path(t->view, node);

    t->spare->len = 0;
    bbf_view_join_ends(t->spare, t->view, path.nodes, path.n, 4, 16);
    bbf_json_text_of(t->out, t->spare->data, t->spare->len);
}

static void add_processes(struct trace *t)
{
    const struct bbf_snapshot *s = t->view->snapshot;

    begin(t, 'M');
    bbf_buf_str(t->out, ",\"name\":\"process_name\",\"args\":{\"name\":");
    add_safe(t, s->jvm.main);
    bbf_buf_str(t->out, "}}");
    for (size_t i = 0; i < s->n_threads; i++) {
        begin(t, 'M');
        bbf_buf_printf(t->out, ",\"tid\":%" PRIu64 ",\"name\":\"thread_name\",\"args\":{\"name\":",
                       s->threads[i].id);
        add_safe(t, s->threads[i].name);
        bbf_buf_str(t->out, "}}");
    }
}

/* Of a slice: a microsecond at least, and not from before 1970. */
static uint64_t duration_of(const struct trace *t, const struct bbf_snap_leak *leak)
{
    if (leak->oldest_seconds == 0)
        return t->now > 0 ? 1 : 0;
    return leak->oldest_seconds < t->now / SECOND ? leak->oldest_seconds * SECOND : t->now;
}

static void add_leak(struct trace *t, const struct bbf_snap_leak *leak)
{
    struct bbf_buf *out = t->out;
    uint64_t duration = duration_of(t, leak);

    begin(t, 'X');
    bbf_buf_printf(
        out, ",\"tid\":%" PRIu64 ",\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",\"cat\":\"%s\",\"name\":",
        leak->thread, t->now - duration, duration, bbf_json_verdicts[leak->verdict]);
    add_name(t, leak->node);
    bbf_buf_printf(
        out, ",\"args\":{\"buffers\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"memory\":\"%s\",\"id\":\"",
        leak->count, leak->bytes, bbf_memory_name(leak->memory));
    bbf_fingerprint_text(out, bbf_fingerprint_leak(t->view, leak->node));
    bbf_buf_str(out, "\",\"path\":");
    add_path(t, leak->node);
    bbf_buf_str(out, "}}");
}

/* A counter's track has one value at a time: where several rows have one name, their ids differ. */
static void add_history(struct trace *t, size_t row)
{
    const struct bbf_snapshot *s = t->view->snapshot;
    const struct bbf_snap_growth *g = &s->growth[row];
    const uint64_t end = t->now - s->history.current_seconds * SECOND; /* of the last whole one */

    for (uint32_t i = 0; i < g->n; i++) {
        const uint64_t before = (g->n - 1 - i) * s->history.seconds * SECOND;
        if (before > end || s->history.current_seconds * SECOND > t->now)
            continue;
        begin(t, 'C');
        bbf_buf_printf(t->out, ",\"tid\":0,\"ts\":%" PRIu64 ",\"id\":%zu,\"name\":", end - before,
                       row);
        add_name(t, g->node);
        bbf_buf_printf(t->out, ",\"args\":{\"%s bytes\":%" PRIu64 "}}", bbf_json_growth[g->of],
                       g->at[i].bytes);
    }
}

/* Longest first, so that each slice contains the next one of its thread. */
static int compare_ages(const void *a, const void *b, void *leaks)
{
    const struct bbf_snap_leak *x = (const struct bbf_snap_leak *)leaks + *(const uint32_t *)a;
    const struct bbf_snap_leak *y = (const struct bbf_snap_leak *)leaks + *(const uint32_t *)b;

    if (x->oldest_seconds != y->oldest_seconds)
        return x->oldest_seconds > y->oldest_seconds ? -1 : 1;
    return (x > y) - (x < y);
}

static int add_leaks(struct trace *t)
{
    const struct bbf_snapshot *s = t->view->snapshot;
    uint32_t *order = calloc(s->n_leaks + 1, sizeof *order);

    if (order == NULL)
        return BBF_ENOMEM;
    for (uint32_t i = 0; i < s->n_leaks; i++)
        order[i] = i;
    if (s->n_leaks > 1)
        qsort_r(order, s->n_leaks, sizeof *order, compare_ages, s->leaks);
    for (size_t i = 0; i < s->n_leaks; i++)
        add_leak(t, &s->leaks[order[i]]);
    free(order);
    return BBF_OK;
}

int bbf_render_trace(struct bbf_buf *out, struct bbf_view *view,
                     const struct bbf_render_options *options)
{
    const struct bbf_snapshot *s = view->snapshot;
    struct bbf_buf spare = BBF_BUF_INIT;
    struct trace t = {.out = out, .spare = &spare, .view = view};
    int err = bbf_view_add_names(view, '\0');

    (void)options;
    if (err != BBF_OK)
        return err;
    t.now = s->captured_at_ms > 0 ? (uint64_t)s->captured_at_ms * 1000 : 0;
    bbf_buf_str(out, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"exporter\":\"bbflow " BBF_VERSION
                     "\"},\"traceEvents\":[");
    add_processes(&t);
    err = add_leaks(&t);
    for (size_t i = 0; i < s->n_growth; i++)
        add_history(&t, i);
    bbf_buf_str(out, "]}\n");
    bool failed = spare.failed;
    bbf_buf_free(&spare);
    return err == BBF_OK && failed ? BBF_ENOMEM : err;
}
