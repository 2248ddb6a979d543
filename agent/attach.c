/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/attach.h"

#include <pthread.h>
#include <stdlib.h>

#include "agent/boot/shim.h"
#include "agent/classes/carrier_classes.h"
#include "agent/classes/field_hook.h"
#include "agent/classes/late_classes.h"
#include "agent/classes/loaded.h"
#include "agent/classes/nettys.h"
#include "agent/classes/rewritten_classes.h"
#include "agent/commands/endpoint.h"
#include "agent/cost/account.h"
#include "agent/cost/gate.h"
#include "agent/handlers.h"
#include "agent/jmx.h"
#include "agent/metrics_server.h"
#include "agent/jvm/environment.h"
#include "agent/jvm/flags.h"
#include "agent/jvm/memory.h"
#include "agent/lttng.h"
#include "agent/report/fill.h"
#include "agent/rules.h"
#include "agent/state.h"
#include "agent/stream.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/log.h"
#include "trie/map.h"
#include "trie/scopes.h"
#include "wire/sockdir.h"

enum { LINK_MS = 30000, READ_MS = 5000, END_MS = 1000, LOAD_MS = 2000 };
#define LOAD_NS (LOAD_MS * UINT64_C(1000000))

/* ---- hooks in ---- */

static int make_field_environment(void)
{
    const jvmtiCapabilities capabilities = {.can_generate_all_class_hook_events = 1};
    const jvmtiEventCallbacks callbacks = {.ClassFileLoadHook = bbf_field_hook};
    return bbf_environment_create(&bbf_agent.field, &capabilities, &callbacks);
}

/*
 * Environment F is made as late as this, because JVMTI calls the hooks in the order in which their
 * environments were made, and agents that cannot retransform (JaCoCo's identifies a class by a sum
 * of its bytes) must see ByteBuf as it is in the jar, wherever they are on the command line.
 */
static bool enable_events(bool attached)
{
    if (bbf_agent.field == NULL && make_field_environment() != BBF_OK)
        return false;
    /* THREAD_END first: without it a stripe would stay with its dead thread. */
    return bbf_environment_enable(bbf_agent.code, JVMTI_EVENT_THREAD_END, true) &&
           bbf_environment_enable(bbf_agent.code, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, true) &&
           bbf_environment_enable(bbf_agent.field, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, true) &&
           bbf_environment_enable(bbf_agent.code, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, true) &&
           (!attached || bbf_environment_enable(bbf_agent.code, JVMTI_EVENT_CLASS_PREPARE, true));
}

/* Agent thread. */
static uint64_t detached_at_ns;           /* the last detach, CLOCK_MONOTONIC; 0 = none */
static const struct bbf_rules *withdrawn; /* its rules, while a class may still get hooks */
static uint64_t loading_ns;               /* a class changed since then may not be loaded yet */

static void forget_counts(void)
{
    for (int i = 0; i < BBF_CF_CLASS_RESULTS; i++)
        atomic_store(&bbf_agent.classes[i], 0);
    for (int i = 0; i < BBF_CF_METHOD_RESULTS; i++)
        atomic_store(&bbf_agent.methods[i], 0);
    atomic_store(&bbf_agent.followed_classes, 0);
    atomic_store(&bbf_agent.retransform_failed, 0);
}

