/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/openmetrics.c - the numbers of a snapshot as metrics, in two texts: `prom`, Prometheus'
 * own (0.0.4, also what node_exporter's textfile collector reads), and `openmetrics` 1.0
 * (https://prometheus.io/docs/specs/om/open_metrics_spec/), which names counters without "_total",
 * has exemplars and an end. Labels are bounded: render/metrics.h. Numbers are written without
 * printf's floats, whose point depends on the JVM's locale.
 */
#include <inttypes.h>
#include <string.h>

#include "core/err.h"
#include "render/direct_counter.h"
#include "render/estimate.h"
#include "render/fingerprint.h"
#include "render/formats.h"
#include "render/growth.h"
#include "render/metrics.h"
#include "render/metrics_table.h"
#include "render/text.h"
#include "render/view.h"

enum kind { INFO, GAUGE, COUNTER };

static const struct {
    const char *name;
    enum kind kind;
    const char *help;
} table[] = {
#define XX(id, name, kind, labels, help) {name, kind, help},
    BBF_METRICS(XX)
#undef XX
};

struct document {
    struct bbf_buf *out;
    struct bbf_view *view;
    struct bbf_metrics *metrics;
    bool open;      /* OpenMetrics */
    size_t counter; /* number of the next one, for bbf_metrics_total() */
};

/* ---- lines ---- */

/* OpenMetrics names a family without its samples' suffix. */
static const char *suffix_of(enum bbf_metric metric)
{
    static const char *const suffixes[] = {[INFO] = "_info", [GAUGE] = "", [COUNTER] = "_total"};

    return suffixes[table[metric].kind];
}

/* "# HELP" and "# TYPE". */
static void begin(const struct document *d, enum bbf_metric metric)
{
    static const char *const types[] = {[INFO] = "info", [GAUGE] = "gauge", [COUNTER] = "counter"};
    const char *suffix = d->open ? "" : suffix_of(metric);
    enum kind kind = table[metric].kind == INFO && !d->open ? GAUGE : table[metric].kind;

    bbf_buf_printf(d->out, "# HELP bbflow_%s%s %s", table[metric].name, suffix, table[metric].help);
    bbf_buf_printf(d->out, "\n# TYPE bbflow_%s%s %s\n", table[metric].name, suffix, types[kind]);
}

/* The name of a sample; its labels and its value follow. */
static void add_name(const struct document *d, enum bbf_metric metric)
{
    bbf_buf_printf(d->out, "bbflow_%s%s", table[metric].name, suffix_of(metric));
}

/* name="value", escaped. */
static void add_label(struct bbf_buf *out, const char *name, const char *text, size_t len)
{
    bbf_buf_printf(out, "%s=\"", name);
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\')
            bbf_buf_char(out, '\\');
        bbf_buf_char(out, text[i]);
    }
    bbf_buf_char(out, '"');
}

/* The value of the next counter; a gauge's as it is. */
static uint64_t value_of(struct document *d, enum bbf_metric metric, uint64_t value)
{
    if (table[metric].kind != COUNTER || d->counter >= BBF_METRIC_TOTALS)
        return value;
    return bbf_metrics_total(d->metrics, d->counter++, value);
}

static void add_kind(struct document *d, enum bbf_metric metric, const char *label,
                     const char *value, uint64_t count)
{
    add_name(d, metric);
    bbf_buf_printf(d->out, "{%s=\"%s\"} %" PRIu64 "\n", label, value, value_of(d, metric, count));
}

static void add_one(struct document *d, enum bbf_metric metric, uint64_t value)
{
    begin(d, metric);
    add_name(d, metric);
    bbf_buf_printf(d->out, " %" PRIu64 "\n", value_of(d, metric, value));
}

static void add_seconds(struct document *d, enum bbf_metric metric, const char *part, uint64_t ns)
{
    add_name(d, metric);
    if (part != NULL)
        bbf_buf_printf(d->out, "{part=\"%s\"}", part);
    ns = value_of(d, metric, ns);
    bbf_buf_printf(d->out, " %" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000, ns % 1000000000);
}

/* ---- places ---- */

static void add_place(const struct document *d, enum bbf_metric metric,
                      const struct bbf_metric_place *place, enum bbf_place_value value)
{
    struct bbf_buf *out = d->out;

    add_name(d, metric);
    if (place->id == 0) {
        bbf_buf_str(out, "{id=\"others\",place=\"others\"} ");
    } else {
        bbf_buf_str(out, "{id=\"");
        bbf_fingerprint_text(out, place->id);
        bbf_buf_str(out, "\",");
        add_label(out, "place", place->name, strlen(place->name));
        bbf_buf_str(out, "} ");
    }
    bbf_buf_printf(out, "%" PRIu64 "\n", place->shown[value]);
}

static void add_places(struct document *d)
{
    static const enum bbf_metric families[BBF_PLACE_VALUES] = {
        [BBF_PLACE_BUFFERS] = BBF_METRIC_PLACE_BUFFERS,
        [BBF_PLACE_LEAKED] = BBF_METRIC_PLACE_LEAKED,
        [BBF_PLACE_LEAKED_BYTES] = BBF_METRIC_PLACE_LEAKED_BYTES,
        [BBF_PLACE_AGED] = BBF_METRIC_PLACE_AGED,
        [BBF_PLACE_AGED_BYTES] = BBF_METRIC_PLACE_AGED_BYTES};
    size_t n, others = bbf_metrics_others(d->metrics);
    const struct bbf_metric_place *places = bbf_metrics_places(d->metrics, &n);

    begin(d, BBF_METRIC_PLACES);
    add_kind(d, BBF_METRIC_PLACES, "labelled", "yes", n);
    add_kind(d, BBF_METRIC_PLACES, "labelled", "no", others);
    for (int v = 0; v < BBF_PLACE_VALUES && n + others > 0; v++) {
        begin(d, families[v]);
        for (size_t i = 0; i < n; i++)
            add_place(d, families[v], &places[i], (enum bbf_place_value)v);
        if (others > 0)
            add_place(d, families[v], bbf_metrics_rest(d->metrics), (enum bbf_place_value)v);
    }
}

/* ---- totals ---- */

/* With the worst place as exemplar, which a click in a dashboard leads to. */
static void add_leaked(struct document *d)
{
    const struct bbf_metric_place *worst = bbf_metrics_worst(d->metrics);

    begin(d, BBF_METRIC_LEAKED_BUFFERS);
    add_name(d, BBF_METRIC_LEAKED_BUFFERS);
    bbf_buf_printf(d->out, " %" PRIu64,
                   value_of(d, BBF_METRIC_LEAKED_BUFFERS, d->view->snapshot->totals.leaked_));
    if (d->open && worst != NULL) {
        bbf_buf_str(d->out, " # {id=\"");
        bbf_fingerprint_text(d->out, worst->id);
        bbf_buf_printf(d->out, "\"} %" PRIu64, worst->shown[BBF_PLACE_LEAKED]);
    }
    bbf_buf_char(d->out, '\n');
}

static void add_watched(struct document *d)
{
    const struct bbf_snapshot *s = d->view->snapshot;
    uint64_t ppb = bbf_is_windowed(s) ? s->windows.share_ppb_ : BBF_SHARE_ALL_PPB;

    begin(d, BBF_METRIC_WATCHED);
    add_name(d, BBF_METRIC_WATCHED);
    bbf_buf_printf(d->out, " %" PRIu64 ".%09" PRIu64 "\n", ppb / BBF_SHARE_ALL_PPB,
                   ppb % BBF_SHARE_ALL_PPB);
}

static void add_totals(struct document *d)
{
    const struct bbf_snap_totals *t = &d->view->snapshot->totals;

    add_leaked(d);
    add_one(d, BBF_METRIC_LEAKED_BYTES, t->leaked_bytes_);
    begin(d, BBF_METRIC_ENDED_BUFFERS);
    add_kind(d, BBF_METRIC_ENDED_BUFFERS, "end", "released", t->released_);
    add_kind(d, BBF_METRIC_ENDED_BUFFERS, "end", "leaked", t->leaked_);
    add_kind(d, BBF_METRIC_ENDED_BUFFERS, "end", "held", t->held_);
    add_kind(d, BBF_METRIC_ENDED_BUFFERS, "end", "harmless", t->harmless_);
    add_kind(d, BBF_METRIC_ENDED_BUFFERS, "end", "unknown", t->unknown_);
    add_one(d, BBF_METRIC_OPEN_BUFFERS, t->live_);
    add_one(d, BBF_METRIC_OPEN_BYTES, t->live_bytes_);
    add_one(d, BBF_METRIC_AGED_BUFFERS, t->aged_);
    add_one(d, BBF_METRIC_MISUSES, t->misuse_);
    begin(d, BBF_METRIC_NOT_SEEN);
    add_kind(d, BBF_METRIC_NOT_SEEN, "what", "lives", t->dropped_lives_);
    add_kind(d, BBF_METRIC_NOT_SEEN, "what", "steps", t->dropped_steps_);
    add_kind(d, BBF_METRIC_NOT_SEEN, "what", "raced_steps", t->raced_steps_);
    add_kind(d, BBF_METRIC_NOT_SEEN, "what", "classes", t->untracked_classes_);
    add_kind(d, BBF_METRIC_NOT_SEEN, "what", "buffers", t->untracked_buffers_);
    add_kind(d, BBF_METRIC_NOT_SEEN, "what", "internal_errors", t->internal_errors_);
    add_one(d, BBF_METRIC_SAMPLE, t->sampled_ > 1 ? t->sampled_ : 1);
    add_watched(d);
}

static void add_limits(struct document *d)
{
    static const enum bbf_metric families[] = {BBF_METRIC_LIMIT_HITS, BBF_METRIC_LIMIT_USED,
                                               BBF_METRIC_LIMIT};
    const struct bbf_snapshot *s = d->view->snapshot;

    for (size_t f = 0; f < sizeof families / sizeof *families && s->n_limits > 0; f++) {
        begin(d, families[f]);
        for (size_t i = 0; i < s->n_limits; i++) {
            const struct bbf_snap_limit *limit = &s->limits[i];
            const uint64_t values[] = {limit->hit, limit->used, limit->limit};
            add_name(d, families[f]);
            bbf_buf_char(d->out, '{');
            add_label(d->out, "limit", limit->name, strlen(limit->name));
            bbf_buf_printf(d->out, "} %" PRIu64 "\n", value_of(d, families[f], values[f]));
        }
    }
}

/* ---- direct memory ---- */

static void add_direct_family(struct document *d, enum bbf_metric metric, uint64_t netty,
                              uint64_t nio)
{
    bool has_netty = netty != BBF_NOT_TOLD, has_nio = nio != BBF_NOT_TOLD;

    if (!has_netty && !has_nio)
        return;
    begin(d, metric);
    if (has_netty)
        add_kind(d, metric, "counter", "netty", netty);
    if (has_nio)
        add_kind(d, metric, "counter", "java.nio", nio);
}

static int add_direct(struct document *d)
{
    const struct bbf_snap_reconciled *r = &d->view->snapshot->reconciled;
    struct bbf_direct_end end;
    int err = bbf_direct_end(d->view->snapshot, &end);

    if (err != BBF_OK || !r->read)
        return err;
    add_direct_family(d, BBF_METRIC_DIRECT, r->used_direct_, r->nio_reserved_);
    add_direct_family(d, BBF_METRIC_DIRECT_LIMIT, r->direct_limit_, r->nio_limit_);
    if (end.known)
        add_one(d, BBF_METRIC_EXHAUSTION,
                end.seconds < 1e15 ? (uint64_t)end.seconds : 1000000000000000);
    return BBF_OK;
}

/* ---- bbflow itself ---- */

static void add_cost(struct document *d)
{
    const struct bbf_snap_cost *c = &d->view->snapshot->cost;
    const struct bbf_snap_cost_row *all = &c->since_start;

    if (!c->measured)
        return;
    begin(d, BBF_METRIC_CPU);
    add_seconds(d, BBF_METRIC_CPU, "agent", all->agent_ns_);
    add_seconds(d, BBF_METRIC_CPU, "server", all->server_ns_);
    add_seconds(d, BBF_METRIC_CPU, "gate", all->gate_ns_);
    /* Rewriting, hooks and what they call; so the sum of the parts is the overhead of a report. */
    uint64_t own = all->agent_ns_ + all->server_ns_ + all->gate_ns_;
    uint64_t overhead = all->estimated_overhead_ns_;
    add_seconds(d, BBF_METRIC_CPU, "application", overhead > own ? overhead - own : 0);
    begin(d, BBF_METRIC_PROCESS_CPU);
    add_seconds(d, BBF_METRIC_PROCESS_CPU, NULL, all->process_ns_);
    begin(d, BBF_METRIC_MEMORY);
    add_kind(d, BBF_METRIC_MEMORY, "of", "nodes", c->memory_nodes_);
    add_kind(d, BBF_METRIC_MEMORY, "of", "lives", c->memory_lives_);
    add_kind(d, BBF_METRIC_MEMORY, "of", "leaks", c->memory_leaks_);
    add_kind(d, BBF_METRIC_MEMORY, "of", "other", c->memory_other_);
}

static void add_head(struct document *d)
{
    const struct bbf_snapshot *s = d->view->snapshot;
    uint64_t ms = s->captured_at_ms > 0 ? (uint64_t)s->captured_at_ms : 0;

    begin(d, BBF_METRIC_BUILD);
    add_kind(d, BBF_METRIC_BUILD, "version", BBF_VERSION, 1);
    for (size_t i = 0; i < s->jvm.n_netty; i++) {
        struct bbf_buf safe = BBF_BUF_INIT; /* read from a class of the application's */
        if (i == 0)
            begin(d, BBF_METRIC_NETTY);
        bbf_text_safe(&safe, s->jvm.netty[i], '\0');
        add_name(d, BBF_METRIC_NETTY);
        bbf_buf_char(d->out, '{');
        add_label(d->out, "netty", bbf_buf_cstr(&safe), safe.len);
        bbf_buf_str(d->out, "} 1\n");
        bbf_buf_free(&safe);
    }
    begin(d, BBF_METRIC_CAPTURED);
    add_name(d, BBF_METRIC_CAPTURED);
    bbf_buf_printf(d->out, " %" PRIu64 ".%03" PRIu64 "\n", ms / 1000, ms % 1000);
}

/* ---- the whole ---- */

static int add_all(struct document *d)
{
    add_head(d);
    add_totals(d);
    int err = add_direct(d);
    add_places(d);
    add_limits(d);
    add_cost(d);
    bbf_buf_str(d->out, d->open ? "# EOF\n" : "");
    return err;
}

static int render(struct bbf_buf *out, struct bbf_view *view,
                  const struct bbf_render_options *options, bool open)
{
    struct bbf_metrics *own = options->metrics == NULL ? bbf_metrics_new(BBF_METRIC_MOST) : NULL;
    struct bbf_metrics *metrics = own != NULL ? own : options->metrics;
    int err = metrics != NULL ? bbf_view_add_names(view, '\0') : BBF_ENOMEM;

    if (err == BBF_OK)
        err = bbf_view_add_divergences(view);
    if (err == BBF_OK)
        err = bbf_view_add_owners(view);
    if (err == BBF_OK)
        err = bbf_metrics_gather(metrics, view);
    if (err == BBF_OK) {
        struct document d = {.out = out, .view = view, .metrics = metrics, .open = open};
        err = add_all(&d);
    }
    bbf_metrics_free(own);
    return err;
}

int bbf_render_prom(struct bbf_buf *out, struct bbf_view *view,
                    const struct bbf_render_options *options)
{
    return render(out, view, options, false);
}

int bbf_render_openmetrics(struct bbf_buf *out, struct bbf_view *view,
                           const struct bbf_render_options *options)
{
    return render(out, view, options, true);
}
