#include "agent/lifecycle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/hook.h"
#include "agent/report.h"
#include "agent/serve.h"
#include "agent/shim.h"
#include "agent/state.h"
#include "agent/worker.h"
#include "core/err.h"
#include "core/log.h"

enum { EXIT_WAIT_MS = 10000 };

static bool enable(jvmtiEnv *jvmti, jvmtiEvent event, bool on)
{
    jvmtiEventMode mode = on ? JVMTI_ENABLE : JVMTI_DISABLE;
    return jvmti != NULL &&
           (*jvmti)->SetEventNotificationMode(jvmti, mode, event, NULL) == JVMTI_ERROR_NONE;
}

/* -Xverify:none & co.: then a parameter's declared type proves nothing, and every step tests (D4).
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

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti;
    (void)thread;
    if (is_jdk_tool())
        return;
    if (bbf_shim_define(env) != BBF_OK)
        return;
    if (verification_is_off())
        atomic_store(bbf_shared_int(bbf_agent.tracker, BBF_L_SHARED_MIXED), 1);
    struct bbf_rules *rules = calloc(1, sizeof *rules);
    if (rules == NULL || bbf_options_copy(&rules->options, &bbf_agent.options) != BBF_OK) {
        bbf_agent_disable("no memory to begin with");
        return;
    }
    if (rules->options.direct_only)
        bbf_tracker_direct_only(bbf_agent.tracker, true);
    atomic_store(&bbf_agent.rules, rules);
    bbf_report_init();
    /*
     * F is made here: an environment's place in the order is its creation's, and agents that cannot
     * retransform (JaCoCo's, which knows a class by the sum of its bytes) must see ByteBuf as it is
     * in the jar, wherever they stand on the command line.
     * THREAD_END first: without it a stripe would stay with its dead thread.
     */
    if (environment(&bbf_agent.field, false) != BBF_OK ||
        !enable(bbf_agent.code, JVMTI_EVENT_THREAD_END, true) ||
        !enable(bbf_agent.code, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, true) ||
        !enable(bbf_agent.field, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, true) ||
        !enable(bbf_agent.code, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, true))
        bbf_agent_disable("the JVM refuses the events that bbflow needs");
    (void)bbf_hook_apply(env, NULL, rules);
    if (bbf_worker_start() != BBF_OK) {
        bbf_agent_disable("the agent thread cannot be started");
        return;
    }
    if (bbf_agent.options.gc_exit)
        bbf_shim_hook_exit(env);
    pthread_atfork(NULL, NULL, in_forked_child);
    bbf_serve_start();
}

static void write_file(void)
{
    /* Static: if the agent thread does not finish in time it keeps the request (agent/worker.h). */
    static struct bbf_request request = {.kind = BBF_REQUEST_SNAPSHOT};
    struct bbf_buf path = BBF_BUF_INIT;
    char why[400] = "";
    request.snapshot = bbf_snapshot_new();
    int err = request.snapshot == NULL ? BBF_ENOMEM
                                       : bbf_worker_ask(&request, EXIT_WAIT_MS, EXIT_WAIT_MS);
    if (err == BBF_OK)
        err = bbf_report_path(&path, bbf_agent.options.file, why, sizeof why);
    else
        snprintf(why, sizeof why, "file: no snapshot at exit: %s", bbf_strerror(err));
    if (err == BBF_OK)
        err = bbf_report_write(request.snapshot, bbf_buf_cstr(&path), why, sizeof why);
    if (err != BBF_OK)
        bbf_log(BBF_LOG_ERROR, "%s", why);
    bbf_buf_free(&path);
}

/*
 * gc=exit: in a shutdown hook, because at VMDeath HotSpot has already stopped the threads of its
 * concurrent collectors, and a collection asked for then never returns (ZGC on 17: seen).
 */
void bbf_lifecycle_exit_gc(void)
{
    static struct bbf_request request = {.kind = BBF_REQUEST_GC};
    if (bbf_worker_ask(&request, EXIT_WAIT_MS, EXIT_WAIT_MS) != BBF_OK)
        bbf_log(BBF_LOG_WARN, "gc=exit: no garbage collection before the report");
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)jvmti;
    (void)env;
    if (atomic_exchange(&bbf_agent.dying, true) || atomic_load(&bbf_agent.rules) == NULL)
        return;
    enable(bbf_agent.code, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, false);
    enable(bbf_agent.field, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, false);
    if (bbf_agent.options.file != NULL)
        write_file();
    enable(bbf_agent.code, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, false);
    enable(bbf_agent.code, JVMTI_EVENT_THREAD_END, false);
    bbf_serve_stop(50);
    bbf_worker_leave(50);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti;
    bbf_stripe_retire(bbf_agent.tracker,
                      (uint64_t)(*env)->GetLongField(env, thread, bbf_agent.tid));
}

static void JNICALL on_gc_finish(jvmtiEnv *jvmti)
{
    (void)jvmti;
    bbf_worker_wake();
}

/* ---- install ---- */

static int environment(jvmtiEnv **out, bool code)
{
    jvmtiCapabilities capabilities = {.can_generate_all_class_hook_events = 1};
    jvmtiEventCallbacks callbacks = {.ClassFileLoadHook = code ? bbf_hook_code : bbf_hook_field};
    if ((*bbf_agent.vm)->GetEnv(bbf_agent.vm, (void **)out, JVMTI_VERSION_11) != JNI_OK)
        return BBF_EVERSION;
    if (code) {
        /* Never: early hook, method, exception, breakpoint or tag capabilities (D1). */
        capabilities.can_retransform_classes = 1;
        capabilities.can_generate_garbage_collection_events = 1;
        callbacks.VMInit = on_vm_init;
        callbacks.VMDeath = on_vm_death;
        callbacks.ThreadEnd = on_thread_end;
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

int bbf_lifecycle_install(void)
{
    return environment(&bbf_agent.code, true); /* F: at VMInit */
}
