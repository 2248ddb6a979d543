/* SPDX-License-Identifier: Apache-2.0 */
#include "render/cost.h"

#include <inttypes.h>
#include <time.h>

#include "render/text.h"

enum { SHORTEST_NS = 500000000, IDLE = 20 }; /* a twentieth of a core, as for budget= */
enum { MILLION = 1000000, PAIRS = 8 };       /* fewer pairs of windows measure nothing */
/* The truth is from 1 / GATE_WITHIN to GATE_WITHIN times the estimate (docs/windows.md). */
enum { GATE_WITHIN = 3 };

/* "830 ns", "12.3 ms", "4.0 s": tenths, rounded down. */
static void add_ns(struct bbf_buf *out, uint64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (ns >= units[i].ns) {
            bbf_buf_printf(out, "%" PRIu64 ".%" PRIu64 " %s", ns / units[i].ns,
                           ns % units[i].ns / (units[i].ns / 10), units[i].name);
            return;
        }
    bbf_buf_printf(out, "%" PRIu64 " ns", ns);
}

/* Picoseconds as nanoseconds. */
static void add_ps(struct bbf_buf *out, uint64_t ps)
{
    bbf_buf_printf(out, "%" PRIu64 ".%" PRIu64 " ns", ps / 1000, ps % 1000 / 100);
}

static void add_budget(struct bbf_buf *out, uint64_t ppm)
{
    bbf_text_percent(out, ppm, MILLION);
}

size_t bbf_cost_head(struct bbf_buf *out, const struct bbf_snap_cost *cost, const char *prefix)
{
    time_t since = (time_t)(cost->sample_since_ms / 1000);
    char when[32];
    struct tm tm;

    if (!cost->measured || cost->sample_since_ms == 0)
        return 0;
    gmtime_r(&since, &tm);
    strftime(when, sizeof when, "%H:%M:%SZ", &tm);
    bbf_buf_printf(out, "%ssampling 1 in %" PRIu64 " since %s: overhead about ", prefix,
                   cost->sample_, when);
    add_budget(out, cost->sample_ppm);
    bbf_buf_str(out, cost->sample_ppm > cost->budget_ppm_ ? ", above" : ", below");
    bbf_buf_str(out, " the budget of ");
    add_budget(out, cost->budget_ppm_);
    bbf_buf_char(out, '\n');
    return 1;
}

/*
 * A share is meaningful only for a time in which the process worked. In an idle process the agent
 * thread's regular work is a large part of almost nothing; a fraction of a second is mostly
 * start-up.
 */
static bool has_share(const struct bbf_snap_cost_row *row)
{
    return row->elapsed_ns_ >= SHORTEST_NS && row->process_ns_ >= row->elapsed_ns_ / IDLE;
}

/* "at least 1.00% of 987.6 ms", as times where a share would mislead. */
static void add_part(struct bbf_buf *out, const struct bbf_snap_cost_row *row)
{
    bbf_buf_str(out, "at least ");
    if (has_share(row))
        bbf_text_percent(out, row->estimated_overhead_ns_, row->process_ns_);
    else
        add_ns(out, row->estimated_overhead_ns_);
    bbf_buf_str(out, " of ");
    add_ns(out, row->process_ns_);
}

/* What bbflow costs while the application runs, if following is that part of the time in windows.
 */
static uint64_t running_ns(const struct bbf_snap_cost_row *row, uint64_t part_ppm)
{
    return row->running_ns_ + (uint64_t)((double)row->window_ns_ / MILLION * (double)part_ppm);
}

/* "0.45% (0.22% to 0.90%)", of the process's time. */
static void add_range(struct bbf_buf *out, uint64_t ns, uint64_t low_ns, uint64_t high_ns,
                      uint64_t process_ns)
{
    bbf_text_percent(out, ns, process_ns);
    bbf_buf_str(out, " (");
    bbf_text_percent(out, low_ns, process_ns);
    bbf_buf_str(out, " to ");
    bbf_text_percent(out, high_ns, process_ns);
    bbf_buf_char(out, ')');
}

/* "measured 0.53% (0.41% to 0.70%) and an estimated 0.45% (0.15% to 1.35%) for the shut gate, of
 * 41.2 s of processor time since …" */
