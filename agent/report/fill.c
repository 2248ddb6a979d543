/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/fill.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/classes/netty_version.h"
#include "agent/cost/account.h"
#include "agent/cost/gate.h"
#include "agent/jvm/properties.h"
#include "agent/jvm/threads.h"
#include "agent/report/after_release.h"
#include "agent/report/bare_roots.h"
#include "agent/report/misuse.h"
#include "agent/report/notes.h"
#include "agent/report/pins.h"
#include "agent/report/reconcile.h"
#include "agent/state.h"
#include "core/err.h"
#include "trie/map.h"
#include "trie/windows.h"

static char main_class[512], vm_version[128];

void bbf_report_init(void)
{
    bbf_property(bbf_agent.code, "sun.java.command", main_class, sizeof main_class);
    main_class[strcspn(main_class, " ")] = '\0';
    bbf_property(bbf_agent.code, "java.vm.version", vm_version, sizeof vm_version);
}

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

/* A ByteBuf without the hidden field: map mode, or not followed (docs/adr/0075). */
static int add_fieldless(struct bbf_snapshot *s, const struct bbf_netty_seen *seen)
{
    struct bbf_buf text = BBF_BUF_INIT;
    bool is_left_out = bbf_windows_are_by_field(bbf_agent.tracker);
    bbf_buf_printf(&text, "%s.buffer.ByteBuf%s: %s", seen->prefix,
                   is_left_out ? " has no place for bbflow's mark" : "", seen->why);
    if (is_left_out)
        bbf_buf_str(&text, ". It is not followed; duty=50% or more from the start follows it");
    if (is_left_out || !bbf_map_is_open(bbf_agent.tracker))
        s->totals.untracked_classes_++;
    int err = is_left_out ? bbf_snapshot_add_text(&s->notes, &s->n_notes, bbf_buf_cstr(&text))
                          : bbf_snapshot_add_text(&s->jvm.map_mode, &s->jvm.n_map_mode,
                                                  bbf_buf_cstr(&text));
    bbf_buf_free(&text);
    return err;
}

/* One line for each Netty, and one for each ByteBuf without the field. */
static int add_netty(JNIEnv *env, struct bbf_snapshot *s, const struct bbf_netty_seen *seen)
{
    struct bbf_buf text = BBF_BUF_INIT;
    char version[64];
    bbf_netty_version(env, seen->prefix, version, sizeof version);
    bbf_buf_printf(&text, "%s %s", version, seen->prefix);
    int err = bbf_snapshot_add_text(&s->jvm.netty, &s->jvm.n_netty, bbf_buf_cstr(&text));
    bbf_buf_free(&text);
    return err == BBF_OK && !seen->has_field ? add_fieldless(s, seen) : err;
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

const char *bbf_report_main(void)
{
    return main_class;
}

/* All that the snapshot has before the tracker's rows. */
static int fill_facts(JNIEnv *env, struct bbf_snapshot *s)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    s->captured_at_ms = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    int err = fill_jvm(env, s);
    if (err == BBF_OK)
        err = fill_settings(s);
    fill_rewriting(s);
    return err == BBF_OK ? bbf_reconcile_fill(env, s) : err;
}

/* What refers to the rows. */
static int fill_names(JNIEnv *env, struct bbf_snapshot *s)
{
    int err = bbf_misuse_fill(s);
    if (err == BBF_OK)
        err = bbf_after_release_fill(s);
    return err == BBF_OK ? bbf_threads_fill(env, s) : err;
}

int bbf_report_fill(JNIEnv *env, struct bbf_snapshot *s)
{
    int err = fill_facts(env, s);
    if (err == BBF_OK)
        err = bbf_pins_fill(env, s); /* before the capture, which places its nodes */
    if (err == BBF_OK)
        err = bbf_growth_fill(bbf_agent.tracker, s); /* likewise */
    if (err == BBF_OK)
        err = bbf_usage_fill(bbf_agent.tracker, s); /* likewise */
    if (err == BBF_OK)
        err = bbf_context_fill(bbf_agent.tracker, s); /* likewise */
    if (err == BBF_OK)
        err = bbf_bare_roots_fill(s); /* before the capture, which places its sites */
    if (err == BBF_OK)
        err = bbf_tracker_capture(bbf_agent.tracker, s);
    if (err == BBF_OK)
        err = fill_names(env, s);
    if (err == BBF_OK)
        err = bbf_notes_fill(env, s);
    bbf_account_fill(&s->cost);
    bbf_gate_fill(&s->windows);
    return err;
}

int bbf_report_fill_brief(JNIEnv *env, struct bbf_snapshot *s, size_t rows)
{
    int err = fill_facts(env, s);
    if (err == BBF_OK)
        err = bbf_tracker_capture_most(bbf_agent.tracker, s, rows);
    if (err == BBF_OK)
        err = fill_names(env, s);
    if (err == BBF_OK)
        err = bbf_notes_brief(s);
    bbf_account_fill(&s->cost);
    bbf_gate_fill(&s->windows);
    return err;
}

int bbf_report_fill_numbers(JNIEnv *env, struct bbf_snapshot *s)
{
    int err = fill_facts(env, s);
    if (err == BBF_OK)
        err = bbf_growth_fill(bbf_agent.tracker, s); /* before the capture, as above */
    if (err == BBF_OK)
        err = bbf_tracker_capture(bbf_agent.tracker, s);
    if (err == BBF_OK)
        err = bbf_misuse_fill(s);
    bbf_account_fill(&s->cost);
    bbf_gate_fill(&s->windows);
    return err;
}
