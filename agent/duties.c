/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/duties.h"

#include <jni.h>
#include <pthread.h>
#include <stdbool.h>

#include "agent/attach.h"
#include "agent/classes/carrier_classes.h"
#include "agent/classes/custom_types.h"
#include "agent/classes/late_classes.h"
#include "agent/cost/account.h"
#include "agent/cost/gate.h"
#include "agent/cost/meter.h"
#include "agent/events.h"
#include "agent/handlers.h"
#include "agent/handlers_natives.h"
#include "agent/jmx.h"
#include "agent/metrics.h"
#include "agent/metrics_server.h"
#include "agent/report/after_release.h"
#include "agent/report/bare_roots.h"
#include "agent/report/blackbox.h"
#include "agent/report/capture.h"
#include "agent/report/ends.h"
#include "agent/report/facts.h"
#include "agent/report/limit.h"
#include "agent/report/misuse.h"
#include "agent/report/notes.h"
#include "agent/report/oom.h"
#include "agent/report/reconcile.h"
#include "agent/report/watch.h"
#include "agent/rules.h"
#include "agent/settings.h"
#include "agent/sinks/sinks.h"
#include "agent/state.h"
#include "agent/thread.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/log.h"
#include "trie/switches.h"
#include "wire/sockdir.h"

enum {
    MAX_FAULTS = 1000,  /* throwables caught in the shim before tracking is turned off */
    END_MS = 60000,     /* for the disk, when a recording ends with the JVM */
    SCAN_MS = 10,       /* between two scans at least */
    IDLE_SCAN_MS = 500, /* the same while no life begins: no more objects wait for the next one */
    SCAN_SHARE = 20     /* scans take at most this part of one core */
};
#define MS UINT64_C(1000000)

/* ---- duties ---- */

/* Store the time for the shim, which reads no clock. */
static void poll_clock(JNIEnv *env)
{
    uint64_t began = (uint64_t)bbf_agent.started.tv_sec;
    (void)env;
    bbf_tracker_set_now(bbf_agent.tracker,
                        (uint32_t)(bbf_clock_ns(CLOCK_MONOTONIC) / BBF_CLOCK_SECOND - began));
}

/* Until the next second begins: what is summed up by seconds (trie/usage.h) needs them regular. */
static unsigned wait_for_clock(void)
{
    if (atomic_load(&bbf_agent.phase) == BBF_PHASE_OUT)
        return UINT32_MAX;
    return 1000 - (unsigned)(bbf_monotonic_ms() % 1000);
}

/* design.md: errors: hooks that keep failing in the application's threads are stopped. */
static void poll_faults(JNIEnv *env)
{
    (void)env;
    if (bbf_tracker_faults(bbf_agent.tracker) >= MAX_FAULTS)
        bbf_agent_disable("too many internal errors in the hooks");
}

static uint64_t scanned_ns, scan_took_ns; /* CLOCK_MONOTONIC; processor time */

/*
 * Scan after a collection, at most a twentieth of the time, however often the collector runs. By
 * the thread's own clock: on a busy machine the thread waits much longer than it works. Whether
 * lives begin is asked anew each time: the gate may have opened since the last scan.
 */
static uint64_t next_scan_ns(void)
{
    uint64_t pause_ms = bbf_tracker_is_idle(bbf_agent.tracker) ? IDLE_SCAN_MS : SCAN_MS;
    return scanned_ns == 0 ? 0 : scanned_ns + pause_ms * MS + SCAN_SHARE * scan_took_ns;
}

static void poll_scan(JNIEnv *env)
{
    (void)env;
    if (!bbf_thread_has_gc() || bbf_clock_ns(CLOCK_MONOTONIC) < next_scan_ns())
        return;
    bbf_thread_clear_gc();
    uint64_t begin = bbf_meter_clock();
    bbf_capture_scan();
    scan_took_ns = bbf_meter_clock() - begin;
    scanned_ns = bbf_clock_ns(CLOCK_MONOTONIC);
}

/* Until the next one may begin, if one is due. */
static unsigned wait_for_scan(void)
{
    uint64_t now = bbf_clock_ns(CLOCK_MONOTONIC), next = next_scan_ns();
    if (!bbf_thread_has_gc())
        return UINT32_MAX;
    return next > now ? (unsigned)((next - now) / MS) + 1 : 1;
}

static void poll_collapse(JNIEnv *env)
{
    (void)env;
    bbf_tracker_collapse(bbf_agent.tracker);
}

/* Once an interval: which places hold lives. */
static void poll_growth(JNIEnv *env)
{
    (void)env;
    bbf_growth_look(bbf_agent.tracker);
}

static void poll_cost(JNIEnv *env)
{
    (void)env;
    bbf_account_poll();
}

/* Before the duties that make events. */
static void poll_sinks(JNIEnv *env)
{
    (void)env;
    bbf_events_refresh();
}

static bool recording_is_over; /* the JVM ends; agent thread */

