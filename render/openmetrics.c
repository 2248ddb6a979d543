/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/openmetrics.c - the numbers of a snapshot as metrics, in two texts: `prom`, Prometheus'
 * own (0.0.4, also what node_exporter's textfile collector reads), and `openmetrics` 1.0
 * (https://prometheus.io/docs/specs/om/open_metrics_spec/), which names counters without "_total",
 * has exemplars and an end. Labels are bounded: places beyond PLACES are one series. Counters begin
 * again at 0 at a reset.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/err.h"
#include "render/fingerprint.h"
#include "render/formats.h"
#include "render/growth.h"
#include "render/text.h"
#include "render/view.h"

enum { PLACES = 100 };

/* Divergences of one id: a series each, since the labels must differ. */
struct place {
    uint64_t id; /* 0: the others */
    uint32_t last;
    uint64_t leaked, aged, bytes, passed;
};

struct metrics {
    struct bbf_buf *out;
    struct bbf_view *view;
    bool open; /* OpenMetrics */
    struct place places[PLACES + 1];
    size_t n;
};

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static struct place *place_of(struct metrics *m, uint64_t id, uint32_t last)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->places[i].id == id)
            return &m->places[i];
    if (m->n >= PLACES) {
        m->n = PLACES + 1;
        return &m->places[PLACES];
    }
    m->places[m->n] = (struct place){.id = id, .last = last};
    return &m->places[m->n++];
}

static void gather(struct metrics *m)
{
    for (size_t i = 0; i < m->view->divergences.count; i++) {
        const struct bbf_divergence *d = &m->view->divergences.rows[i];
        struct place *place = place_of(m, bbf_fingerprint_leak(m->view, d->last), d->last);
        place->leaked = sum(place->leaked, d->leaked);
        place->aged = sum(place->aged, d->aged);
        place->bytes = sum(place->bytes, d->bytes);
        place->passed = sum(place->passed, d->passed);
    }
}

/* ---- lines ---- */

/* "# HELP" and "# TYPE". `help` has no line end. */
static void begin(const struct metrics *m, const char *name, bool counter, const char *help)
{
    const char *suffix = counter && !m->open ? "_total" : "";

    bbf_buf_printf(m->out, "# HELP bbflow_%s%s %s\n# TYPE bbflow_%s%s %s\n", name, suffix, help,
                   name, suffix, counter ? "counter" : "gauge");
}

/* The name of a sample; its labels and its value follow. */
static void add_name(const struct metrics *m, const char *name, bool counter)
{
    bbf_buf_printf(m->out, "bbflow_%s%s", name, counter ? "_total" : "");
}

static void add_one(const struct metrics *m, const char *name, bool counter, const char *help,
                    uint64_t value)
{
    begin(m, name, counter, help);
    add_name(m, name, counter);
    bbf_buf_printf(m->out, " %" PRIu64 "\n", value);
}

static void add_kind(const struct metrics *m, const char *name, const char *label,
                     const char *value, uint64_t count)
{
    add_name(m, name, true);
    bbf_buf_printf(m->out, "{%s=\"%s\"} %" PRIu64 "\n", label, value, count);
}

/* ---- places ---- */

static void add_text_label(struct bbf_buf *out, const char *text, size_t len)
{
    bbf_buf_str(out, "place=\"");
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\')
            bbf_buf_char(out, '\\');
        bbf_buf_char(out, text[i]);
    }
    bbf_buf_char(out, '"');
}

static void add_place_labels(const struct metrics *m, const struct place *place)
{
    struct bbf_buf *out = m->out;

    if (place == &m->places[PLACES]) {
        bbf_buf_str(out, "{id=\"others\",place=\"others\"} ");
        return;
    }
    uint32_t owner = bbf_owner_to_mend(m->view, place->last);
    const struct bbf_name *name = &m->view->names.names[m->view->snapshot->nodes[owner].site];
    bbf_buf_str(out, "{id=\"");
    bbf_fingerprint_text(out, place->id);
    bbf_buf_str(out, "\",");
    add_text_label(out, name->text, name->len);
    bbf_buf_str(out, "} ");
}

static void add_places(const struct metrics *m)
{
    static const struct {
        const char *name, *help;
        bool counter;
    } families[] = {
        {"place_buffers", "Buffers that came to a place that loses some.", true},
        {"place_leaked_buffers", "Buffers that a place lost: collected unreleased.", true},
        {"place_aged_buffers", "Buffers of a place that are open for an unusually long time.",
         false},
        {"place_lost_bytes", "Bytes of the leaked and the aged buffers of a place.", false},
    };

    for (size_t f = 0; f < sizeof families / sizeof *families && m->n > 0; f++) {
        begin(m, families[f].name, families[f].counter, families[f].help);
        for (size_t i = 0; i < m->n; i++) {
            const struct place *p = &m->places[i];
            const uint64_t values[] = {p->passed, p->leaked, p->aged, p->bytes};
            add_name(m, families[f].name, families[f].counter);
            add_place_labels(m, p);
            bbf_buf_printf(m->out, "%" PRIu64 "\n", values[f]);
        }
    }
}

