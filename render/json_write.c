/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON document bbflow-snapshot/1 (design.md: names and formats;
 * docs/bbflow-snapshot-1.schema.json), written as it goes: a row a line, nothing is built in memory
 * first. RFC 8259.
 */
#include "render/formats.h"

#include "core/err.h"
#include "core/facts.h"
#include "render/balance.h"
#include "render/estimate.h"
#include "render/fingerprint.h"
#include "render/json_names.h"
#include "render/json_text.h"
#include "render/text.h"
#include "render/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The time of day has four digits for a year: 0000-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z
 */
#define OLDEST_MS (-INT64_C(62167219200000))
#define NEWEST_MS INT64_C(253402300799999)

static void add_strings(struct bbf_buf *out, const char *name, char *const *strings, size_t count)
{
    bbf_buf_printf(out, "\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            bbf_buf_char(out, ',');
        bbf_json_text(out, strings[i]);
    }
    bbf_buf_char(out, ']');
}

/* RFC 3339, UTC, milliseconds. */
static void add_time(struct bbf_buf *out, int64_t ms)
{
    if (ms < OLDEST_MS)
        ms = OLDEST_MS;
    if (ms > NEWEST_MS)
        ms = NEWEST_MS;
    int64_t milliseconds = ms % 1000;
    time_t seconds = (time_t)(ms / 1000);
    if (milliseconds < 0) {
        milliseconds += 1000;
        seconds--;
    }
    struct tm tm;
    gmtime_r(&seconds, &tm);
    bbf_buf_printf(out, "\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\"", tm.tm_year + 1900, tm.tm_mon + 1,
                   tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)milliseconds);
}

