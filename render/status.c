/* SPDX-License-Identifier: Apache-2.0 */
#include "render/status.h"

#include "core/safe.h"
#include "render/cost.h"
#include "render/head.h"

#include <inttypes.h>
#include <string.h>

static void add_jvm(struct bbf_buf *out, const struct bbf_status *status)
{
    const struct bbf_snapshot *s = status->snapshot;

    bbf_safe_printf(out, BBF_SAFE_VALUE, "bbflow %s in JVM %lld (%s), %s\n", status->version,
                    (long long)s->jvm.pid, s->jvm.main, s->jvm.version);
    if (status->java > status->newest_java)
        bbf_buf_printf(
            out, "not tested         with Java %d: this bbflow is tested with Java %d to %d\n",
            status->java, status->oldest_java, status->newest_java);
    for (size_t i = 0; i < s->jvm.n_netty; i++)
        bbf_safe_printf(out, BBF_SAFE_VALUE, "netty              %s\n", s->jvm.netty[i]);
    for (size_t i = 0; i < s->jvm.n_map_mode; i++) {
        bbf_buf_str(out, "note               ");
        bbf_head_mapped(out, s->jvm.map_mode[i]);
        bbf_buf_char(out, '\n');
    }
    for (size_t i = 0; i < s->n_notes; i++)
        bbf_safe_printf(out, BBF_SAFE_VALUE, "note               %s\n", s->notes[i]);
}

/* What became of port=. */
static void add_port(struct bbf_buf *out, const struct bbf_status *status)
{
    if (status->port.wanted && status->port.number != 0)
        bbf_buf_printf(out, " (127.0.0.1:%u is served)", (unsigned)status->port.number);
    else if (status->port.wanted)
        bbf_safe_printf(out, BBF_SAFE_VALUE, " (not served: %s)", status->port.why);
}

static void add_settings(struct bbf_buf *out, const struct bbf_status *status)
{
    const struct bbf_snapshot *s = status->snapshot;

    bbf_buf_str(out, "settings\n");
    for (size_t i = 0; i < s->n_settings; i++) {
        if (s->settings[i].value[0] == '\0')
            continue;
        bbf_safe_printf(out, BBF_SAFE_VALUE, "  %s=%s", s->settings[i].name, s->settings[i].value);
        if (strcmp(s->settings[i].name, "port") == 0)
            add_port(out, status);
        bbf_buf_char(out, '\n');
    }
    bbf_buf_str(out, "limits             used / limit, times reached\n");
    for (size_t i = 0; i < s->n_limits; i++)
        bbf_buf_printf(out, "  %-16s %" PRIu64 " / %" PRIu64 ", %" PRIu64 "\n", s->limits[i].name,
                       s->limits[i].used, s->limits[i].limit, s->limits[i].hit);
    bbf_buf_printf(out, "old settings       %zu still read, %zu bytes in memory=\n",
                   status->old_settings.count, status->old_settings.bytes);
}

static void add_kinds(struct bbf_buf *out, const struct bbf_status *status)
{
    if (status->kinds.header == BBF_HEADER_UNKNOWN)
        bbf_buf_str(out, "kinds of classes   looked up in a ClassValue each time, which is slower: "
                         "this JVM's object headers are unknown\n");
    else
        bbf_buf_printf(
            out, "kinds of classes   %u found by the object's header (%s)\n", status->kinds.known,
            status->kinds.header == BBF_HEADER_COMPACT ? "compact" : "with a class word");
}

static void add_rows(struct bbf_buf *out, const struct bbf_status_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].count > 0)
            bbf_buf_printf(out, "  %" PRIu64 " %s\n", rows[i].count, rows[i].result);
}

static void add_rewriting(struct bbf_buf *out, const struct bbf_status *status)
{
    uint64_t classes = status->rewriting.looked_at;
    double each = classes > 0 ? (double)status->rewriting.ns / 1e3 / (double)classes : 0.0;

    bbf_buf_printf(out, "classes looked at  %" PRIu64 " (%.1f us each)\n", classes, each);
    add_rows(out, status->rewriting.classes, status->rewriting.n_classes);
    bbf_buf_str(out, "methods\n");
    add_rows(out, status->rewriting.methods, status->rewriting.n_methods);
    bbf_buf_printf(out, "  %" PRIu64 " classes could not be retransformed\n",
                   status->rewriting.failed);
}

static void add_counts(struct bbf_buf *out, const struct bbf_status *status)
{
    const struct bbf_snapshot *s = status->snapshot;

    bbf_buf_str(out, "totals\n");
#define XX(name) bbf_buf_printf(out, "  %-18s %" PRIu64 "\n", #name, s->totals.name##_);
    BBF_TOTALS(XX)
#undef XX
    bbf_buf_str(out, "since the start, whatever was reset\n");
#define XX(name) bbf_buf_printf(out, "  %-18s %" PRIu64 "\n", #name, s->since_start.name##_);
    BBF_SINCE_START(XX)
#undef XX
    bbf_buf_printf(out, "scans              %" PRIu64 ", %" PRIu64 " conversions\n", status->scans,
                   status->conversions);
    if (status->log_lost > 0)
        bbf_buf_printf(out, "log                %" PRIu64 " lines could not be written\n",
                       status->log_lost);
}