static void add_measured(struct bbf_buf *out, const struct bbf_snap_cost *cost)
{
    bool changed = cost->since_change.elapsed_ns_ != 0;
    const struct bbf_snap_cost_row *row = changed ? &cost->since_change : &cost->since_start;

    bbf_buf_str(out, "measured ");
    if (has_share(row)) {
        add_range(out, running_ns(row, cost->part_ppm_), running_ns(row, cost->part_low_ppm_),
                  running_ns(row, cost->part_high_ppm_), row->process_ns_);
        if (row->estimated_shut_gate_ns_ != 0) { /* 0: of an older bbflow */
            bbf_buf_str(out, " and an estimated ");
            uint64_t gate_ns = row->estimated_shut_gate_ns_;
            add_range(out, gate_ns, gate_ns / GATE_WITHIN, gate_ns * GATE_WITHIN, row->process_ns_);
            bbf_buf_str(out, " for the shut gate,");
        }
    } else {
        add_ns(out, running_ns(row, cost->part_ppm_));
    }
    bbf_buf_str(out, " of ");
    add_ns(out, row->process_ns_);
    bbf_buf_printf(out, " of processor time since %s, by %" PRIu64 " windows",
                   changed ? "the settings changed" : "bbflow came", cost->pairs_);
    bbf_buf_str(out, " and the time beside them; rewriting classes: ");
    add_ns(out, cost->since_start.rewrite_ns_);
}

/* The last busy interval first, then the figures since the settings last changed. */
static void add_overhead(struct bbf_buf *out, const struct bbf_snap_cost *cost)
{
    bool changed = cost->since_change.elapsed_ns_ != 0;
    const struct bbf_snap_cost_row *all = changed ? &cost->since_change : &cost->since_start;
    /* A document of an older bbflow has only the last interval, not the last busy one. */
    const struct bbf_snap_cost_row *busy =
        cost->busy.elapsed_ns_ != 0 || changed ? &cost->busy : &cost->interval;
    const char *of = " of processor time";

    if (cost->pairs_ >= PAIRS) {
        add_measured(out, cost);
        return;
    }
    if (has_share(busy)) {
        add_part(out, busy);
        bbf_buf_printf(out, "%s in the last busy ", of);
        add_ns(out, busy->elapsed_ns_);
        if (cost->busy_ago_ns >= 2 * busy->elapsed_ns_) {
            bbf_buf_str(out, ", ");
            add_ns(out, cost->busy_ago_ns);
            bbf_buf_str(out, " ago");
        }
        bbf_buf_str(out, "; ");
        of = "";
    }
    add_part(out, all);
    bbf_buf_printf(out, "%s since %s", of, changed ? "the settings changed" : "bbflow came");
    if (!has_share(all))
        bbf_buf_str(out, all->elapsed_ns_ < SHORTEST_NS ? ", too short for a share"
                                                        : ", too idle for a share");
}

void bbf_cost_line(struct bbf_buf *out, const struct bbf_snap_cost *cost)
{
    if (!cost->measured)
        return;
    bbf_buf_str(out, "Cost of bbflow: ");
    add_overhead(out, cost);
    bbf_buf_char(out, '\n');
}

static void add_hooks(struct bbf_buf *out, const struct bbf_snap_cost *cost)
{
    const struct bbf_snap_cost_row *all = &cost->since_start;

    bbf_buf_str(out, cost->pairs_ >= PAIRS ? "Hooks: measured " : "Hooks: about ");
    add_ns(out, all->estimated_hook_ns_);
    bbf_buf_printf(out, " (%" PRIu64 " lives at ", all->lives_);
    add_ps(out, cost->life_ps_);
    bbf_buf_printf(out, ", %" PRIu64 " steps at ", all->steps_);
    add_ps(out, cost->step_ps_);
    if (all->passed_lives_ != 0)
        bbf_buf_printf(out, ", about %" PRIu64 " lives passed over", all->passed_lives_);
    bbf_buf_printf(out, ")\nNative Calls: about %" PRIu64 " in ", all->estimated_native_calls_);
    add_ns(out, all->estimated_native_ns_);
    bbf_buf_char(out, '\n');
}