static void add_head(struct bbf_buf *out, const struct bbf_snapshot *snapshot)
{
    bbf_buf_str(out, "{\"schema\":\"" BBF_JSON_SCHEMA "\",\n\"captured_at\":");
    add_time(out, snapshot->captured_at_ms);
    bbf_buf_printf(out, ",\n\"jvm\":{\"pid\":%" PRId64 ",\"main\":", snapshot->jvm.pid);
    bbf_json_text(out, snapshot->jvm.main);
    bbf_buf_str(out, ",\"version\":");
    bbf_json_text(out, snapshot->jvm.version);
    bbf_buf_char(out, ',');
    add_strings(out, "netty", snapshot->jvm.netty, snapshot->jvm.n_netty);
    bbf_buf_char(out, ',');
    add_strings(out, "map_mode", snapshot->jvm.map_mode, snapshot->jvm.n_map_mode);
    bbf_buf_str(out, "},\n\"settings\":{");
    for (size_t i = 0; i < snapshot->n_settings; i++) {
        bbf_buf_str(out, i > 0 ? "," : "");
        bbf_json_text(out, snapshot->settings[i].name);
        bbf_buf_char(out, ':');
        bbf_json_text(out, snapshot->settings[i].value);
    }
    bbf_buf_str(out, "},\n\"limits\":{");
    for (size_t i = 0; i < snapshot->n_limits; i++) {
        const struct bbf_snap_limit *limit = &snapshot->limits[i];
        bbf_buf_str(out, i > 0 ? "," : "");
        bbf_json_text(out, limit->name);
        bbf_buf_printf(out, ":{\"used\":%" PRIu64 ",\"limit\":%" PRIu64 ",\"hit\":%" PRIu64 "}",
                       limit->used, limit->limit, limit->hit);
    }
    bbf_buf_str(out, "},\n");
    add_strings(out, "notes", snapshot->notes, snapshot->n_notes);
    bbf_buf_str(out, ",\n\"totals\":{");
    const char *comma = "";
#define XX(name)                                                                                   \
    bbf_buf_printf(out, "%s\"" #name "\":%" PRIu64, comma, snapshot->totals.name##_);              \
    comma = ",";
    BBF_TOTALS(XX)
#undef XX
    bbf_buf_str(out, "},\n");
}

/* A number that Netty does not tell has no member. */
static void add_told(struct bbf_buf *out, const char *name, uint64_t value)
{
    if (value != BBF_NOT_TOLD)
        bbf_buf_printf(out, ",\"%s\":%" PRIu64, name, value);
}

static void add_reconciled(struct bbf_buf *out, const struct bbf_snap_reconciled *r)
{
    if (!r->read)
        return;
    bbf_buf_str(out, "\"reconciled\":{");
    bbf_buf_str(out, r->sampled ? "\"compared\":false," : "");
    bbf_buf_str(out, "\"pools\":[");
    for (size_t i = 0; i < r->n_pools; i++) {
        const struct bbf_snap_pool *row = &r->pools[i];
        bbf_buf_printf(out, "%s\n{\"pool\":\"%s\",\"memory\":\"%s\"", i > 0 ? "," : "",
                       bbf_json_pools[row->pool], bbf_json_memories[row->memory]);
#define XX(name) add_told(out, #name, row->name##_);
        BBF_POOL_COLUMNS(XX)
#undef XX
        bbf_buf_char(out, '}');
    }
    bbf_buf_char(out, ']');
#define XX(name) add_told(out, #name, r->name##_);
    BBF_PROCESS_COUNTS(XX)
#undef XX
    bbf_buf_char(out, ',');
    add_strings(out, "causes", r->causes, r->n_causes);
    bbf_buf_str(out, "},\n");
}

static void add_cost_row(struct bbf_buf *out, const char *name, const struct bbf_snap_cost_row *row)
{
    const char *comma = "";

    bbf_buf_printf(out, "\"%s\":{", name);
#define XX(name)                                                                                   \
    bbf_buf_printf(out, "%s\"" #name "\":%" PRIu64, comma, row->name##_);                          \
    comma = ",";
    BBF_COST_COLUMNS(XX)
#undef XX
    bbf_buf_str(out, "},\n");
}

static void add_cost(struct bbf_buf *out, const struct bbf_snap_cost *cost)
{
    if (!cost->measured)
        return;
    bbf_buf_str(out, "\"cost\":{");
    add_cost_row(out, "since_start", &cost->since_start);
    add_cost_row(out, "interval", &cost->interval);
    if (cost->busy.elapsed_ns_ != 0) {
        add_cost_row(out, "busy", &cost->busy);
        bbf_buf_printf(out, "\"busy_ago_ns\":%" PRIu64 ",", cost->busy_ago_ns);
    }
    if (cost->since_change.elapsed_ns_ != 0)
        add_cost_row(out, "since_change", &cost->since_change);
#define XX(name) bbf_buf_printf(out, "\"" #name "\":%" PRIu64 ",", cost->name##_);
    BBF_COST_VALUES(XX)
#undef XX
    bbf_buf_printf(out, "\"sample_ppm\":%" PRIu64, cost->sample_ppm);
    if (cost->sample_since_ms != 0) {
        bbf_buf_str(out, ",\"sample_since\":");
        add_time(out, cost->sample_since_ms);
    }
    bbf_buf_str(out, "},\n");
}

/* What the name does not say, and the name as people wrote it. */
static void add_origin(struct bbf_buf *out, const struct bbf_snap_site *site, struct bbf_buf *name)
{
    if (site->line != 0)
        bbf_buf_printf(out, ",\"line\":%" PRIu32, site->line);
    if (site->enclosing != NULL && site->enclosing[0] != '\0') {
        bbf_buf_str(out, ",\"enclosing\":");
        bbf_json_text(out, site->enclosing);
    }
    name->len = 0;
    bbf_site_readable_name(name, site);
    bbf_buf_str(out, ",\"name\":");
    bbf_json_text(out, bbf_buf_cstr(name));
    out->failed = out->failed || name->failed;
}

/* The calls that may leave the method by an exception. */
static void add_throws(struct bbf_buf *out, const struct bbf_snap_site *site)
{
    for (uint32_t i = 0; i < site->n_throws; i++) {
        bbf_buf_str(out, i > 0 ? ",{" : ",\"throws\":[{");
        if (site->throws[i].line != 0)
            bbf_buf_printf(out, "\"line\":%" PRIu32 ",", site->throws[i].line);
        bbf_buf_str(out, "\"class\":");
        bbf_json_text(out, site->throws[i].class_name);
        bbf_buf_str(out, ",\"method\":");
        bbf_json_text(out, site->throws[i].method);
        bbf_buf_char(out, '}');
    }
    bbf_buf_str(out, site->n_throws > 0 ? "]" : "");
    if (site->more_throws != 0)
        bbf_buf_printf(out, ",\"more_throws\":%" PRIu32, site->more_throws);
}

/* What a site's method does with a parameter, and which sites it calls; nothing where it is not
 * known. */
static void add_facts(struct bbf_buf *out, const struct bbf_snapshot *snapshot,
                      const struct bbf_snap_site *site)
{
    const char *comma = "";

    if (site->parameter & BBF_FACT_SEEN) {
        bbf_buf_str(out, ",\"parameter\":[");
        for (size_t i = 0; i < sizeof bbf_json_facts / sizeof *bbf_json_facts; i++)
            if (site->parameter >> i & 1) {
                bbf_buf_printf(out, "%s\"%s\"", comma, bbf_json_facts[i]);
                comma = ",";
            }
        bbf_buf_char(out, ']');
    }
    for (uint32_t i = 0; i < site->n_calls; i++)
        bbf_buf_printf(out, "%s%" PRIu32, i > 0 ? "," : ",\"calls\":[",
                       snapshot->sites[site->calls[i]].id);
    bbf_buf_str(out, site->n_calls > 0 ? "]" : "");
    add_throws(out, site);
}

static void add_sites(struct bbf_buf *out, const struct bbf_snapshot *snapshot)
{
    struct bbf_buf name = BBF_BUF_INIT;

    bbf_buf_str(out, "\"sites\":[");
    for (size_t i = 0; i < snapshot->n_sites; i++) {
        const struct bbf_snap_site *site = &snapshot->sites[i];
        bbf_buf_printf(out, "%s\n{\"id\":%" PRIu32 ",\"class\":", i > 0 ? "," : "", site->id);
        bbf_json_text(out, site->class_name);
        bbf_buf_str(out, ",\"method\":");
        bbf_json_text(out, site->method);
        bbf_buf_str(out, ",\"descriptor\":");
        bbf_json_text(out, site->descriptor);
        bbf_buf_printf(out, ",\"kind\":\"%s\"", bbf_json_site_kinds[site->kind]);
        add_origin(out, site, &name);
        add_facts(out, snapshot, site);
        bbf_buf_char(out, '}');
    }
    bbf_buf_free(&name);
    bbf_buf_str(out, "],\n");
}

static void add_nodes(struct bbf_buf *out, const struct bbf_snapshot *snapshot)
{
    bbf_buf_str(out, "\"nodes\":[");
    for (size_t i = 0; i < snapshot->n_nodes && !out->failed; i++) {
        const struct bbf_snap_node *node = &snapshot->nodes[i];
        bbf_buf_str(out, i > 0 ? ",\n{\"id\":" : "\n{\"id\":");
        bbf_text_number(out, node->id);
        bbf_buf_str(out, ",\"parent\":");
        if (node->parent < 0)
            bbf_buf_str(out, "-1");
        else
            bbf_text_number(out, (uint64_t)node->parent);
        bbf_buf_str(out, ",\"site\":");
        bbf_text_number(out, snapshot->sites[node->site].id);
        bbf_buf_str(out, ",\"ref\":\"");
        bbf_buf_str(out, bbf_json_refs[node->ref]);
        bbf_buf_char(out, '"');
        if (node->loop)
            bbf_buf_str(out, ",\"loop\":true");
#define XX(name)                                                                                   \
    bbf_buf_add(out, ",\"" #name "\":", sizeof ",\"" #name "\":" - 1);                             \
    bbf_text_number(out, node->name##_);
        BBF_NODE_COLUMNS(XX)
#undef XX
        bbf_buf_char(out, '}');
    }
    bbf_buf_str(out, "],\n");
}

static void add_threads(struct bbf_buf *out, const struct bbf_snapshot *snapshot)
{
    bbf_buf_str(out, "\"threads\":[");
    for (size_t i = 0; i < snapshot->n_threads && !out->failed; i++) {
        bbf_buf_printf(out, "%s\n{\"id\":%" PRIu64 ",\"name\":", i > 0 ? "," : "",
                       snapshot->threads[i].id);
        bbf_json_text(out, snapshot->threads[i].name);
        bbf_buf_char(out, '}');
    }
    bbf_buf_str(out, "],\n");
}

static void add_misuses(struct bbf_buf *out, const struct bbf_snapshot *snapshot)
{
    bbf_buf_str(out, "\"misuse\":[");
    for (size_t i = 0; i < snapshot->n_misuses && !out->failed; i++) {
        const struct bbf_snap_misuse *row = &snapshot->misuses[i];
        bbf_buf_printf(out,
                       "%s\n{\"use\":\"%s\",\"count\":%" PRIu64 ",\"released_thread\":%" PRIu64
                       ",\"used_thread\":%" PRIu64 ",",
                       i > 0 ? "," : "", bbf_json_uses[row->use], row->count, row->released_thread,
                       row->used_thread);
        add_strings(out, "path", row->path, row->n_path);
        bbf_buf_char(out, ',');
        add_strings(out, "used_by", row->used_by, row->n_used_by);
        bbf_buf_char(out, '}');
    }
    bbf_buf_str(out, "],\n");
}

static void add_pins(struct bbf_buf *out, struct bbf_view *view)
{
    const struct bbf_snapshot *snapshot = view->snapshot;

    if (snapshot->n_pins == 0)
        return;
    bbf_buf_str(out, "\"pins\":[");
    for (size_t i = 0; i < snapshot->n_pins && !out->failed; i++) {
        const struct bbf_snap_pin *pin = &snapshot->pins[i];
        bbf_buf_printf(out,
                       "%s\n{\"node\":%" PRIu32 ",\"pool\":\"%s\",\"memory\":\"%s\""
                       ",\"buffers\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"smallest\":%" PRIu64
                       ",\"largest\":%" PRIu64 ",\"chunks\":%" PRIu64 ",\"reserved\":%" PRIu64
                       ",\"path\":[",
                       i > 0 ? "," : "", snapshot->nodes[pin->node].id, bbf_json_pools[pin->pool],
                       bbf_json_memories[pin->memory], pin->buffers, pin->bytes, pin->smallest,
                       pin->largest, pin->chunks, pin->reserved);
        const struct bbf_view_path path = bbf_view_path(view, pin->node);
        bbf_view_join(out, view, path.nodes, path.n, "\",");
        bbf_buf_str(out, "\"]}");
    }
    bbf_buf_str(out, "],\n");
}

/* Leading zeros are left out: intervals before the first of an array have none. */
static void add_interval_column(struct bbf_buf *out, const struct bbf_snap_growth *row,
                                const char *name, bool bytes)
{
    uint32_t from = 0;

    while (from < row->n && row->at[from].lives == 0 && row->at[from].bytes == 0)
        from++;
    bbf_buf_printf(out, ",\"%s\":[", name);
    for (uint32_t i = from; i < row->n; i++) {
        bbf_buf_str(out, i > from ? "," : "");
        bbf_text_number(out, bytes ? row->at[i].bytes : row->at[i].lives);
    }
    bbf_buf_char(out, ']');
}

static void add_growth(struct bbf_buf *out, const struct bbf_snapshot *snapshot)
{
    if (snapshot->history.seconds == 0)
        return;
    bbf_buf_printf(out,
                   "\"history\":{\"seconds\":%" PRIu64 ",\"intervals\":%" PRIu64
                   ",\"current_seconds\":%" PRIu64 "},\n\"growth\":[",
                   snapshot->history.seconds, snapshot->history.intervals,
                   snapshot->history.current_seconds);
    for (size_t i = 0; i < snapshot->n_growth && !out->failed; i++) {
        const struct bbf_snap_growth *row = &snapshot->growth[i];
        bbf_buf_printf(out,
                       "%s\n{\"node\":%" PRIu32 ",\"of\":\"%s\",\"memory\":\"%s\",\"lost\":\"%s\""
                       ",\"first\":",
                       i > 0 ? "," : "", snapshot->nodes[row->node].id, bbf_json_growth[row->of],
                       bbf_json_memories[row->memory], bbf_json_lost[row->lost]);
        add_time(out, row->first_ms);
        bbf_buf_str(out, ",\"last\":");
        add_time(out, row->last_ms);
        add_interval_column(out, row, "lives", false);
        add_interval_column(out, row, "bytes", true);
        bbf_buf_char(out, '}');
    }
    bbf_buf_str(out, "],\n");
}

static void add_usage(struct bbf_buf *out, struct bbf_view *view)
{
    const struct bbf_snapshot *snapshot = view->snapshot;

    if (snapshot->usage_of.seconds == 0)
        return;
    bbf_buf_printf(out,
                   "\"usage_of\":{\"seconds\":%" PRIu64 ",\"unlisted\":%" PRIu64 "},\n\"usage\":[",
                   snapshot->usage_of.seconds, snapshot->usage_of.unlisted);
    for (size_t i = 0; i < snapshot->n_usage && !out->failed; i++) {
        const struct bbf_snap_usage *row = &snapshot->usage[i];
        bbf_buf_printf(out, "%s\n{\"node\":%" PRIu32 ",\"memory\":\"%s\"", i > 0 ? "," : "",
                       snapshot->nodes[row->node].id, bbf_json_memories[row->memory]);
#define XX(name)                                                                                   \
    bbf_buf_str(out, ",\"" #name "\":");                                                           \
    bbf_text_number(out, row->name);
        BBF_USAGE_COLUMNS(XX)
#undef XX
        bbf_buf_str(out, ",\"path\":[");
        const struct bbf_view_path path = bbf_view_path(view, row->node);
        bbf_view_join(out, view, path.nodes, path.n, "\",");
        bbf_buf_str(out, "\"]}");
    }
    bbf_buf_str(out, "],\n");
}

static void add_told_text(struct bbf_buf *out, const char *name, const char *text)
{
    if (text == NULL)
        return;
    bbf_buf_printf(out, ",\"%s\":", name);
    bbf_json_text(out, text);
}

static void add_contexts(struct bbf_buf *out, const struct bbf_snapshot *snapshot)
{
    if (snapshot->n_contexts == 0)
        return;
    bbf_buf_str(out, "\"contexts\":[");
    for (size_t i = 0; i < snapshot->n_contexts && !out->failed; i++) {
        const struct bbf_snap_context *row = &snapshot->contexts[i];
        bbf_buf_printf(out, "%s\n{\"node\":%" PRIu32 ",\"lost_at\":", i > 0 ? "," : "",
                       snapshot->nodes[row->node].id);
        add_time(out, row->lost_ms);
        bbf_buf_printf(out, ",\"open_seconds\":%" PRIu64, row->open_seconds);
        add_told_text(out, "channel", row->channel);
        add_told_text(out, "address", row->address);
        if (row->hint_is != BBF_HINT_NONE)
            add_told_text(out, "hint_is", bbf_json_hints[row->hint_is]);
        add_told_text(out, "hint", row->hint);
        add_told_text(out, "exception", row->thrown);
        add_told_text(out, "caught_in", row->caught_in);
        bbf_buf_char(out, '}');
    }
    bbf_buf_str(out, "],\n");
}

static void add_callers(struct bbf_buf *out, const struct bbf_snapshot *snapshot)
{
    if (snapshot->n_callers == 0)
        return;
    bbf_buf_str(out, "\"allocated_for\":[");
    for (size_t i = 0; i < snapshot->n_callers && !out->failed; i++) {
        const struct bbf_snap_caller *row = &snapshot->callers[i];
        bbf_buf_printf(out,
                       "%s\n{\"root\":%" PRIu32 ",\"caller\":%" PRIu32
                       ",\"kind\":\"%s\",\"sampled\":%" PRIu64 ",\"leaked\":%" PRIu64 "}",
                       i > 0 ? "," : "", snapshot->sites[row->root].id,
                       snapshot->sites[row->caller].id, bbf_json_callers[row->kind], row->sampled,
                       row->leaked);
    }
    bbf_buf_str(out, "],\n");
}

/* With refs=on, names without what says that they are such a step; nothing if there is none. */
static void add_balance(struct bbf_buf *out, struct bbf_view *view, uint32_t node,
                        enum bbf_site_kind kind, const char *before)
{
    if (bbf_balance_text(out, view, node, kind, before, "\",") > 0)
        bbf_buf_str(out, "\"]");
}

static void add_leaks(struct bbf_buf *out, struct bbf_view *view)
{
    const struct bbf_snapshot *snapshot = view->snapshot;

    bbf_buf_str(out, "\"leaks\":[");
    for (size_t i = 0; i < snapshot->n_leaks && !out->failed; i++) {
        const struct bbf_snap_leak *leak = &snapshot->leaks[i];
        bbf_buf_printf(out,
                       "%s\n{\"node\":%" PRIu32 ",\"verdict\":\"%s\",\"memory\":\"%s\""
                       ",\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"oldest_seconds\":%" PRIu64
                       ",\"p50_seconds\":%" PRIu64 ",\"lost\":\"%s\",\"thread\":%" PRIu64
                       ",\"thread_count\":%" PRIu64 ",\"references\":%" PRIu64 ",\"owner\":%" PRIu32
                       ",\"path\":[",
                       i > 0 ? "," : "", snapshot->nodes[leak->node].id,
                       bbf_json_verdicts[leak->verdict], bbf_json_memories[leak->memory],
                       leak->count, leak->bytes, leak->oldest_seconds, leak->p50_seconds,
                       bbf_json_lost[leak->lost], leak->thread, leak->thread_count,
                       leak->references, snapshot->nodes[bbf_owner_to_mend(view, leak->node)].id);
        const struct bbf_view_path path = bbf_view_path(view, leak->node);
        bbf_view_join(out, view, path.nodes, path.n, "\",");
        bbf_buf_str(out, "\"]");
        add_balance(out, view, leak->node, BBF_SITE_RETAIN, ",\"retained_by\":[");
        add_balance(out, view, leak->node, BBF_SITE_DECREMENT, ",\"released_by\":[");
        bbf_buf_str(out, ",\"fingerprint\":\"");
        bbf_fingerprint_text(out, bbf_fingerprint_leak(view, leak->node));
        bbf_buf_char(out, '"');
        bbf_estimate_json_leak(out, snapshot, leak->count);
        bbf_buf_char(out, '}');
    }
    bbf_buf_str(out, "]}\n");
}

/* Each site's full name as a JSON string without its last quotation mark, once: paths repeat them.
 */
static int quote_names(struct bbf_view *view)
{
    const struct bbf_snapshot *snapshot = view->snapshot;
    struct bbf_buf name = BBF_BUF_INIT, *texts = &view->names.texts;
    struct bbf_name *names = calloc(snapshot->n_sites + 1, sizeof *names);

    view->names.names = names;
    if (names == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < snapshot->n_sites; i++) {
        size_t start = texts->len;
        name.len = 0;
        bbf_site_full_name(&name, &snapshot->sites[i]);
        bbf_json_text(texts, bbf_buf_cstr(&name));
        names[i].len = (uint32_t)(texts->len - start) - 1;
    }
    const char *text = bbf_buf_cstr(texts);
    for (size_t i = 0; i < snapshot->n_sites; text += names[i++].len + 1)
        names[i].text = text;
    bool failed = name.failed || texts->failed;
    bbf_buf_free(&name);
    return failed ? BBF_ENOMEM : 0;
}

int bbf_render_json(struct bbf_buf *out, struct bbf_view *view,
                    const struct bbf_render_options *options)
{
    const struct bbf_snapshot *snapshot = view->snapshot;
    int err = quote_names(view);

    (void)options;
    if (err == 0)
        err = bbf_view_add_owners(view);
    if (err != 0)
        return err;
    add_head(out, snapshot);
    add_reconciled(out, &snapshot->reconciled);
    add_cost(out, &snapshot->cost);
    bbf_estimate_json(out, &snapshot->windows);
    add_sites(out, snapshot);
    add_nodes(out, snapshot);
    add_threads(out, snapshot);
    add_misuses(out, snapshot);
    add_pins(out, view);
    add_growth(out, snapshot);
    add_usage(out, view);
    add_contexts(out, snapshot);
    add_callers(out, snapshot);
    add_leaks(out, view);
    return 0;
}
