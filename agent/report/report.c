/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/classes/dump.h"
#include "agent/classes/nettys.h"
#include "agent/boot/jdk.h"
#include "agent/report/misuse.h"
#include "agent/classes/netty_version.h"
#include "agent/classes/suggestions.h"
#include "agent/report/oom.h"
#include "agent/cost/account.h"
#include "agent/report/reconcile.h"
#include "agent/rules.h"
#include "agent/commands/port.h"
#include "agent/boot/shim.h"
#include "agent/state.h"
#include "agent/jvm/properties.h"
#include "agent/jvm/threads.h"
#include "agent/classes/unmet.h"
#include "core/err.h"
#include "core/file.h"
#include "core/log.h"
#include "core/safe.h"
#include "render/cost.h"
#include "render/render.h"
#include "render/text.h"
#include "trie/sums.h"

static char main_class[512], vm_version[128];

void bbf_report_init(void)
{
    bbf_property(bbf_agent.code, "sun.java.command", main_class, sizeof main_class);
    main_class[strcspn(main_class, " ")] = '\0';
    bbf_property(bbf_agent.code, "java.vm.version", vm_version, sizeof vm_version);
}

/* ---- pieces of a snapshot ---- */

static int fill_settings(struct bbf_snapshot *s)
{
    size_t n = bbf_options_count();
    s->settings = calloc(n, sizeof *s->settings);
    if (s->settings == NULL)
        return BBF_ENOMEM;
    pthread_mutex_lock(&bbf_agent.lock);
    for (size_t i = 0; i < n; i++) {
        struct bbf_buf value = BBF_BUF_INIT;
        bbf_option_show(&bbf_agent.options, i, &value);
        struct bbf_snap_pair *pair = &s->settings[s->n_settings++];
        pair->name = strdup(bbf_option_name(i));
        pair->value = strdup(bbf_buf_cstr(&value));
        bbf_buf_free(&value);
    }
    pthread_mutex_unlock(&bbf_agent.lock);
    for (size_t i = 0; i < n; i++)
        if (s->settings[i].name == NULL || s->settings[i].value == NULL)
            return BBF_ENOMEM;
    return BBF_OK;
}

/* One line for each Netty, and one for each ByteBuf that cannot be followed. */
static int add_netty(JNIEnv *env, struct bbf_snapshot *s, const struct bbf_netty_seen *seen)
{
    struct bbf_buf text = BBF_BUF_INIT;
    char version[64];
    bbf_netty_version(env, seen->prefix, version, sizeof version);
    bbf_buf_printf(&text, "%s %s", version, seen->prefix);
    int err = bbf_snapshot_add_text(&s->jvm.netty, &s->jvm.n_netty, bbf_buf_cstr(&text));
    text.len = 0;
    bbf_buf_printf(&text, "%s.buffer.ByteBuf: %s", seen->prefix, seen->why);
    if (err == BBF_OK && !seen->has_field)
        err = bbf_snapshot_add_text(&s->jvm.map_mode, &s->jvm.n_map_mode, bbf_buf_cstr(&text));
    if (!seen->has_field && (atomic_load(bbf_shared_int(bbf_agent.tracker, BBF_L_SHARED_FLAGS)) &
                             BBF_L_SHARED_MAP) == 0)
        s->totals.untracked_classes_++;
    bbf_buf_free(&text);
    return err;
}

static int fill_jvm(JNIEnv *env, struct bbf_snapshot *s)
{
    struct bbf_netty_seen seen[BBF_MAX_NETTYS];
    int err = BBF_OK;
    s->jvm.pid = getpid();
    s->jvm.main = strdup(main_class);
    s->jvm.version = strdup(vm_version);
    if (s->jvm.main == NULL || s->jvm.version == NULL)
        return BBF_ENOMEM;
    pthread_mutex_lock(&bbf_agent.seen_lock);
    size_t n = bbf_agent.n_seen;
    memcpy(seen, bbf_agent.seen, n * sizeof *seen);
    pthread_mutex_unlock(&bbf_agent.seen_lock);
    for (size_t i = 0; i < n && err == BBF_OK; i++)
        err = add_netty(env, s, &seen[i]);
    return err;
}

static void fill_rewriting(struct bbf_snapshot *s)
{
    for (int i = BBF_CF_NOTHING + 1; i < BBF_CF_CLASS_RESULTS; i++)
        s->totals.untouched_classes_ += atomic_load(&bbf_agent.classes[i]);
    for (int i = 0; i < BBF_CF_METHOD_RESULTS; i++) {
        uint64_t n = atomic_load(&bbf_agent.methods[i]);
        if (i == BBF_CF_METHOD_ENTRY_JUMP || i == BBF_CF_METHOD_ENTRY_SIZE)
            s->totals.entry_only_methods_ += n;
        else if (i != BBF_CF_METHOD_FULL && i != BBF_CF_METHOD_LEFT_THIS)
            s->totals.untouched_methods_ += n;
    }
}

