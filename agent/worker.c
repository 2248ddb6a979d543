/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/worker.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/jvm/heap.h"
#include "agent/classes/hook.h"
#include "agent/events.h"
#include "agent/lifecycle.h"
#include "agent/classes/missed.h"
#include "agent/report/misuse.h"
#include "agent/report/oom.h"
#include "agent/cost/overhead.h"
#include "agent/report/reconcile.h"
#include "agent/report/report.h"
#include "agent/rules.h"
#include "agent/state.h"
#include "agent/classes/tracked.h"
#include "agent/report/watch.h"
#include "core/err.h"
#include "core/log.h"
#include "wire/sockdir.h"

enum { MAX_FAULTS = 1000 }; /* throwables caught in the shim before tracking is turned off */
enum { GRACE_MS = 200 };    /* after a deadline, for the answer that says so */
#define NS UINT64_C(1000000000)

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered;
static struct bbf_request *queue;
static struct bbf_heap heap;
static _Atomic bool leaving; /* the thread is to end */
static bool there;           /* the thread runs; under queue_lock */
static bool gone;            /* it has ended, or could not be started; under queue_lock */

static struct timespec after_ms(clockid_t clock, uint64_t ms)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += (time_t)(ms / 1000);
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

static struct timespec at_ns(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS), .tv_nsec = (long)(ns % NS)};
}