bool bbf_attach_hooks(JNIEnv *env, bool attached)
{
    if (bbf_jvm_verification_is_off())
        bbf_tracker_expect_fieldless(bbf_agent.tracker);
    const char *why;
    if (!bbf_gate_allows(&bbf_agent.options, &why)) { /* attached again, with other options */
        bbf_log(BBF_LOG_WARN, "%s", why);
        bbf_agent.options.duty = bbf_agent.options.budget = 0;
    }
    bbf_carrier_classes_begin(&bbf_agent.options);
    struct bbf_rules *rules = bbf_rules_new(&bbf_agent.options);
    if (rules == NULL) {
        bbf_agent_disable("out of memory at start");
        return false;
    }
    if (rules->options.direct_only || detached_at_ns != 0)
        bbf_tracker_direct_only(bbf_agent.tracker, rules->options.direct_only);
    if (bbf_account_apply(&rules->options) != BBF_OK)
        bbf_log(BBF_LOG_WARN, "sample: too many other rates were set before");
    /* track= needs map mode's table even if Netty's buffers have the hidden field. */
    if ((rules->options.track != NULL && !bbf_map_open(bbf_agent.tracker)) ||
        !bbf_shim_track(env, rules->options.track != NULL))
        bbf_log(BBF_LOG_ERROR, "track: no memory for its table; its objects are not followed");
    if (!bbf_context_switch(bbf_agent.tracker, rules->options.context))
        bbf_log(BBF_LOG_ERROR, "context: the kernel refuses the address space; nothing is noted");
    if (!bbf_scopes_switch(bbf_agent.tracker, rules->options.scopes))
        bbf_log(BBF_LOG_ERROR, "scopes: no memory; nothing is noted");
    forget_counts();
    atomic_store(&bbf_agent.attached, attached);
    atomic_store(&bbf_agent.rules, rules);
    bbf_report_init();
    /* Not after a detach: lives that were opened earlier must still be reported when they end. */
    if (detached_at_ns == 0 && rules->options.include != NULL && rules->options.track == NULL)
        bbf_nettys_set_idle();
    if (!enable_events(attached))
        bbf_agent_disable("the JVM refuses the events that bbflow needs");
    bbf_carrier_classes_look(env, rules);
    (void)bbf_loaded_apply(env, NULL, rules);
    if (bbf_agent.options.gc_exit)
        bbf_shim_hook_exit(env);
    bbf_gate_apply(&rules->options);
    (void)bbf_tracing_apply(&bbf_agent.options);
    return true;
}

/* ---- attach ---- */

static bool is_owner(const uint64_t *tids, size_t n, uint64_t tid)
{
    for (size_t i = 0; i < n; i++)
        if (tids[i] == tid)
            return true;
    return false;
}

/*
 * Retire the stripes of threads that ended while THREAD_END was disabled. The owners are read
 * before the threads: a thread that claims a stripe meanwhile is not among them.
 */
static void retire_dead(JNIEnv *env)
{
    static uint64_t owners[BBF_L_STRIPES];
    jthread *threads = NULL;
    jint n = 0;
    for (size_t i = 0; i < BBF_L_STRIPES; i++)
        owners[i] = bbf_stripe_owner(bbf_agent.tracker, i);
    if ((*env)->PushLocalFrame(env, 1024) != 0) {
        (*env)->ExceptionClear(env);
        return;
    }
    uint64_t *tids = NULL;
    if ((*bbf_agent.code)->GetAllThreads(bbf_agent.code, &n, &threads) == 0)
        tids = calloc((size_t)n + 1, sizeof *tids);
    for (jint i = 0; tids != NULL && i < n; i++)
        tids[i] = (uint64_t)(*env)->GetLongField(env, threads[i], bbf_agent.tid);
    for (size_t i = 0; tids != NULL && i < BBF_L_STRIPES; i++)
        if (owners[i] != 0 && !is_owner(tids, (size_t)n, owners[i]))
            bbf_stripe_retire(bbf_agent.tracker, owners[i]);
    free(tids);
    bbf_jvm_free(threads);
    (void)(*env)->PopLocalFrame(env, NULL);
}

/* A class that was being loaded during the pass over the loaded ones still has hooks. */
static void put_back_late(JNIEnv *env)
{
    if (withdrawn != NULL && bbf_rewritten_classes_any_since(loading_ns))
        (void)bbf_loaded_put_back(env, withdrawn, loading_ns);
    bbf_rules_retire(withdrawn);
    withdrawn = NULL;
}

void bbf_attach(JNIEnv *env)
{
    struct bbf_tracker *t = bbf_agent.tracker;
    (void)pthread_setname_np(pthread_self(), BBF_AGENT_THREAD);
    bbf_endpoint_stop(env, END_MS); /* of the stop before */
    put_back_late(env);
    if (!bbf_shim_wait(env, LINK_MS))
        bbf_agent_disable("the JVM does not link the agent's natives");
    bbf_tracker_pause(t);
    const struct bbf_limits limits = bbf_limits_of(&bbf_agent.options);
    bbf_tracker_limit(t, &limits);
    retire_dead(env);
    if (detached_at_ns != 0 && bbf_tracker_baseline(t) != BBF_OK)
        bbf_agent_disable("out of memory while counters were reset");
    if (atomic_load(&bbf_agent.off_why) == NULL && bbf_attach_hooks(env, true)) {
        /* Again: a thread that was inside an old body may have opened a life after the stop. */
        bbf_lives_mark_stopped(t);
        bbf_late_classes_catch_up(env, true);
    }
    atomic_store(&bbf_agent.phase, BBF_PHASE_IN);
    bbf_endpoint_start(env);
}