static void add_server(struct bbf_buf *out, const struct bbf_status *status)
{
    if (!status->server.runs)
        return;
    bbf_safe_printf(out, BBF_SAFE_VALUE,
                    "server             %s, %llu connections, %llu refused, %llu malformed\n",
                    status->server.path, (unsigned long long)status->server.accepted,
                    (unsigned long long)status->server.refused,
                    (unsigned long long)status->server.malformed);
    if (status->server.port != 0)
        bbf_buf_printf(out,
                       "                   127.0.0.1:%u, %" PRIu64 " without the token, %" PRIu64
                       " too late, %" PRIu64 " dropped while waiting for others\n",
                       (unsigned)status->server.port, status->server.unauthorized,
                       status->server.late, status->server.crowded);
    bbf_buf_printf(out, "                   %" PRIu64 " dropped, %" PRIu64 " live messages lost\n",
                   status->server.dropped, status->server.lost);
}

static void add_metrics(struct bbf_buf *out, const struct bbf_status *status)
{
    if (status->metrics.url[0] == '\0' && status->metrics.why[0] == '\0')
        return;
    if (status->metrics.url[0] == '\0')
        bbf_safe_printf(out, BBF_SAFE_VALUE, "metrics            nothing is served: %s\n",
                        status->metrics.why);
    else
        bbf_buf_printf(out,
                       "metrics            %s, %" PRIu64 " served, %" PRIu64
                       " other answers, %" PRIu64 " without an answer of the agent thread\n"
                       "                   %" PRIu64 " malformed, %" PRIu64 " too late, %" PRIu64
                       " dropped for others\n",
                       status->metrics.url, status->metrics.served, status->metrics.other,
                       status->metrics.failed, status->metrics.malformed, status->metrics.late,
                       status->metrics.crowded);
}

static void add_daemon(struct bbf_buf *out, const char *whose, uint16_t port)
{
    if (port != 0)
        bbf_buf_printf(out, "registered with the %s daemon (port %u), ", whose, (unsigned)port);
}

static void add_lttng(struct bbf_buf *out, const struct bbf_status *status)
{
    if (!status->lttng.on)
        return;
    bbf_buf_str(out, "lttng              ");
    add_daemon(out, "root", status->lttng.root);
    add_daemon(out, "user", status->lttng.user);
    if (status->lttng.root == 0 && status->lttng.user == 0)
        bbf_buf_str(out, "no session daemon was found, ");
    bbf_buf_str(out,
                status->lttng.records ? "the tracer is loaded\n" : "the tracer is not loaded\n");
}

static void add_jmx(struct bbf_buf *out, const struct bbf_status *status)
{
    if (status->jmx.on)
        bbf_safe_printf(out, BBF_SAFE_VALUE, "jmx                %s%s%s\n", status->jmx.state,
                        status->jmx.why[0] != '\0' ? ": " : "", status->jmx.why);
}

static void add_handlers(struct bbf_buf *out, const struct bbf_status *status)
{
    const struct bbf_handlers_status *h = &status->handlers;
    const uint64_t *n = h->counts;

    if (h->state == BBF_HANDLERS_STATE_OFF)
        return;
    bbf_buf_str(out, "handlers           ");
    if (h->state == BBF_HANDLERS_STATE_WAITS)
        bbf_buf_str(out, "waits: the application has not loaded the API yet");
    else if (h->state == BBF_HANDLERS_STATE_FAILED)
        bbf_buf_str(out, "no handler is called");
    else
        bbf_buf_printf(out,
                       "%" PRIu64 " in %" PRIu64 " copies of the API; snapshots: %" PRIu64
                       " delivered, %" PRIu64 " left out because the handler was busy (%" PRIu64
                       " now); failures: %" PRIu64,
                       n[BBF_HANDLERS_NOW], n[BBF_HANDLERS_COPIES], n[BBF_HANDLERS_PUSHES],
                       n[BBF_HANDLERS_SKIPS], n[BBF_HANDLERS_BUSY], n[BBF_HANDLERS_FAILURES]);
    if (n[BBF_HANDLERS_REFUSED] > 0)
        bbf_buf_printf(out, "; beyond the limits: %" PRIu64, n[BBF_HANDLERS_REFUSED]);
    if (h->why[0] != '\0')
        bbf_safe_printf(out, BBF_SAFE_VALUE, "%s%s",
                        h->state == BBF_HANDLERS_STATE_ON ? "; the last: " : ": ", h->why);
    bbf_buf_char(out, '\n');
}

void bbf_status_text(struct bbf_buf *out, const struct bbf_status *status)
{
    add_jvm(out, status);
    add_settings(out, status);
    bbf_cost_section(out, &status->snapshot->cost, "cost\n");
    add_kinds(out, status);
    add_rewriting(out, status);
    add_counts(out, status);
    add_server(out, status);
    add_metrics(out, status);
    add_lttng(out, status);
    add_jmx(out, status);
    add_handlers(out, status);
}