/* "COUNT ONE|MANY, the last of CLASS: MORE" for a counter of the shim; nothing where it is 0. */
static int note_class(struct bbf_snapshot *s, uint64_t count, int class_number, const char *one,
                      const char *many, const char *more)
{
    struct bbf_tracker *t = bbf_agent.tracker;
    uint32_t number = atomic_load(bbf_shared_int(t, class_number)) & BBF_L_CLASS_MASK;
    const struct bbf_site *release = bbf_site_get(t, atomic_load(&t->release_site[number]));
    if (count == 0)
        return BBF_OK;
    struct bbf_buf note = BBF_BUF_INIT;
    bbf_buf_printf(&note, "%llu %s, the last of %s: %s", (unsigned long long)count,
                   count == 1 ? one : many, release != NULL ? release->class_name : "?", more);
    int err = bbf_snapshot_add_text(&s->notes, &s->n_notes, bbf_buf_cstr(&note));
    bbf_buf_free(&note);
    return err;
}

/* What the shim could not know of some buffers, since the last reset. */
static int note_unknown(struct bbf_snapshot *s)
{
    struct bbf_sums sums;
    bbf_sums_total(bbf_agent.tracker, &sums);
    if (bbf_agent.tracker->baseline != NULL)
        bbf_sums_subtract(&sums, bbf_agent.tracker->baseline);
    int err = note_class(s, sums.unsized, BBF_L_SHARED_SIZE_OF, "buffer has an unknown size",
                         "buffers have an unknown size",
                         "they were first seen after their allocation, and count as 0 B");
    if (err == BBF_OK)
        err = note_class(s, sums.hidden, BBF_L_SHARED_HIDER, "life ended that did not begin",
                         "lives ended that did not begin",
                         "the class reuses its buffers by a count of its own, and those lives are "
                         "not counted");
    if (err == BBF_OK)
        err = note_class(
            s, sums.early, BBF_L_SHARED_EARLY_OF, "count came back early", "counts came back early",
            "the pool sets the count before it gives the buffer back, so bbflow "
            "cannot know when it is taken: what is lost of its buffers is unknown, no leak");
    return err;
}

/* Why a report may be empty, and what is near to what was asked for. */
static int fill_notes(JNIEnv *env, struct bbf_snapshot *s)
{
    const struct bbf_rules *rules = atomic_load(&bbf_agent.rules);
    struct bbf_buf note = BBF_BUF_INIT;
    const char *off = atomic_load(&bbf_agent.off_why);
    int err = BBF_OK;
    if (off != NULL) {
        bbf_buf_printf(&note, "tracking is off: %s", off);
        err = bbf_snapshot_add_text(&s->notes, &s->n_notes, bbf_buf_cstr(&note));
        bbf_buf_free(&note);
    }
    bbf_oom_note(&note);
    if (err == BBF_OK && note.len > 0)
        err = bbf_snapshot_add_text(&s->notes, &s->n_notes, bbf_buf_cstr(&note));
    bbf_buf_free(&note);
    bbf_dump_note(&note);
    if (err == BBF_OK && note.len > 0)
        err = bbf_snapshot_add_text(&s->notes, &s->n_notes, bbf_buf_cstr(&note));
    bbf_buf_free(&note);
    if (!atomic_load(&bbf_agent.netty_loaded))
        bbf_buf_str(&note, "Netty was never loaded: no class named *.netty.buffer.ByteBuf");
    else if (bbf_nettys_are_idle())
        bbf_buf_str(&note, "include matches no class yet: no buffer is followed until one loads");
    else if (atomic_load(&bbf_agent.followed_classes) == 0)
        bbf_buf_str(&note, rules->options.include != NULL ? "include matched no class with a buffer"
                                                          : "no application class with a buffer");
    if (err == BBF_OK && note.len > 0) {
        bool hookless = atomic_load(&bbf_agent.netty_loaded) && !bbf_nettys_are_idle();
        if (!hookless || !bbf_unmet_include(env, rules, &note))
            bbf_suggest_packages(env, rules->options.include, &note);
        err = bbf_snapshot_add_text(&s->notes, &s->n_notes, bbf_buf_cstr(&note));
    }
    bbf_buf_free(&note);
    if (err == BBF_OK && s->folded_rows > 0) {
        bbf_buf_printf(
            &note,
            "memory= has no room for the rows of %llu nodes that few lives passed: their "
            "lives are counted in the rows of their callers",
            (unsigned long long)s->folded_rows);
        err = bbf_snapshot_add_text(&s->notes, &s->n_notes, bbf_buf_cstr(&note));
        bbf_buf_free(&note);
    }
    if (err == BBF_OK)
        err = bbf_unmet_tracks(env, rules, s);
    if (err == BBF_OK && rules->options.include == NULL)
        err = bbf_snapshot_add_text(
            &s->notes, &s->n_notes,
            "no include= given: every class is followed that is not of the JDK, of Netty "
            "or of a known agent; include=your.package follows yours alone, and costs less");
    if (err == BBF_OK && rules->options.direct_only && bbf_agent.tracker->live_heap > 0) {
        bbf_buf_printf(&note,
                       "%llu open heap buffers are older than trackDirectOnly=on and are "
                       "still followed (before-setting)",
                       (unsigned long long)bbf_agent.tracker->live_heap);
        err = bbf_snapshot_add_text(&s->notes, &s->n_notes, bbf_buf_cstr(&note));
        bbf_buf_free(&note);
    }
    return err == BBF_OK ? note_unknown(s) : err;
}