/* The answer of `stop`. `live`: the count before the hooks went, because later releases are not
 * seen. */
static void add_detached(struct bbf_buf *text, const struct bbf_retransformed *r, uint64_t live,
                         bool estimated)
{
    /* Without memory to list the loaded classes, nothing was tried and the pass counts as
     * failed. */
    size_t restored = r->put_back > r->failed ? r->put_back - r->failed : 0;
    bbf_buf_printf(text, "stopped: %zu classes are restored", restored);
    if (r->failed > 0)
        bbf_buf_printf(text, ", %zu could not be put back", r->failed);
    bbf_buf_char(text, '\n');
    if (live == 0)
        return;
    bbf_buf_printf(text,
                   "%s%llu %s neither released nor garbage-collected when bbflow stopped (a tree's "
                   "`live`); %s not followed any more\n",
                   estimated ? "about " : "", (unsigned long long)live,
                   live == 1 ? "buffer was" : "buffers were", live == 1 ? "it is" : "they are");
    bbf_buf_str(text,
                "which of them were lost only a garbage collection before the stop would have "
                "shown: bbflow tree --gc; the agent thread sleeps until they are collected\n");
}

void bbf_detach(JNIEnv *env, struct bbf_buf *text)
{
    struct bbf_tracker *t = bbf_agent.tracker;
    bool estimated;
    atomic_store(&bbf_agent.phase, BBF_PHASE_DETACHING);
    uint64_t begin = bbf_clock_ns(CLOCK_MONOTONIC);
    loading_ns = begin > LOAD_NS ? begin - LOAD_NS : 0;
    bbf_tracker_pause(t);
    bbf_gate_end();
    uint64_t live = bbf_tracker_live(t, &estimated);
    /* From here on a field of 0 no longer means "never seen": its buffer may have been opened and
     * released without hooks. */
    bbf_tracker_expect_unseen(t);
    const struct bbf_rules *rules = atomic_exchange(&bbf_agent.rules, NULL);
    struct bbf_retransformed r = bbf_loaded_put_back(env, rules, 0);
    withdrawn = rules;
    bbf_environment_enable(bbf_agent.code, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, false);
    bbf_environment_enable(bbf_agent.code, JVMTI_EVENT_CLASS_PREPARE, false);
    bbf_late_classes_catch_up(env, false);
    bbf_environment_enable(bbf_agent.code, JVMTI_EVENT_THREAD_END, false);
    /* A ByteBuf that has the field must keep it when another agent redefines it (design.md: hidden
     * field). */
    if (!bbf_nettys_have_field())
        bbf_environment_enable(bbf_agent.field, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, false);
    bbf_shim_unhook_exit(env);
    bbf_jmx_stop(env);
    bbf_handlers_stop(env);
    bbf_tracing_stop();
    bbf_metrics_server_stop(END_MS);
    bbf_lives_mark_stopped(t);
    if (text != NULL)
        add_detached(text, &r, live, estimated);
    (void)bbf_log_open(NULL, NULL, 0);
    detached_at_ns = bbf_clock_ns(CLOCK_MONOTONIC); /* the client has its time from here on */
    (void)pthread_setname_np(pthread_self(), BBF_AGENT_STOPPED); /* the client looks for it */
    atomic_store(&bbf_agent.phase, BBF_PHASE_OUT);
}

bool bbf_finish_detach(JNIEnv *env)
{
    uint64_t since_ms = (bbf_clock_ns(CLOCK_MONOTONIC) - detached_at_ns) / 1000000;
    if (bbf_stream_clients() > 0 && since_ms < READ_MS)
        return false;
    bbf_endpoint_stop(env, END_MS);
    if (withdrawn != NULL) {
        if (since_ms < LOAD_MS)
            return false;
        put_back_late(env);
    }
    return true;
}

unsigned bbf_attach_tick_ms(void)
{
    if (atomic_load(&bbf_agent.phase) != BBF_PHASE_OUT)
        return 1000;
    return bbf_stream_server() != NULL || withdrawn != NULL ? 20 : 60000;
}
