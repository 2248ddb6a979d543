/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/lifecycle.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/classes/rewritten_classes.h"
#include "agent/classes/hook.h"
#include "agent/classes/late_classes.h"
#include "agent/cost/account.h"
#include "agent/report/report.h"
#include "agent/rules.h"
#include "agent/commands/serve.h"
#include "agent/boot/shim.h"
#include "agent/state.h"
#include "agent/jvm/threads.h"
#include "agent/thread.h"
#include "core/err.h"
#include "core/log.h"
#include "trie/map.h"
#include "wire/sockdir.h"

static bool enable(jvmtiEnv *jvmti, jvmtiEvent event, bool on)
{
    jvmtiEventMode mode = on ? JVMTI_ENABLE : JVMTI_DISABLE;
    return jvmti != NULL &&
           (*jvmti)->SetEventNotificationMode(jvmti, mode, event, NULL) == JVMTI_ERROR_NONE;
}

/* -Xverify:none & co.: then a parameter's declared type proves nothing, and every step tests
 * (design.md: hot path).
 */
static bool verification_is_off(void)
{
    char line[65536];
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t n = file != NULL ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    const char *by_environment[] = {getenv("JAVA_TOOL_OPTIONS"), getenv("JDK_JAVA_OPTIONS"),
                                    getenv("_JAVA_OPTIONS")};
    static const char *const flags[] = {"-Xverify:none", "-noverify",
                                        "-XX:-BytecodeVerificationRemote"};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        if (memmem(line, n, flags[f], strlen(flags[f])) != NULL)
            return true;
        for (size_t e = 0; e < sizeof by_environment / sizeof *by_environment; e++)
            if (by_environment[e] != NULL && strstr(by_environment[e], flags[f]) != NULL)
                return true;
    }
    return false;
}

/* A JDK tool that got us by JAVA_TOOL_OPTIONS: jcmd, javac, jps … have nothing to be followed. */
static bool is_jdk_tool(void)
{
    char *command = NULL;
    bool tool = false;
    if ((*bbf_agent.code)->GetSystemProperty(bbf_agent.code, "sun.java.command", &command) == 0 &&
        command != NULL) {
        tool = strncmp(command, "jdk.", 4) == 0 || strncmp(command, "sun.tools.", 10) == 0 ||
               strncmp(command, "com.sun.tools.", 14) == 0;
        (*bbf_agent.code)->Deallocate(bbf_agent.code, (unsigned char *)command);
    }
    return tool;
}

/* ---- fork ---- */

static void in_forked_child(void)
{
    if (bbf_agent.server != NULL)
        bbf_server_forget(bbf_agent.server);
    bbf_agent.server = NULL;
}

/* ---- events ---- */

static int environment(jvmtiEnv **out, bool code);

/*
 * F is made here: an environment's place in the order is its creation's, and agents that cannot
 * retransform (JaCoCo's, which knows a class by the sum of its bytes) must see ByteBuf as it is in
 * the jar, wherever they stand on the command line.
 */
static bool events(bool on)
{
    if (bbf_agent.field == NULL && environment(&bbf_agent.field, false) != BBF_OK)
        return false;
    /* THREAD_END first: without it a stripe would stay with its dead thread. */
    return enable(bbf_agent.code, JVMTI_EVENT_THREAD_END, on) &&
           enable(bbf_agent.code, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, on) &&
           enable(bbf_agent.field, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, on) &&
           enable(bbf_agent.code, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, on);
}

/* Agent thread. */
static uint64_t left_at_ns;               /* the last stop, CLOCK_MONOTONIC; 0 = none */
static const struct bbf_rules *withdrawn; /* its rules, while a class may still slip through */
static uint64_t loading_ns; /* what was changed since then is perhaps not loaded yet */

static void forget_counts(void)
{
    for (int i = 0; i < BBF_CF_CLASS_RESULTS; i++)
        atomic_store(&bbf_agent.classes[i], 0);
    for (int i = 0; i < BBF_CF_METHOD_RESULTS; i++)
        atomic_store(&bbf_agent.methods[i], 0);
    atomic_store(&bbf_agent.followed_classes, 0);
    atomic_store(&bbf_agent.retransform_failed, 0);
}