int bbf_report_fill(JNIEnv *env, struct bbf_snapshot *s)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    s->captured_at_ms = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    int err = fill_jvm(env, s);
    if (err == BBF_OK)
        err = fill_settings(s);
    fill_rewriting(s);
    if (err == BBF_OK)
        err = bbf_reconcile_fill(env, s);
    if (err == BBF_OK)
        err = bbf_tracker_capture(bbf_agent.tracker, s);
    if (err == BBF_OK)
        err = bbf_misuse_fill(s);
    if (err == BBF_OK)
        err = bbf_threads_fill(env, s);
    if (err == BBF_OK)
        err = fill_notes(env, s);
    bbf_account_fill(&s->cost);
    return err;
}

/* ---- status ---- */

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

/* ---- file= ---- */

int bbf_report_path(struct bbf_buf *out, const char *pattern, char *why, size_t why_size)
{
    for (const char *p = pattern; *p != '\0'; p++) {
        if (*p != '%') {
            bbf_buf_char(out, *p);
        } else if (p[1] == 'p') {
            bbf_buf_printf(out, "%ld", (long)getpid());
            p++;
        } else if (p[1] == 't') {
            time_t now = time(NULL);
            struct tm tm;
            char text[32];
            gmtime_r(&now, &tm);
            strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &tm);
            bbf_buf_str(out, text);
            p++;
        } else if (p[1] == '{' && strchr(p, '}') != NULL) {
            char name[128];
            size_t len = (size_t)(strchr(p, '}') - p) - 2;
            if (len >= sizeof name)
                len = sizeof name - 1;
            memcpy(name, p + 2, len);
            name[len] = '\0';
            const char *value = getenv(name);
            bbf_buf_str(out, value != NULL ? value : "");
            p = strchr(p, '}');
        } else {
            snprintf(why, why_size,
                     "'%%%c' in it is unknown; %%p is the pid, %%t the time, %%{NAME} "
                     "an environment variable",
                     p[1]);
            return BBF_EINVAL;
        }
    }
    return out->failed ? BBF_ENOMEM : BBF_OK;
}

static int write_part(void *ctx, const char *data, size_t len)
{
    return bbf_file_write(ctx, data, len);
}

static int write_text(struct bbf_file *file, const struct bbf_snapshot *snapshot)
{
    enum bbf_format format = BBF_FORMAT_JSON;
    const struct bbf_render_options all = {.max_leaves = 0};
    struct bbf_buf text = BBF_BUF_INIT;
    (void)bbf_format_of_path(file->path, &format);
    if ((bbf_format_flags(format) & BBF_FORMAT_STREAMS) != 0) { /* JSON of 1 M nodes has 194 MB */
        text.flush = write_part;
        text.ctx = file;
    }
    int err = bbf_render(&text, snapshot, format, &all);
    if (err == BBF_OK)
        err = bbf_file_write(file, text.data, text.len);
    bbf_buf_free(&text);
    return file->error == ETIMEDOUT ? BBF_ETIMEOUT : err;
}

int bbf_report_write(const struct bbf_snapshot *snapshot, const char *path, uint64_t deadline_ns,
                     char *why, size_t why_size)
{
    struct bbf_file file = {.deadline_ns = deadline_ns};
    char reason[PATH_MAX + 300] = "";
    int err = bbf_file_begin(&file, path, reason, sizeof reason);
    if (err == BBF_OK)
        err = bbf_file_end(&file, write_text(&file, snapshot), reason, sizeof reason);
    if (err != BBF_OK && reason[0] != '\0')
        snprintf(why, why_size, "file: no report: %s", reason);
    else if (err != BBF_OK)
        snprintf(why, why_size, "file: %s: %s", path, bbf_strerror(err));
    return err;
}