static uint64_t now_ms(void)
{
    struct timespec t = after_ms(CLOCK_MONOTONIC, 0);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

uint64_t bbf_worker_deadline(uint64_t seconds)
{
    struct timespec t = after_ms(CLOCK_MONOTONIC, 0);
    return seconds == 0 ? 0 : (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec + seconds * NS;
}

/* ---- what is asked ---- */

static void scan(void)
{
    uint64_t begin = bbf_overhead_clock();
    bbf_lives_scan(bbf_agent.tracker, &heap);
    bbf_overhead_scanned(begin);
}

static int report(JNIEnv *env, struct bbf_snapshot *snapshot)
{
    uint64_t begin = bbf_overhead_clock();
    int err = bbf_report_fill(env, snapshot);
    bbf_overhead_reported(begin);
    return err;
}

/* Slots are strong: what a GC is to find must be weak before it. */
static void collect_garbage(void)
{
    scan();
    (void)(*bbf_agent.code)->ForceGarbageCollection(bbf_agent.code);
}

static int apply(JNIEnv *env, struct bbf_request *request)
{
    const struct bbf_rules *now = atomic_load(&bbf_agent.rules);
    if ((request->effects & BBF_EFFECT_LIMITS) != 0) {
        const struct bbf_limits limits = bbf_limits_of(&now->options);
        bbf_tracker_limit(bbf_agent.tracker, &limits);
    }
    if ((request->effects & BBF_EFFECT_ROOTS) != 0)
        bbf_tracker_direct_only(bbf_agent.tracker, now->options.direct_only);
    if ((request->effects & (BBF_EFFECT_ROOTS | BBF_EFFECT_BUDGET)) != 0 &&
        bbf_overhead_apply(&now->options, false) != BBF_OK)
        return BBF_ELIMIT;
    if ((request->effects & BBF_EFFECT_CLASSES) != 0) {
        struct bbf_retransformed r = bbf_hook_apply(env, request->before, now);
        if (request->text != NULL) {
            bbf_buf_printf(request->text, "%zu loaded classes newly followed, %zu put back",
                           r.rewritten, r.put_back);
            if (r.failed > 0)
                bbf_buf_printf(request->text, ", %zu could not be retransformed", r.failed);
            bbf_buf_char(request->text, '\n');
        }
    }
    if ((request->effects & (BBF_EFFECT_ROOTS | BBF_EFFECT_BUDGET | BBF_EFFECT_CLASSES)) != 0)
        bbf_overhead_changed();
    return BBF_OK;
}

int bbf_worker_snapshot(JNIEnv *env, struct bbf_snapshot *snapshot)
{
    scan();
    return report(env, snapshot);
}

static int write_file(JNIEnv *env, struct bbf_request *request)
{
    const struct bbf_rules *rules = atomic_load(&bbf_agent.rules);
    struct bbf_buf path = BBF_BUF_INIT;
    char why[700] = "";
    int err = report(env, request->snapshot);
    if (err != BBF_OK)
        snprintf(why, sizeof why, "file: no report: %s", bbf_strerror(err));
    else
        err = bbf_report_path(&path, rules->options.file, why, sizeof why);
    if (err == BBF_OK)
        err = bbf_report_write(request->snapshot, bbf_buf_cstr(&path), request->deadline_ns, why,
                               sizeof why);
    bbf_buf_str(request->text, why);
    bbf_buf_free(&path);
    return err == BBF_ETIMEOUT ? BBF_ELIMIT : err; /* ETIMEOUT: there is no answer */
}

static int serve(JNIEnv *env, struct bbf_request *request)
{
    if (request->kind == BBF_REQUEST_BEGIN) {
        bbf_lifecycle_enter(env);
        return BBF_OK;
    }
    if (atomic_load(&bbf_agent.rules) == NULL)
        return BBF_ECLOSED; /* stopped, or nothing ever began */
    if (request->kind == BBF_REQUEST_APPLY)
        return apply(env, request);
    if (request->kind == BBF_REQUEST_STOP) {
        scan();
        bbf_lifecycle_leave(env, request->text);
        return BBF_OK;
    }
    if (request->gc || request->kind == BBF_REQUEST_GC)
        collect_garbage();
    if (request->kind == BBF_REQUEST_GC)
        return BBF_OK;
    scan(); /* newer than the request (design.md: garbage detection) */
    switch (request->kind) {
    case BBF_REQUEST_WATCH:
        return bbf_watch_begin(env, request->text, &request->place);
    case BBF_REQUEST_RESET:
        bbf_watch_reset();
        bbf_misuse_reset();
        return bbf_tracker_baseline(bbf_agent.tracker);
    case BBF_REQUEST_RESET_NODES:
        bbf_watch_reset();
        bbf_misuse_reset();
        return bbf_tracker_reset_nodes(bbf_agent.tracker);
    case BBF_REQUEST_FILE:
        return write_file(env, request);
    default:
        return report(env, request->snapshot);
    }
}

/* ---- the thread ---- */

static struct bbf_request *take(void)
{
    pthread_mutex_lock(&queue_lock);
    struct bbf_request *request = queue;
    if (request != NULL) {
        queue = request->next;
        request->taken = true;
        pthread_cond_broadcast(&answered);
    }
    pthread_mutex_unlock(&queue_lock);
    return request;
}

static void answer(struct bbf_request *request, int result)
{
    pthread_mutex_lock(&queue_lock);
    request->result = result;
    request->done = true;
    pthread_cond_broadcast(&answered);
    pthread_mutex_unlock(&queue_lock);
}

static void tick(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    atomic_store_explicit(bbf_shared_int(bbf_agent.tracker, BBF_L_SHARED_NOW),
                          (uint32_t)(t.tv_sec - bbf_agent.started.tv_sec), memory_order_relaxed);
    /* design.md: errors: what goes on failing in the application's hooks is stopped. */
    if (atomic_load_explicit(bbf_shared_long(bbf_agent.tracker, BBF_L_SHARED_ERRORS),
                             memory_order_relaxed) >= MAX_FAULTS)
        bbf_agent_disable("too many internal errors in the hooks");
}

/* Scans take at most a twentieth of one core, however often the collector runs. By the thread's own
 * clock: where the machine is busy it waits much longer than it works, and the next scan with it.
 */
static void scan_after_gc(uint64_t *next_scan_ms)
{
    if (!atomic_load(&bbf_agent.gc_finished) || now_ms() < *next_scan_ms)
        return;
    atomic_store(&bbf_agent.gc_finished, false);
    uint64_t begin = bbf_overhead_clock();
    scan();
    *next_scan_ms = now_ms() + 10 + 20 * (bbf_overhead_clock() - begin) / 1000000;
}

/* From here on nobody waits for the thread. */
static void set_gone(void)
{
    pthread_mutex_lock(&queue_lock);
    gone = true;
    there = false;
    pthread_cond_broadcast(&answered);
    pthread_mutex_unlock(&queue_lock);
}

/*
 * The thread's end, also one that it did not choose (pthread_exit, pthread_cancel): then nobody
 * scans any more, and the slots that it can still reach are emptied, or they would keep what the
 * application has dropped alive for good.
 */
static void end(void *arg)
{
    const bool *drained = arg; /* then the next thread may be there already */
    if (!atomic_load(&leaving) && !*drained) {
        bbf_agent_disable("the agent thread has died");
        bbf_lives_abandon(bbf_agent.tracker, &heap);
    }
    (*bbf_agent.vm)->DetachCurrentThread(bbf_agent.vm);
    if (!*drained)
        set_gone();
}

/*
 * After a stop: is nothing left to do? Open lives are asked for after a scan only. True: nobody can
 * ask this thread any more, and the next attach starts another.
 */
static bool is_drained(JNIEnv *env)
{
    static uint64_t scans; /* what the tracker had when it was asked last */
    if (atomic_load(&bbf_agent.phase) != BBF_PHASE_OUT || !bbf_lifecycle_clear_up(env) ||
        scans == bbf_agent.tracker->scans)
        return false;
    scans = bbf_agent.tracker->scans;
    if (bbf_lives_open(bbf_agent.tracker) > 0)
        return false;
    bbf_reconcile_forget(env);
    pthread_mutex_lock(&queue_lock);
    bool nobody = queue == NULL;
    if (nobody) {
        gone = true;
        there = false;
    }
    pthread_mutex_unlock(&queue_lock);
    return nobody;
}

static void work(JNIEnv *env, bool *drained)
{
    uint64_t next_scan_ms = 0;
    while (!atomic_load(&leaving) && !(*drained = is_drained(env))) {
        bool pending = atomic_load(&bbf_agent.gc_finished);
        unsigned wait_ms = pending ? 10 : bbf_lifecycle_tick_ms();
        struct timespec until = after_ms(CLOCK_REALTIME, wait_ms);
        (void)sem_timedwait(&bbf_agent.wake, &until);
        /* What follows reads the rules in force, and those before (APPLY). */
        const struct bbf_rules_hold hold = bbf_rules_hold();
        tick();
        scan_after_gc(&next_scan_ms);
        bbf_tracker_collapse(bbf_agent.tracker);
        bbf_overhead_look();
        bbf_events_refresh();
        bbf_watch_look(env);
        bbf_missed_look(env);
        bbf_misuse_look();
        bbf_oom_look(env);
        bbf_tracked_look();
        for (struct bbf_request *request; (request = take()) != NULL;)
            answer(request, serve(env, request));
        bbf_rules_let_go(&hold);
    }
    bbf_tracked_look();
}

static void *run(void *arg)
{
    JNIEnv *env = NULL;
    JavaVMAttachArgs args = {JNI_VERSION_1_8, (char *)"bbflow", bbf_agent.group};
    (void)arg;
    if ((*bbf_agent.vm)->AttachCurrentThreadAsDaemon(bbf_agent.vm, (void **)&env, &args) !=
        JNI_OK) {
        bbf_agent_disable("the agent thread cannot be attached to the JVM");
        set_gone();
        return NULL;
    }
    bbf_heap_init(&heap, env);
    bool drained = false;
    bbf_overhead_begin();
    (void)pthread_setname_np(pthread_self(), BBF_AGENT_THREAD);
    pthread_cleanup_push(end, &drained);
    work(env, &drained);
    pthread_cleanup_pop(1);
    return NULL;
}

void bbf_worker_leave(unsigned timeout_ms)
{
    struct timespec until = after_ms(CLOCK_MONOTONIC, timeout_ms);
    int late = 0;
    atomic_store(&leaving, true);
    (void)sem_post(&bbf_agent.wake);
    pthread_mutex_lock(&queue_lock);
    while (there && late == 0)
        late = pthread_cond_timedwait(&answered, &queue_lock, &until);
    pthread_mutex_unlock(&queue_lock);
}

/* Under queue_lock, or before there is anybody else. */
static int start(void)
{
    static bool initialised;
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_condattr_t clock;
    if (!initialised) {
        pthread_condattr_init(&clock);
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
        pthread_cond_init(&answered, &clock);
        pthread_condattr_destroy(&clock);
        initialised = true;
    }
    there = true;
    gone = false;
    int err = pthread_attr_init(&attributes);
    if (err == 0) {
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, 1 << 20);
        err = pthread_create(&thread, &attributes, run, NULL);
        pthread_attr_destroy(&attributes);
    }
    if (err != 0) {
        gone = true; /* the exit asks for its report all the same */
        there = false;
    }
    return err == 0 ? BBF_OK : BBF_EIO;
}

/* Under queue_lock. */
static void append(struct bbf_request *request)
{
    struct bbf_request **last = &queue;
    while (*last != NULL)
        last = &(*last)->next;
    *last = request;
    (void)sem_post(&bbf_agent.wake);
}

int bbf_worker_start(void)
{
    pthread_mutex_lock(&queue_lock);
    int err = start();
    pthread_mutex_unlock(&queue_lock);
    return err;
}

int bbf_worker_begin(void)
{
    static struct bbf_request request = {.kind = BBF_REQUEST_BEGIN};
    int err = BBF_OK;
    pthread_mutex_lock(&queue_lock);
    request.done = request.taken = false;
    request.next = NULL;
    if (!there)
        err = start();
    if (err == BBF_OK) {
        append(&request);
    }
    pthread_mutex_unlock(&queue_lock);
    return err;
}

void bbf_worker_wake(void)
{
    atomic_store(&bbf_agent.gc_finished, true);
    (void)sem_post(&bbf_agent.wake);
}

static void unqueue(struct bbf_request *request)
{
    for (struct bbf_request **at = &queue; *at != NULL; at = &(*at)->next)
        if (*at == request) {
            *at = request->next;
            return;
        }
}

/* Wait until the request is answered or its time is over. Under queue_lock. */
static void await(const struct bbf_request *request, unsigned timeout_ms, unsigned finish_ms)
{
    struct timespec begin = request->deadline_ns != 0 ? at_ns(request->deadline_ns)
                                                      : after_ms(CLOCK_MONOTONIC, timeout_ms);
    int late = 0;
    while (!request->done && !request->taken && !gone && late == 0)
        late = pthread_cond_timedwait(&answered, &queue_lock, &begin);
    struct timespec finish = request->deadline_ns != 0
                                 ? at_ns(request->deadline_ns + GRACE_MS * NS / 1000)
                                 : after_ms(CLOCK_MONOTONIC, finish_ms);
    late = 0;
    while (!request->done && request->taken && !gone && late == 0)
        late = finish_ms == 0 && request->deadline_ns == 0
                   ? pthread_cond_wait(&answered, &queue_lock)
                   : pthread_cond_timedwait(&answered, &queue_lock, &finish);
}

int bbf_worker_ask(struct bbf_request *request, unsigned timeout_ms, unsigned finish_ms)
{
    request->done = request->taken = false;
    request->next = NULL;
    pthread_mutex_lock(&queue_lock);
    if (gone) {
        pthread_mutex_unlock(&queue_lock);
        return BBF_ECLOSED;
    }
    append(request);
    await(request, timeout_ms, finish_ms);
    int result = request->done ? request->result : gone ? BBF_ECLOSED : BBF_ETIMEOUT;
    if (!request->done && !request->taken)
        unqueue(request);
    pthread_mutex_unlock(&queue_lock);
    return result;
}