/* ---- the whole ---- */

/* With the worst place as exemplar, which a click in a dashboard leads to. */
static void add_leaked(const struct metrics *m)
{
    begin(m, "leaked_buffers", true, "Buffers that were garbage-collected unreleased.");
    add_name(m, "leaked_buffers", true);
    bbf_buf_printf(m->out, " %" PRIu64, m->view->snapshot->totals.leaked_);
    if (m->open && m->n > 0 && m->places[0].leaked > 0) {
        bbf_buf_str(m->out, " # {id=\"");
        bbf_fingerprint_text(m->out, m->places[0].id);
        bbf_buf_printf(m->out, "\"} %" PRIu64, m->places[0].leaked);
    }
    bbf_buf_char(m->out, '\n');
}

static void add_totals(const struct metrics *m)
{
    const struct bbf_snap_totals *t = &m->view->snapshot->totals;

    add_leaked(m);
    add_one(m, "leaked_bytes", true, "Bytes of the leaked buffers.", t->leaked_bytes_);
    begin(m, "ended_buffers", true, "Buffers that are no longer open, by their end.");
    add_kind(m, "ended_buffers", "end", "released", t->released_);
    add_kind(m, "ended_buffers", "end", "leaked", t->leaked_);
    add_kind(m, "ended_buffers", "end", "held", t->held_);
    add_kind(m, "ended_buffers", "end", "harmless", t->harmless_);
    add_kind(m, "ended_buffers", "end", "unknown", t->unknown_);
    add_one(m, "open_buffers", false, "Buffers that are open.", t->live_);
    add_one(m, "open_bytes", false, "Bytes of the open buffers.", t->live_bytes_);
    add_one(m, "aged_buffers", false, "Open buffers that are open for an unusually long time.",
            t->aged_);
    add_one(m, "uses_after_release", true, "Uses of buffers after their release.", t->misuse_);
    begin(m, "not_seen", true, "What bbflow missed, by the reason.");
    add_kind(m, "not_seen", "what", "lives", t->dropped_lives_);
    add_kind(m, "not_seen", "what", "steps", t->dropped_steps_);
    add_kind(m, "not_seen", "what", "raced_steps", t->raced_steps_);
    add_kind(m, "not_seen", "what", "classes", t->untracked_classes_);
    add_kind(m, "not_seen", "what", "internal_errors", t->internal_errors_);
    add_one(m, "sample", false, "One buffer in this number is followed, and counts as this number.",
            t->sampled_ > 1 ? t->sampled_ : 1);
}

/* Of the counter that ends first; nothing where its limit is not known, or nothing grows. */
static int add_direct(const struct metrics *m)
{
    struct bbf_direct_end end;
    int err = bbf_direct_end(m->view->snapshot, &end);

    if (err != BBF_OK || !end.known)
        return err;
    add_one(m, "direct_memory_bytes", false, "Direct memory in use.", end.used);
    add_one(m, "direct_memory_limit_bytes", false, "Limit of the direct memory.", end.limit);
    begin(m, "direct_memory_seconds_left", false,
          "Seconds until direct memory reaches its limit, at its present growth.");
    bbf_buf_printf(m->out, "bbflow_direct_memory_seconds_left %.0f\n", end.seconds);
    return BBF_OK;
}

static int render(struct bbf_buf *out, struct bbf_view *view, bool open)
{
    struct metrics *m = calloc(1, sizeof *m);
    int err = m != NULL ? bbf_view_add_names(view, '\0') : BBF_ENOMEM;

    if (err == BBF_OK)
        err = bbf_view_add_divergences(view);
    if (err == BBF_OK)
        err = bbf_view_add_owners(view);
    if (err == BBF_OK) {
        *m = (struct metrics){.out = out, .view = view, .open = open};
        gather(m);
        add_totals(m);
        err = add_direct(m);
        add_places(m);
        bbf_buf_str(out, open ? "# EOF\n" : "");
    }
    free(m);
    return err;
}

int bbf_render_prom(struct bbf_buf *out, struct bbf_view *view,
                    const struct bbf_render_options *options)
{
    (void)options;
    return render(out, view, false);
}

int bbf_render_openmetrics(struct bbf_buf *out, struct bbf_view *view,
                           const struct bbf_render_options *options)
{
    (void)options;
    return render(out, view, true);
}