/* Hooks in, loaded classes retransformed. False: off_why says what is missing. */
static bool activate(JNIEnv *env, bool attached)
{
    static bool before_fork;
    if (verification_is_off())
        atomic_fetch_or(bbf_shared_int(bbf_agent.tracker, BBF_L_SHARED_MIXED),
                        BBF_L_MIXED_FIELDLESS);
    struct bbf_rules *rules = bbf_rules_new(&bbf_agent.options);
    if (rules == NULL) {
        bbf_agent_disable("out of memory at start");
        return false;
    }
    if (rules->options.direct_only || left_at_ns != 0)
        bbf_tracker_direct_only(bbf_agent.tracker, rules->options.direct_only);
    if (bbf_account_apply(&rules->options, true) != BBF_OK)
        bbf_log(BBF_LOG_WARN, "sample: too many other rates were set before");
    /* In map mode, whatever Netty's buffers are in. */
    if ((rules->options.track != NULL && !bbf_map_open(bbf_agent.tracker)) ||
        !bbf_shim_track(env, rules->options.track != NULL))
        bbf_log(BBF_LOG_ERROR, "track: no memory for its table; its objects are not followed");
    forget_counts();
    atomic_store(&bbf_agent.attached, attached);
    atomic_store(&bbf_agent.rules, rules);
    bbf_report_init();
    /* Not after a stop: lives of before are to be told when they end. */
    if (left_at_ns == 0 && rules->options.include != NULL && rules->options.track == NULL)
        bbf_hook_idle();
    if (!events(true) || (attached && !enable(bbf_agent.code, JVMTI_EVENT_CLASS_PREPARE, true)))
        bbf_agent_disable("the JVM refuses the events that bbflow needs");
    (void)bbf_hook_apply(env, NULL, rules);
    if (bbf_agent.options.gc_exit)
        bbf_shim_hook_exit(env);
    if (!before_fork)
        pthread_atfork(NULL, NULL, in_forked_child);
    before_fork = true;
    return true;
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti;
    (void)thread;
    if (is_jdk_tool() || bbf_shim_define(env) != BBF_OK)
        return;
    atomic_store(&bbf_agent.phase, BBF_PHASE_ENTERING);
    if (!activate(env, false))
        return;
    if (bbf_thread_start() != BBF_OK) {
        bbf_agent_disable("the agent thread cannot be started");
        return;
    }
    atomic_store(&bbf_agent.phase, BBF_PHASE_IN);
    bbf_serve_start(env);
}

/* ---- attach and stop: the agent thread ---- */

enum { LINK_MS = 30000, READ_MS = 5000, END_MS = 1000, LOAD_MS = 2000 };
#define LOAD_NS (LOAD_MS * UINT64_C(1000000))

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is_owner(const uint64_t *tids, size_t n, uint64_t tid)
{
    for (size_t i = 0; i < n; i++)
        if (tids[i] == tid)
            return true;
    return false;
}

/*
 * Stripes of threads that ended while nobody listened. The owners are read before the threads: a
 * thread that claims a stripe meanwhile is not among them.
 */
static void retire_dead(JNIEnv *env)
{
    static uint64_t owners[BBF_L_STRIPES];
    jthread *threads = NULL;
    jint n = 0;
    for (size_t i = 0; i < BBF_L_STRIPES; i++)
        owners[i] = bbf_stripe_is_used(bbf_agent.tracker, i)
                        ? atomic_load(&bbf_agent.tracker->stripes[i].owner)
                        : 0;
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
    (*bbf_agent.code)->Deallocate(bbf_agent.code, (unsigned char *)threads);
    (void)(*env)->PopLocalFrame(env, NULL);
}

/* A class that was on its way while the loaded ones were looked at has hooks still. */
static void put_back_late(JNIEnv *env)
{
    if (withdrawn != NULL && bbf_rewritten_classes_any_since(loading_ns))
        (void)bbf_hook_put_back(env, withdrawn, loading_ns);
    bbf_rules_retire(withdrawn);
    withdrawn = NULL;
}

void bbf_lifecycle_enter(JNIEnv *env)
{
    struct bbf_tracker *t = bbf_agent.tracker;
    (void)pthread_setname_np(pthread_self(), BBF_AGENT_THREAD);
    bbf_serve_stop(env, END_MS); /* of the stop before */
    put_back_late(env);
    if (!bbf_shim_wait(env, LINK_MS))
        bbf_agent_disable("the JVM does not link the agent's natives");
    bbf_tracker_pause(t);
    const struct bbf_limits limits = bbf_limits_of(&bbf_agent.options);
    bbf_tracker_limit(t, &limits);
    retire_dead(env);
    if (left_at_ns != 0 && bbf_tracker_baseline(t) != BBF_OK)
        bbf_agent_disable("out of memory while counters were reset");
    if (atomic_load(&bbf_agent.off_why) == NULL && activate(env, true)) {
        /* Again: a thread that was inside an old body may have opened one after the stop. */
        bbf_lives_mark_stopped(t);
        bbf_late_classes_catch_up(env, true);
    }
    atomic_store(&bbf_agent.phase, BBF_PHASE_IN);
    bbf_serve_start(env);
}