/* NULL: after a detach, or at the JVM's end, when nothing is to begin any more. */
static const struct bbf_options *options_in_force(void)
{
    const struct bbf_rules *rules = atomic_load(&bbf_agent.rules);
    return rules != NULL && !recording_is_over ? &rules->options : NULL;
}

/* Begins with the first round, ends with the one after a detach. */
static void poll_recording(JNIEnv *env)
{
    char why[256] = "";
    (void)env;
    (void)bbf_sink_jfr_apply(options_in_force(), why, sizeof why);
}

static void poll_limit(JNIEnv *env)
{
    bbf_limit_poll(env, options_in_force());
}

static void poll_blackbox(JNIEnv *env)
{
    char why[256] = "";
    (void)bbf_blackbox_apply(options_in_force(), why, sizeof why);
    bbf_blackbox_poll(env, options_in_force());
}

static void poll_metrics(JNIEnv *env)
{
    char why[256];
    (void)bbf_metrics_apply(options_in_force(), why, sizeof why);
    bbf_metrics_poll(env);
}

static void poll_facts(JNIEnv *env)
{
    bbf_facts_poll(env, options_in_force());
}

/* After the duties that make events. */
static void poll_flush(JNIEnv *env)
{
    (void)env;
    bbf_sink_jfr_poll(options_in_force());
}

static void poll_misuse(JNIEnv *env)
{
    (void)env;
    bbf_misuse_poll();
    bbf_after_release_poll();
}

static void poll_bare_roots(JNIEnv *env)
{
    const struct bbf_options *options = options_in_force();
    (void)env;
    bbf_bare_roots_poll(options != NULL ? options->root_callers : 0);
}

static void poll_jmx(JNIEnv *env)
{
    bbf_jmx_poll(env, options_in_force());
}

static void poll_handlers(JNIEnv *env)
{
    bbf_handlers_poll(env, options_in_force());
}

static void poll_tracked(JNIEnv *env)
{
    (void)env;
    bbf_custom_types_poll();
}

/* In this order, whenever the agent thread is awake. */
static const struct bbf_duty {
    const char *name;
    void (*poll)(JNIEnv *env);
    unsigned (*wait_ms)(void); /* how long it may be left alone; NULL: as long as the agent may */
} duties[] = {
    {"clock", poll_clock, wait_for_clock},
    {"faults", poll_faults, NULL},
    {"scan", poll_scan, wait_for_scan},
    {"bare roots", poll_bare_roots, NULL},
    {"collapse", poll_collapse, NULL},
    {"growth", poll_growth, NULL},
    {"cost", poll_cost, NULL},
    {"recording", poll_recording, NULL},
    {"sinks", poll_sinks, NULL},
    {"ends", bbf_ends_poll, NULL},
    {"lost buffers", bbf_watch_poll, NULL},
    {"facts", poll_facts, NULL},
    {"late classes", bbf_late_classes_poll, NULL},
    {"carriers", bbf_carrier_classes_poll, bbf_carrier_classes_wait_ms},
    {"uses after release", poll_misuse, NULL},
    {"out of memory", bbf_oom_poll, NULL},
    {"memory limit", poll_limit, NULL},
    {"custom types", poll_tracked, NULL},
    {"jmx", poll_jmx, NULL},
    {"handlers", poll_handlers, bbf_handlers_wait_ms},
    {"flush", poll_flush, NULL},
    {"black box", poll_blackbox, NULL}, /* after all that a report names */
    {"metrics", poll_metrics, NULL},
};
enum { DUTIES = sizeof duties / sizeof duties[0] };

/* The one that is being polled; NULL: none. Agent thread. */
static const struct bbf_duty *current;

static void poll_all(JNIEnv *env)
{
    for (current = duties; current < duties + DUTIES; current++)
        current->poll(env);
    current = NULL;
}

/* ---- jobs ---- */

static int reset(JNIEnv *env, bool nodes)
{
    bbf_metrics_before_reset(env);
    bbf_watch_reset();
    bbf_misuse_reset();
    bbf_bare_roots_reset();
    bbf_gate_reset();
    int err = nodes ? bbf_tracker_reset_nodes(bbf_agent.tracker)
                    : bbf_tracker_baseline(bbf_agent.tracker);
    if (err == BBF_OK)
        bbf_handlers_were_reset();
    bbf_metrics_after_reset(env, err == BBF_OK, nodes);
    return err;
}

/* The jobs that need a scan first, to know what is lost. */
static int serve_after_scan(JNIEnv *env, struct bbf_job *job)
{
    bbf_capture_scan(); /* newer than the job (design.md: garbage detection) */
    switch (job->kind) {
    case BBF_JOB_WATCH:
        return bbf_watch_begin(env, job->text, &job->place);
    case BBF_JOB_RESET:
    case BBF_JOB_RESET_NODES:
        return reset(env, job->kind == BBF_JOB_RESET_NODES);
    case BBF_JOB_FILE:
        return bbf_capture_file(env, job->snapshot, job->deadline_ns, job->text);
    default:
        return bbf_capture_report(env, job->snapshot);
    }
}

