/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/status.h"

#include "agent/boot/jdk.h"
#include "agent/boot/shim.h"
#include "agent/commands/port.h"
#include "agent/handlers_natives.h"
#include "agent/jmx_link.h"
#include "agent/lttng.h"
#include "agent/metrics_server.h"
#include "agent/rules.h"
#include "agent/state.h"
#include "agent/stream.h"
#include "core/log.h"
#include "render/status.h"

enum { WHY_MAX = 600 };

static void fill_rewriting(struct bbf_status *status,
                           struct bbf_status_row classes[BBF_CF_CLASS_RESULTS],
                           struct bbf_status_row methods[BBF_CF_METHOD_RESULTS])
{
    for (int i = 0; i < BBF_CF_CLASS_RESULTS; i++)
        classes[i] = (struct bbf_status_row){atomic_load(&bbf_agent.classes[i]),
                                             bbf_cf_class_text((enum bbf_cf_class_result)i)};
    for (int i = 0; i < BBF_CF_METHOD_RESULTS; i++)
        methods[i] = (struct bbf_status_row){atomic_load(&bbf_agent.methods[i]),
                                             bbf_cf_method_text((enum bbf_cf_method_result)i)};
    status->rewriting.looked_at = atomic_load(&bbf_agent.hooked);
    status->rewriting.ns = atomic_load(&bbf_agent.rewrite_ns);
    status->rewriting.classes = classes;
    status->rewriting.n_classes = BBF_CF_CLASS_RESULTS;
    status->rewriting.methods = methods;
    status->rewriting.n_methods = BBF_CF_METHOD_RESULTS;
    status->rewriting.failed = atomic_load(&bbf_agent.retransform_failed);
}

static void fill_server(struct bbf_status *status)
{
    struct bbf_server_stats stats;
    const struct bbf_server *server = bbf_stream_server(); /* VMDeath may close it meanwhile */

    if (server == NULL)
        return;
    bbf_server_get_stats(server, &stats);
    status->server.runs = true;
    status->server.path = bbf_server_path(server);
    status->server.port = bbf_server_port(server);
    status->server.accepted = stats.accepted;
    status->server.refused = stats.refused;
    status->server.malformed = stats.malformed;
    status->server.unauthorized = stats.unauthorized;
    status->server.late = stats.late;
    status->server.crowded = stats.crowded;
    status->server.dropped = stats.dropped;
    status->server.lost = stats.lost;
}

static void fill_lttng(struct bbf_status *status)
{
    struct bbf_tracing_status tracing;

    bbf_tracing_status(&tracing);
    status->lttng.on = tracing.on;
    status->lttng.root = tracing.root;
    status->lttng.user = tracing.user;
    status->lttng.records = tracing.records;
}

static void fill_jmx(struct bbf_status *status, char *why, size_t size)
{
    static const char *const words[] = {
        [BBF_JMX_STATE_OFF] = "off",
        [BBF_JMX_STATE_WAITS] = "waits: nothing has made the platform MBean server yet",
        [BBF_JMX_STATE_STARTING] = "the registration is under way",
        [BBF_JMX_STATE_REGISTERED] = "registered as io.bbflow:type=Tracker",
        [BBF_JMX_STATE_FAILED] = "no MBean is registered"};
    enum bbf_jmx_state state = bbf_jmx_state(why, size);

    status->jmx.on = state != BBF_JMX_STATE_OFF;
    status->jmx.state = words[state];
    status->jmx.why = why;
}

/* The strings are in `state`. */
static void fill_metrics(struct bbf_status *status, struct bbf_metrics_state *state)
{
    bbf_metrics_state(state);
    status->metrics.url = state->url;
    status->metrics.why = state->why;
    status->metrics.served = state->stats.served;
    status->metrics.other = state->stats.other;
    status->metrics.failed = state->stats.failed;
    status->metrics.malformed = state->stats.malformed;
    status->metrics.late = state->stats.late;
    status->metrics.crowded = state->stats.crowded;
}

void bbf_report_status(struct bbf_buf *out, const struct bbf_snapshot *snapshot)
{
    struct bbf_status_row classes[BBF_CF_CLASS_RESULTS], methods[BBF_CF_METHOD_RESULTS];
    char why[WHY_MAX] = "", jmx_why[WHY_MAX] = "";
    struct bbf_status status = {.snapshot = snapshot,
                                .version = BBF_VERSION,
                                .java = bbf_agent.jdk,
                                .oldest_java = BBF_JDK_FIRST,
                                .newest_java = BBF_JDK_LAST_TESTED,
                                .scans = bbf_tracker_scans(bbf_agent.tracker),
                                .conversions = bbf_tracker_converted(bbf_agent.tracker),
                                .log_lost = bbf_log_lost()};

    status.port.wanted = bbf_port_served(&status.port.number, why, sizeof why);
    status.port.why = why;
    status.old_settings.count = bbf_rules_old(&status.old_settings.bytes);
    int header = bbf_shim_kinds(&status.kinds.known);
    status.kinds.header = header == 0   ? BBF_HEADER_UNKNOWN
                          : header == 4 ? BBF_HEADER_COMPACT
                                        : BBF_HEADER_CLASS_WORD;
    fill_rewriting(&status, classes, methods);
    fill_server(&status);
    fill_lttng(&status);
    struct bbf_metrics_state metrics;
    fill_metrics(&status, &metrics);
    fill_jmx(&status, jmx_why, sizeof jmx_why);
    bbf_handlers_status(&status.handlers);
    bbf_status_text(out, &status);
}