static void add_memory(struct bbf_buf *out, const struct bbf_snap_cost *cost)
{
    const struct {
        const char *before;
        uint64_t bytes;
    } parts[] = {{"Native Memory: nodes ", cost->memory_nodes_},
                 {", lives ", cost->memory_lives_},
                 {", leaks ", cost->memory_leaks_},
                 {", other ", cost->memory_other_}};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        bbf_buf_str(out, parts[i].before);
        bbf_text_bytes(out, parts[i].bytes);
    }
    bbf_buf_char(out, '\n');
}

/* Of a bbflow that held the budget by rates of sampling. */
static void add_rates(struct bbf_buf *out, const struct bbf_snap_cost *cost)
{
    bbf_buf_str(out, "Budget: ");
    add_budget(out, cost->budget_ppm_);
    bbf_buf_printf(out,
                   "; 1 buffer in %" PRIu64 " is followed, raised %" PRIu64 " and lowered %" PRIu64
                   " times\n",
                   cost->sample_, cost->raised_, cost->lowered_);
}

static void add_windows(struct bbf_buf *out, const struct bbf_snap_cost *cost)
{
    if (cost->budget_ppm_ != 0) {
        bbf_buf_str(out, "Budget: ");
        add_budget(out, cost->budget_ppm_);
        bbf_buf_str(out, "; windows");
    } else {
        bbf_buf_str(out, "Windows");
    }
    bbf_buf_str(out, " are open for ");
    add_budget(out, cost->share_ppm_);
    bbf_buf_printf(out, " of the time, by %" PRIu64 " measurements", cost->pairs_);
    if (cost->pairs_ >= PAIRS) {
        bbf_buf_str(out, "; following is ");
        bbf_text_percent(out, cost->part_ppm_, MILLION);
        bbf_buf_str(out, " (");
        bbf_text_percent(out, cost->part_low_ppm_, MILLION);
        bbf_buf_str(out, " to ");
        bbf_text_percent(out, cost->part_high_ppm_, MILLION);
        bbf_buf_str(out, ") of the processor time in them");
    }
    bbf_buf_char(out, '\n');
}

void bbf_cost_section(struct bbf_buf *out, const struct bbf_snap_cost *cost, const char *heading)
{
    const struct bbf_snap_cost_row *all = &cost->since_start;

    if (!cost->measured)
        return;
    bbf_buf_str(out, heading != NULL ? heading : "");
    bbf_buf_str(out, "Overhead: ");
    add_overhead(out, cost);
    bbf_buf_str(out, "\nAgent Thread: ");
    add_ns(out, all->agent_ns_);
    bbf_buf_str(out, " (scans ");
    add_ns(out, all->scan_ns_);
    bbf_buf_str(out, ", reports ");
    add_ns(out, all->report_ns_);
    bbf_buf_str(out, ")\nServer Thread: ");
    add_ns(out, all->server_ns_);
    bbf_buf_printf(out, "\nClass Files: %" PRIu64 " looked into in ", all->rewritten_);
    add_ns(out, all->rewrite_ns_);
    bbf_buf_str(out, ", the longest ");
    add_ns(out, cost->rewrite_longest_ns_);
    bbf_buf_char(out, '\n');
    add_hooks(out, cost);
    add_memory(out, cost);
    if (cost->share_ppm_ != 0)
        add_windows(out, cost);
    else if (cost->budget_ppm_ != 0 && cost->raised_ != 0)
        add_rates(out, cost);
}

static void add_row(struct bbf_buf *out, const char *name, const struct bbf_snap_cost_row *row)
{
    bbf_buf_str(out, name);
#define XX(column) bbf_buf_printf(out, "|" #column "=%" PRIu64, row->column##_);
    BBF_COST_COLUMNS(XX)
#undef XX
    bbf_buf_char(out, '\n');
}

void bbf_cost_rows(struct bbf_buf *out, const struct bbf_snap_cost *cost)
{
    if (!cost->measured)
        return;
    bbf_buf_str(out, "\nCOST:\n");
    add_row(out, "since_start", &cost->since_start);
    add_row(out, "interval", &cost->interval);
    if (cost->busy.elapsed_ns_ != 0)
        add_row(out, "busy", &cost->busy);
    if (cost->since_change.elapsed_ns_ != 0)
        add_row(out, "since_change", &cost->since_change);
    bbf_buf_str(out, "bbflow");
#define XX(name) bbf_buf_printf(out, "|" #name "=%" PRIu64, cost->name##_);
    BBF_COST_VALUES(XX)
#undef XX
    bbf_buf_char(out, '\n');
}
