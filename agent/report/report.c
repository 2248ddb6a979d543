/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/report.h"

#include <string.h>

#include "agent/boot/jdk.h"
#include "agent/boot/shim.h"
#include "agent/commands/port.h"
#include "agent/rules.h"
#include "agent/state.h"
#include "core/log.h"
#include "core/safe.h"
#include "render/cost.h"
#include "render/text.h"

static void status_rewriting(struct bbf_buf *out)
{
    uint64_t hooked = atomic_load(&bbf_agent.hooked);
    uint64_t ns = atomic_load(&bbf_agent.rewrite_ns);
    bbf_buf_printf(out, "classes looked at  %llu (%.1f us each)\n", (unsigned long long)hooked,
                   hooked > 0 ? (double)ns / 1e3 / (double)hooked : 0.0);
    for (int i = 0; i < BBF_CF_CLASS_RESULTS; i++)
        if (atomic_load(&bbf_agent.classes[i]) > 0)
            bbf_buf_printf(out, "  %llu %s\n",
                           (unsigned long long)atomic_load(&bbf_agent.classes[i]),
                           bbf_cf_class_text((enum bbf_cf_class_result)i));
    bbf_buf_str(out, "methods\n");
    for (int i = 0; i < BBF_CF_METHOD_RESULTS; i++)
        if (atomic_load(&bbf_agent.methods[i]) > 0)
            bbf_buf_printf(out, "  %llu %s\n",
                           (unsigned long long)atomic_load(&bbf_agent.methods[i]),
                           bbf_cf_method_text((enum bbf_cf_method_result)i));
    bbf_buf_printf(out, "  %llu classes could not be retransformed\n",
                   (unsigned long long)atomic_load(&bbf_agent.retransform_failed));
}

static void status_mapped(struct bbf_buf *out, const char *text)
{
    bbf_buf_str(out, "note               ");
    bbf_text_mapped(out, text);
    bbf_buf_char(out, '\n');
}

void bbf_report_status(struct bbf_buf *out, const struct bbf_snapshot *s)
{
    bbf_safe_printf(out, BBF_SAFE_VALUE, "bbflow %s in JVM %lld (%s), %s\n", BBF_VERSION,
                    (long long)s->jvm.pid, s->jvm.main, s->jvm.version);
    bbf_jdk_status(out, bbf_agent.jdk);
    for (size_t i = 0; i < s->jvm.n_netty; i++)
        bbf_safe_printf(out, BBF_SAFE_VALUE, "netty              %s\n", s->jvm.netty[i]);
    for (size_t i = 0; i < s->jvm.n_map_mode; i++)
        status_mapped(out, s->jvm.map_mode[i]);
    for (size_t i = 0; i < s->n_notes; i++)
        bbf_safe_printf(out, BBF_SAFE_VALUE, "note               %s\n", s->notes[i]);
    bbf_buf_str(out, "settings\n");
    for (size_t i = 0; i < s->n_settings; i++) {
        if (s->settings[i].value[0] == '\0')
            continue;
        bbf_safe_printf(out, BBF_SAFE_VALUE, "  %s=%s", s->settings[i].name, s->settings[i].value);
        if (strcmp(s->settings[i].name, "port") == 0)
            bbf_port_show(out);
        bbf_buf_char(out, '\n');
    }
    bbf_buf_str(out, "limits             used / limit, times reached\n");
    for (size_t i = 0; i < s->n_limits; i++)
        bbf_buf_printf(out, "  %-16s %llu / %llu, %llu\n", s->limits[i].name,
                       (unsigned long long)s->limits[i].used,
                       (unsigned long long)s->limits[i].limit,
                       (unsigned long long)s->limits[i].hit);
    size_t bytes, old = bbf_rules_old(&bytes);
    bbf_buf_printf(out, "old settings       %zu still read, %zu bytes in memory=\n", old, bytes);
    bbf_cost_section(out, &s->cost, "cost\n");
    bbf_shim_status(out);
    status_rewriting(out);
    bbf_buf_str(out, "totals\n");
#define XX(name)                                                                                   \
    bbf_buf_printf(out, "  %-18s %llu\n", #name, (unsigned long long)s->totals.name##_);
    BBF_TOTALS(XX)
#undef XX
    bbf_buf_str(out, "since the start, whatever was reset\n");
#define XX(name)                                                                                   \
    bbf_buf_printf(out, "  %-18s %llu\n", #name, (unsigned long long)s->since_start.name##_);
    BBF_SINCE_START(XX)
#undef XX
    bbf_buf_printf(out, "scans              %llu, %llu conversions\n",
                   (unsigned long long)bbf_agent.tracker->scans,
                   (unsigned long long)bbf_agent.tracker->converted);
    if (bbf_log_lost() > 0)
        bbf_buf_printf(out, "log                %llu lines could not be written\n",
                       (unsigned long long)bbf_log_lost());
    if (bbf_agent.server != NULL) {
        struct bbf_server_stats stats;
        bbf_server_get_stats(bbf_agent.server, &stats);
        bbf_safe_printf(out, BBF_SAFE_VALUE,
                        "server             %s, %llu connections, %llu refused, %llu malformed\n",
                        bbf_server_path(bbf_agent.server), (unsigned long long)stats.accepted,
                        (unsigned long long)stats.refused, (unsigned long long)stats.malformed);
        if (bbf_server_port(bbf_agent.server) != 0)
            bbf_buf_printf(out,
                           "                   127.0.0.1:%u, %llu without the token, %llu too "
                           "late, %llu dropped while waiting for others\n",
                           (unsigned)bbf_server_port(bbf_agent.server),
                           (unsigned long long)stats.unauthorized, (unsigned long long)stats.late,
                           (unsigned long long)stats.crowded);
        bbf_buf_printf(out, "                   %llu dropped, %llu live messages lost\n",
                       (unsigned long long)stats.dropped, (unsigned long long)stats.lost);
    }
}