/* What `stop` answers. `live`: as a tree had it when the last buffer was opened, since releases go
 * unseen from then on. */
static void say_stopped(struct bbf_buf *text, const struct bbf_retransformed *r, uint64_t live,
                        bool estimated)
{
    bbf_buf_printf(text, "stopped: %zu classes are restored", r->put_back - r->failed);
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

void bbf_lifecycle_leave(JNIEnv *env, struct bbf_buf *text)
{
    struct bbf_tracker *t = bbf_agent.tracker;
    bool estimated;
    atomic_store(&bbf_agent.phase, BBF_PHASE_LEAVING);
    uint64_t begin = now_ns();
    loading_ns = begin > LOAD_NS ? begin - LOAD_NS : 0;
    bbf_tracker_pause(t);
    uint64_t live = bbf_tracker_live(t, &estimated);
    /* What is opened and released from here on leaves a field that says nothing. */
    atomic_fetch_or(bbf_shared_int(t, BBF_L_SHARED_FLAGS), (uint32_t)BBF_L_SHARED_UNSEEN);
    const struct bbf_rules *rules = atomic_exchange(&bbf_agent.rules, NULL);
    struct bbf_retransformed r = bbf_hook_put_back(env, rules, 0);
    withdrawn = rules;
    enable(bbf_agent.code, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, false);
    enable(bbf_agent.code, JVMTI_EVENT_CLASS_PREPARE, false);
    bbf_late_classes_catch_up(env, false);
    enable(bbf_agent.code, JVMTI_EVENT_THREAD_END, false);
    /* A ByteBuf that has the field must keep it, whoever redefines it (design.md: hidden field). */
    if (!bbf_hook_has_field())
        enable(bbf_agent.field, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, false);
    bbf_shim_unhook_exit(env);
    bbf_lives_mark_stopped(t);
    if (text != NULL)
        say_stopped(text, &r, live, estimated);
    (void)bbf_log_open(NULL, NULL, 0);
    left_at_ns = now_ns(); /* the client has its time from here on */
    (void)pthread_setname_np(pthread_self(), BBF_AGENT_STOPPED); /* the client looks for it */
    atomic_store(&bbf_agent.phase, BBF_PHASE_OUT);
}

bool bbf_lifecycle_clear_up(JNIEnv *env)
{
    uint64_t since_ms = (now_ns() - left_at_ns) / 1000000;
    if (bbf_agent.server != NULL) {
        if (bbf_server_clients(bbf_agent.server) > 0 && since_ms < READ_MS)
            return false;
        bbf_serve_stop(env, END_MS);
    }
    if (withdrawn != NULL) {
        if (since_ms < LOAD_MS)
            return false;
        put_back_late(env);
    }
    return true;
}

unsigned bbf_lifecycle_tick_ms(void)
{
    if (atomic_load(&bbf_agent.phase) != BBF_PHASE_OUT)
        return 1000;
    return bbf_agent.server != NULL || withdrawn != NULL ? 20 : 60000;
}

/* ---- the end of the JVM ---- */

/* Static: if the agent thread does not finish in time it keeps the job (agent/thread.h). */
static void write_file(const struct bbf_options *options)
{
    static struct bbf_buf why = BBF_BUF_INIT;
    static struct bbf_job job = {.kind = BBF_JOB_FILE, .text = &why};
    char limit[32] = "";
    job.deadline_ns = bbf_thread_deadline(options->exit_timeout);
    job.snapshot = bbf_snapshot_new();
    int err = job.snapshot == NULL ? BBF_ENOMEM : bbf_thread_ask(&job, UINT_MAX, 0);
    if (err == BBF_OK)
        return;
    if (err == BBF_ETIMEOUT || err == BBF_ELIMIT)
        snprintf(limit, sizeof limit, " (exitTimeout=%llus)",
                 (unsigned long long)options->exit_timeout);
    if (err == BBF_ETIMEOUT) /* the text is still the agent thread's */
        bbf_log(BBF_LOG_ERROR,
                "file: no report: %s was not written when its time was over%s; the JVM has much "
                "else to do, or the file system does not answer",
                options->file, limit);
    else if (why.len > 0)
        bbf_log(BBF_LOG_ERROR, "%s%s", bbf_buf_cstr(&why), limit);
    else
        bbf_log(BBF_LOG_ERROR, "file: no report: %s", bbf_strerror(err));
}

/*
 * gc=exit: in a shutdown hook, because at VMDeath HotSpot has already stopped the threads of its
 * concurrent collectors, and a collection asked for then never returns (ZGC on 17: seen).
 */
void bbf_lifecycle_exit_gc(void)
{
    static struct bbf_job job = {.kind = BBF_JOB_GC};
    const struct bbf_rules_hold hold = bbf_rules_hold();
    bool on = hold.rules != NULL;
    job.deadline_ns = on ? bbf_thread_deadline(hold.rules->options.exit_timeout) : 0;
    bbf_rules_let_go(&hold);
    if (on && bbf_thread_ask(&job, UINT_MAX, 0) != BBF_OK)
        bbf_log(BBF_LOG_WARN, "gc=exit: no garbage collection before the report");
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)jvmti;
    (void)env;
    if (atomic_exchange(&bbf_agent.dying, true))
        return;
    enable(bbf_agent.code, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, false);
    enable(bbf_agent.field, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, false);
    const struct bbf_rules_hold hold = bbf_rules_hold();
    if (hold.rules != NULL && hold.rules->options.file != NULL)
        write_file(&hold.rules->options);
    bbf_rules_let_go(&hold);
    enable(bbf_agent.code, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, false);
    enable(bbf_agent.code, JVMTI_EVENT_THREAD_END, false);
    bbf_serve_stop(NULL, 50);
    bbf_thread_leave(50);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti;
    uint64_t tid = (uint64_t)(*env)->GetLongField(env, thread, bbf_agent.tid);
    if (bbf_stripe_retire(bbf_agent.tracker, tid))
        bbf_threads_ended(thread, tid);
}