/* The recording ends with the losses up to now and the totals. */
static int end_recording(JNIEnv *env, const struct bbf_job *job)
{
    uint64_t now = bbf_clock_ns(CLOCK_MONOTONIC);
    uint64_t left = job->deadline_ns > now ? (job->deadline_ns - now) / MS : 0;
    bbf_capture_scan();
    bbf_ends_poll(env);
    bbf_watch_end(env);
    bbf_facts_end(env);
    recording_is_over = true;
    unsigned most = job->deadline_ns == 0 ? END_MS : (unsigned)(left < END_MS ? left : END_MS);
    bbf_blackbox_end(env, most);
    bbf_sink_jfr_end(most);
    return BBF_OK;
}

static int serve(JNIEnv *env, struct bbf_job *job)
{
    if (job->kind == BBF_JOB_ATTACH) {
        bbf_attach(env);
        return BBF_OK;
    }
    if (atomic_load(&bbf_agent.rules) == NULL)
        return BBF_ECLOSED; /* detached, or never attached */
    if (job->kind == BBF_JOB_APPLY)
        return bbf_settings_apply(env, job->effects, job->before, job->text);
    if (job->kind == BBF_JOB_RECORDED)
        return end_recording(env, job);
    if (job->kind == BBF_JOB_DETACH) {
        bbf_capture_scan();
        bbf_detach(env, job->text);
        return BBF_OK;
    }
    if (job->gc || job->kind == BBF_JOB_GC)
        bbf_capture_collect_garbage();
    return job->kind == BBF_JOB_GC ? BBF_OK : serve_after_scan(env, job);
}

/* ---- the agent thread's body ---- */

static void *begin(void)
{
    JNIEnv *env = NULL;
    JavaVMAttachArgs args = {JNI_VERSION_1_8, (char *)"bbflow", bbf_agent.group};
    if ((*bbf_agent.vm)->AttachCurrentThreadAsDaemon(bbf_agent.vm, (void **)&env, &args) !=
        JNI_OK) {
        bbf_agent_disable("the agent thread cannot be attached to the JVM");
        return NULL;
    }
    scanned_ns = 0;
    bbf_capture_begin(env);
    bbf_account_begin();
    (void)pthread_setname_np(pthread_self(), BBF_AGENT_THREAD);
    return env;
}

static unsigned wait_ms(void *context)
{
    unsigned least = bbf_attach_tick_ms();
    (void)context;
    for (size_t i = 0; i < DUTIES; i++) {
        unsigned wait = duties[i].wait_ms != NULL ? duties[i].wait_ms() : least;
        least = wait < least ? wait : least;
    }
    return least;
}

static void work(void *context)
{
    /* The code below reads the rules in force, and the previous ones (APPLY). */
    const struct bbf_rules_hold hold = bbf_rules_hold();
    poll_all(context);
    /* One job only: jobs without a pause must not keep the thread from its duties, nor keep the old
     * rules alive. Each has its own wake-up. */
    struct bbf_job *job = bbf_thread_take();
    if (job != NULL)
        bbf_thread_answer(job, serve(context, job));
    bbf_rules_let_go(&hold);
}

/* After a detach: is nothing left to do? Open lives are counted after a scan only. */
static bool is_over(void *context)
{
    static uint64_t scans; /* the tracker's count at the last check */
    if (atomic_load(&bbf_agent.phase) != BBF_PHASE_OUT || !bbf_finish_detach(context) ||
        scans == bbf_tracker_scans(bbf_agent.tracker))
        return false;
    scans = bbf_tracker_scans(bbf_agent.tracker);
    if (bbf_lives_open(bbf_agent.tracker) > 0)
        return false;
    bbf_reconcile_forget(context);
    return true;
}

static void end(void *context, enum bbf_thread_end how)
{
    (void)context;
    if (how == BBF_THREAD_DIED) {
        bbf_agent_disable("the agent thread has died");
        if (current != NULL)
            bbf_log(BBF_LOG_INFO, "the agent thread's last duty: %s", current->name);
        bbf_capture_abandon();
    } else {
        bbf_custom_types_poll();
    }
    (*bbf_agent.vm)->DetachCurrentThread(bbf_agent.vm);
}

void bbf_duties_init(void)
{
    static const struct bbf_thread_body body = {
        .begin = begin, .wait_ms = wait_ms, .work = work, .is_over = is_over, .end = end};
    static bool done;
    if (done)
        return;
    done = true;
    bbf_notes_add_source(bbf_gate_note);
    bbf_notes_add_source(bbf_oom_note);
    bbf_notes_add_source(bbf_limit_note);
    bbf_notes_add_source(bbf_events_note);
    bbf_notes_add_source(bbf_sink_jfr_note);
    bbf_notes_add_source(bbf_blackbox_note);
    bbf_notes_add_source(bbf_metrics_note);
    bbf_notes_add_source(bbf_carrier_classes_note);
    bbf_notes_add_source(bbf_bare_roots_note);
    bbf_thread_init(&body);
}