static void JNICALL on_gc_finish(jvmtiEnv *jvmti)
{
    (void)jvmti;
    bbf_thread_gc_finished();
}

/* ---- install ---- */

static int environment(jvmtiEnv **out, bool code)
{
    jvmtiCapabilities capabilities = {.can_generate_all_class_hook_events = 1};
    jvmtiEventCallbacks callbacks = {.ClassFileLoadHook = code ? bbf_hook_code : bbf_hook_field};
    if ((*bbf_agent.vm)->GetEnv(bbf_agent.vm, (void **)out, JVMTI_VERSION_11) != JNI_OK)
        return BBF_EVERSION;
    if (code) {
        /* Never: early hook, method, exception, breakpoint or tag capabilities (design.md:
         * rewriting). */
        capabilities.can_retransform_classes = 1;
        capabilities.can_generate_garbage_collection_events = 1;
        capabilities.can_get_bytecodes = 1; /* of a few release(): see agent/classes/kinds.c */
        capabilities.can_get_constant_pool =
            1; /* is a class hooked? see agent/classes/late_classes.c */
        callbacks.VMInit = on_vm_init;
        callbacks.VMDeath = on_vm_death;
        callbacks.ThreadEnd = on_thread_end;
        callbacks.ClassPrepare = bbf_hook_prepare;
        callbacks.GarbageCollectionFinish = on_gc_finish;
    }
    if ((**out)->AddCapabilities(*out, &capabilities) != 0 ||
        (**out)->SetEventCallbacks(*out, &callbacks, (jint)sizeof callbacks) != 0)
        return BBF_EREFUSED;
    if (code &&
        (!enable(*out, JVMTI_EVENT_VM_INIT, true) || !enable(*out, JVMTI_EVENT_VM_DEATH, true)))
        return BBF_EREFUSED;
    return BBF_OK;
}

static void dispose(jvmtiEnv **environment_of)
{
    if (*environment_of != NULL)
        (**environment_of)->DisposeEnvironment(*environment_of);
    *environment_of = NULL;
}

void bbf_lifecycle_uninstall(void)
{
    dispose(&bbf_agent.code);
    dispose(&bbf_agent.field);
}

int bbf_lifecycle_install(void)
{
    return environment(&bbf_agent.code, true); /* F: at VMInit */
}
