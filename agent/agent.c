/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/agent.c - the entry points that the JVM calls: parse, check, install; nothing else.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/boot/jdk.h"
#include "agent/boot/shim.h"
#include "agent/classes/dump.h"
#include "agent/cost/gate.h"
#include "agent/duties.h"
#include "agent/jvm/properties.h"
#include "agent/lifecycle.h"
#include "agent/report/blackbox.h"
#include "agent/report/file.h"
#include "agent/report/urgent.h"
#include "agent/settings.h"
#include "agent/sinks/sinks.h"
#include "agent/seed_properties.h"
#include "agent/state.h"
#include "agent/thread.h"
#include "core/err.h"
#include "core/file.h"
#include "core/log.h"
#include "render/render.h"

enum { OTHER_PATH = 512 };

/* How bbflow came into a JVM that starts. */
struct way {
    const char *flag; /* the JVM's: "-agentpath" */
    const char *file; /* part of that flag's value by which an environment variable is recognised */
};

static const char options_variable[] = "BBFLOW_OPTIONS";

/* The options of a start: those of the flag, or else of the environment; may be NULL. */
static const char *options_text(const char *of_flag)
{
    return of_flag != NULL && of_flag[0] != '\0' ? of_flag : getenv(options_variable);
}

/* Options from the environment reach every JVM of a fleet: a typo there must not stop it
 * (design.md: errors). `text`: the options. */
static bool from_environment(const struct way *way, const char *text)
{
    const char *variables[] = {getenv("JAVA_TOOL_OPTIONS"), getenv("JDK_JAVA_OPTIONS"),
                               getenv("_JAVA_OPTIONS")};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (variables[i] != NULL &&
            (strstr(variables[i], "bbflow") != NULL || strstr(variables[i], way->file) != NULL))
            return true;
    return text != NULL && text == getenv(options_variable);
}

/* Return code for the JVM after a startup error (already logged). */
static jint refuse(const struct bbf_options *options, bool environment)
{
    bool stop = options->onerror == BBF_ONERROR_STOP ||
                (options->onerror == BBF_ONERROR_DEFAULT && !environment);
    if (!stop)
        bbf_log(BBF_LOG_ERROR, "bbflow stays off; the application continues");
    return stop ? JNI_ERR : JNI_OK;
}

/* HotSpot 11+; everything else is refused with the reason (design.md: where it runs). */
static int check_jvm(jvmtiEnv *jvmti)
{
    char name[128], version[64];
    bbf_property(jvmti, "java.vm.name", name, sizeof name);
    bbf_property(jvmti, "java.vm.specification.version", version, sizeof version);
    bbf_agent.jdk = atoi(version);
    if (strstr(name, "OpenJ9") != NULL || strstr(name, "Substrate") != NULL) {
        bbf_log(BBF_LOG_ERROR, "this JVM is %s; bbflow needs HotSpot 11 or newer", name);
        return BBF_EREFUSED;
    }
    if (bbf_agent.jdk < BBF_JDK_FIRST) {
        bbf_log(BBF_LOG_ERROR, "this JVM runs Java %s; bbflow needs HotSpot 11 or newer", version);
        return BBF_EREFUSED;
    }
    return BBF_OK;
}

/* A library that is loaded already and has our exports, but is not this one. */
static int find_other_copy(struct dl_phdr_info *info, size_t size, void *found)
{
    Dl_info ours, theirs;
    (void)size;
    if (info->dlpi_name == NULL || strstr(info->dlpi_name, "bbflow") == NULL ||
        dladdr((void *)(uintptr_t)bbf_agent_disable, &ours) == 0)
        return 0;
    void *handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = handle != NULL ? dlsym(handle, "Java_java_lang_BBFlowNative_child") : NULL;
    if (symbol != NULL && dladdr(symbol, &theirs) != 0 && theirs.dli_fbase != ours.dli_fbase)
        snprintf(found, OTHER_PATH, "%s", info->dlpi_name);
    if (handle != NULL)
        dlclose(handle);
    return 0;
}

/* True if bbflow is in this JVM already, as this file or as another: the first is not disturbed. */
static bool second_agent(const char *flag)
{
    char other[OTHER_PATH] = "";
    (void)dl_iterate_phdr(find_other_copy, other);
    bool second = bbf_agent.vm != NULL || other[0] != '\0';
    if (second)
        bbf_log(BBF_LOG_ERROR, "bbflow is already in this JVM; this second %s is ignored", flag);
    return second;
}

/* Check file=, FILE-oom and FILE-limit now: a report that fails after a night's run is lost. */
static int check_file(const char *pattern, char *why, size_t why_size)
{
    static const char *const urgent[] = {"oom", "limit"};
    struct bbf_buf path = BBF_BUF_INIT;
    enum bbf_format format;
    int err = bbf_report_path(&path, pattern, why, why_size);
    const char *text = bbf_buf_cstr(&path);
    if (err == BBF_OK && bbf_format_of_path(text, &format) != BBF_OK) {
        err = BBF_EINVAL;
        snprintf(why, why_size, "the extension of '%.200s' names no format; known: %s", text,
                 BBF_FORMAT_NAMES);
    }
    if (err == BBF_OK)
        err = bbf_file_check(text, why, why_size);
    for (size_t i = 0; i < sizeof urgent / sizeof *urgent && err == BBF_OK; i++) {
        path.len = 0;
        err = bbf_urgent_path(&path, pattern, urgent[i], why, why_size);
        if (err == BBF_OK)
            err = bbf_file_check(bbf_buf_cstr(&path), why, why_size);
    }
    int cause = errno; /* the caller's */
    bbf_buf_free(&path);
    errno = cause;
    return err;
}

/*
 * Report a place that cannot be written to. `error`: its errno. EPERM and ELOOP mean that another
 * user put something there (core/file.h): that must not keep the JVM from starting, so it is only
 * logged; `then` says what happens to the output instead. A lack of descriptors or memory does not
 * stop the JVM either: the option is right.
 */
static int bad_place(const char *option, const char *why, int err, int error, bool strict,
                     const char *then)
{
    bool theirs = err == BBF_EPERMISSION && (error == EPERM || error == ELOOP);
    bool exhausted = err != BBF_EINVAL && (error == EMFILE || error == ENFILE || error == ENOMEM);
    bool goes_on = (theirs && !strict) || exhausted;
    bbf_log(BBF_LOG_ERROR, "%s: %s%s", option, why[0] != '\0' ? why : bbf_strerror(err),
            goes_on ? then : "");
    return goes_on ? BBF_OK : BBF_EINVAL;
}

/* Check all output places at start, while a person can still read the error. `strict`: a file that
 * another user put there is also an error of the options. BBF_EINVAL. */
static int check_places(const struct bbf_options *options, bool strict)
{
    static const char later[] = "; until then nothing is written there"; /* it is looked at again */
    static const char to_stderr[] = "; bbflow's messages go to stderr";  /* opened only here */
    char why[700] = "";
    int err = options->log != NULL ? bbf_log_open(options->log, why, sizeof why) : BBF_OK;
    if (err != BBF_OK)
        err = bad_place("log", why, err, errno, strict, to_stderr);
    if (err == BBF_OK && options->file != NULL) {
        err = check_file(options->file, why, sizeof why);
        if (err != BBF_OK)
            err = bad_place("file", why, err, errno, strict, later);
    }
    if (err == BBF_OK && options->jfr != NULL) {
        err = bbf_sink_jfr_check(options->jfr, why, sizeof why);
        if (err != BBF_OK)
            err = bad_place("jfr", why, err, errno, strict, later);
    }
    if (err == BBF_OK && options->blackbox != NULL) {
        err = bbf_blackbox_check(options->blackbox, why, sizeof why);
        if (err != BBF_OK)
            err = bad_place("blackbox", why, err, errno, strict, later);
    }
    if (err == BBF_OK && options->dump != NULL) {
        err = bbf_dump_check(options->dump, why, sizeof why);
        if (err != BBF_OK)
            err = bad_place("dump", why, err, errno, strict, later);
    }
    return err;
}

static int start(const struct bbf_options *options, bool vm_init_comes)
{
    const struct bbf_limits limits = bbf_limits_of(options);
    int err = BBF_OK;
    if (bbf_agent.tracker == NULL) {
        bbf_duties_init();
        clock_gettime(CLOCK_MONOTONIC, &bbf_agent.started);
        err = bbf_tracker_create(&bbf_agent.tracker, &limits);
        if (err == BBF_OK)
            bbf_gate_choose(options);
    }
    if (err != BBF_OK) {
        bbf_log(BBF_LOG_ERROR,
                "bbflow stays off: it cannot reserve its address space (ulimit -v is "
                "too low); the JVM continues without it");
        return err;
    }
    if (bbf_agent.code == NULL)
        err = bbf_lifecycle_install(vm_init_comes);
    if (err != BBF_OK) {
        bbf_lifecycle_uninstall();
        bbf_log(BBF_LOG_ERROR, "this JVM does not offer the JVMTI functions that bbflow needs: %s",
                bbf_strerror(err));
    }
    return err;
}

static const char version[] = "bbflow " BBF_VERSION "\n"; /* also for `strings` */

/* "help" and "version": the text instead of the program, as jdwp's =help. */
static void print(const struct bbf_options *options)
{
    struct bbf_buf help = BBF_BUF_INIT;
    if (options->help)
        bbf_options_help(&help);
    fputs(options->help ? bbf_buf_cstr(&help) : version, stderr);
    bbf_buf_free(&help);
}

/* Check everything that can be checked before anything is changed. The caller frees `parsed` in
 * every case; errors are logged. `flag`: names the options in an error; NULL: an attach.
 * BBF_EINVAL: the options are wrong. */
static int prepare(JavaVM *vm, const char *text, const char *flag, struct bbf_options *parsed,
                   jvmtiEnv **jvmti)
{
    struct bbf_option_error error;
    bbf_options_init(parsed);
    bool has_jvmti = (*vm)->GetEnv(vm, (void **)jvmti, JVMTI_VERSION_11) == JNI_OK;
    if (has_jvmti)
        bbf_seed_properties(*jvmti, parsed);
    int err = bbf_options_parse(parsed, text, &error);
    if (err == BBF_ENOMEM) /* no fault of the options */
        bbf_log(BBF_LOG_ERROR, "no memory for the options; bbflow stays off");
    else if (err != BBF_OK)
        bbf_log(BBF_LOG_ERROR, "%s options, column %zu: %s", flag != NULL ? flag : "-agentpath",
                error.at.column, error.at.text);
    if (err != BBF_OK || parsed->help || parsed->version)
        return err;
    if (!has_jvmti) {
        bbf_log(BBF_LOG_ERROR, "this JVM has no JVMTI 11; bbflow needs HotSpot 11 or newer");
        return BBF_EREFUSED;
    }
    bbf_log_set_level(parsed->log_level);
    err = check_places(parsed, flag == NULL || parsed->onerror == BBF_ONERROR_STOP);
    return err == BBF_OK ? check_jvm(*jvmti) : err;
}

enum { PRINTED = 1 }; /* beside JNI_OK and JNI_ERR: help or version was printed instead */

/* Start with the JVM: check, reserve, make environment I (bbf_agent.code, NULL: bbflow stays off).
 * JNI_ERR: the JVM must not start. */
static jint load(JavaVM *vm, const char *of_flag, const struct way *way, bool vm_init_comes)
{
    struct bbf_options *options = &bbf_agent.options, parsed;
    const char *text = options_text(of_flag);
    bool environment = from_environment(way, text);
    jvmtiEnv *jvmti = NULL;
    bbf_log_set_level(BBF_LOG_ERROR);
    if (second_agent(way->flag))
        return JNI_OK;
    int err = prepare(vm, text, text == of_flag ? way->flag : options_variable, &parsed, &jvmti);
    if (err == BBF_OK && (parsed.help || parsed.version)) {
        print(&parsed);
        bbf_options_free(&parsed);
        return PRINTED;
    }
    if (err == BBF_ENOMEM) /* `onerror` may be unread */
        return JNI_OK;
    bbf_agent.vm = vm;
    *options = parsed;
    if (err == BBF_OK)
        err = start(options, vm_init_comes);
    if (jvmti != NULL)
        (*jvmti)->DisposeEnvironment(jvmti);
    /* The options are right, but there is no room: bbflow stays off and the application runs. */
    if (err == BBF_ENOMEM && options->onerror != BBF_ONERROR_STOP)
        return JNI_OK;
    return err == BBF_OK ? JNI_OK : refuse(options, environment);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *text, void *reserved)
{
    static const struct way agentpath = {"-agentpath", "bbflow"};
    (void)reserved;
    jint result = load(vm, text, &agentpath, true);
    if (result == PRINTED)
        exit(0);
    return result;
}

/* Why the agent cannot attach, checked before its options are read; NULL: it can. */
static const char *attach_refused(char *text, size_t size)
{
    char other[OTHER_PATH] = "";
    const char *off = atomic_load(&bbf_agent.off_why);
    (void)dl_iterate_phdr(find_other_copy, other);
    /* If the boot classes are this copy's, then this copy owns the JVM and the other one was
     * refused. */
    if (bbf_agent.shim == NULL && other[0] != '\0')
        snprintf(text, size,
                 "another build of bbflow is in this JVM and stays there: attach %s, "
                 "or restart the JVM",
                 other);
    else if (atomic_load(&bbf_agent.phase) != BBF_PHASE_OUT)
        snprintf(text, size,
                 "bbflow follows this JVM already; 'bbflow set' changes its options, "
                 "'bbflow stop' ends it");
    else if (off != NULL)
        snprintf(text, size, "tracking was turned off in this JVM for good: %s", off);
    else
        return NULL;
    return text;
}

/*
 * Attach to a running JVM (design.md: hot path): this only defines classes and starts the agent
 * thread, which does the rest once our natives link, after this has returned. jcmd and `bbflow
 * attach` see the number that is returned: 0, 1 failed, 2 the options, 5 refused.
 */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *text, void *reserved)
{
    enum { FAILED = 1, OPTIONS = 2, REFUSED = 5 };
    struct bbf_options parsed;
    jvmtiEnv *jvmti = NULL;
    JNIEnv *env = NULL;
    char why[700];
    int out = BBF_PHASE_OUT;
    (void)reserved;
    if (attach_refused(why, sizeof why) != NULL) {
        bbf_log(BBF_LOG_ERROR, "%s", why);
        return REFUSED;
    }
    bbf_log_set_level(BBF_LOG_ERROR);
    int err = prepare(vm, text, NULL, &parsed, &jvmti);
    if (err == BBF_OK && parsed.help) {
        bbf_log(BBF_LOG_ERROR, "'bbflow help options' lists the options");
        err = BBF_EINVAL;
    } else if (err == BBF_OK && parsed.version) {
        bbf_log(BBF_LOG_ERROR, "bbflow %s; with the option 'version' nothing is attached",
                BBF_VERSION);
        err = BBF_EINVAL;
    }
    if (err == BBF_OK && (*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK)
        err = BBF_EREFUSED;
    bbf_agent.vm = vm;
    if (err == BBF_OK)
        err = start(&parsed, false);
    if (err == BBF_OK && bbf_agent.shim == NULL) {
        err = bbf_shim_define(env);
        if (err != BBF_OK)
            bbf_lifecycle_uninstall();
    }
    if (jvmti != NULL)
        (*jvmti)->DisposeEnvironment(jvmti);
    if (err == BBF_OK &&
        !atomic_compare_exchange_strong(&bbf_agent.phase, &out, BBF_PHASE_ATTACHING))
        err = BBF_EREFUSED;
    if (err != BBF_OK) {
        bbf_options_free(&parsed);
        (void)bbf_log_open(NULL, NULL, 0);
        return err == BBF_EINVAL ? OPTIONS : err == BBF_EREFUSED ? REFUSED : FAILED;
    }
    bbf_settings_replace(&parsed);
    if (bbf_thread_post_attach() == BBF_OK)
        return JNI_OK;
    bbf_log(BBF_LOG_ERROR, "the agent thread cannot be started");
    atomic_store(&bbf_agent.phase, BBF_PHASE_OUT);
    return FAILED;
}

/* ---- bbflow-javaagent.jar (docs/java-agent.md) ---- */

/* The bytes of a Java byte[] as a string; malloc'd. NULL: no memory. */
static char *bytes_of(JNIEnv *env, jbyteArray array)
{
    jsize n = (*env)->GetArrayLength(env, array);
    char *text = calloc((size_t)n + 1, 1);
    if (text != NULL)
        (*env)->GetByteArrayRegion(env, array, 0, n, (jbyte *)text);
    return text;
}

JNIEXPORT jint JNICALL Java_java_lang_BBFlowStart_premain(JNIEnv *env, jclass class,
                                                          jbyteArray options, jbyteArray jar);
JNIEXPORT jint JNICALL Java_java_lang_BBFlowStart_agentmain(JNIEnv *env, jclass class,
                                                            jbyteArray options);

/*
 * premain of the jar, which has loaded this library: what Agent_OnLoad and VMInit do, at once,
 * because JVMTI's VMInit is being posted. `jar`: the jar's file name. Returns 0: the JVM continues;
 * 1: help or version was printed; negative: the JVM must end.
 */
JNIEXPORT jint JNICALL Java_java_lang_BBFlowStart_premain(JNIEnv *env, jclass class,
                                                          jbyteArray options, jbyteArray jar)
{
    JavaVM *vm;
    char *text = bytes_of(env, options), *file = bytes_of(env, jar);
    struct way way = {"-javaagent", file};
    (void)class;
    jint result = JNI_OK;
    if (text != NULL && file != NULL && (*env)->GetJavaVM(env, &vm) == JNI_OK) {
        bool first = bbf_agent.vm == NULL;
        result = load(vm, text, &way, false);
        if (first && result == JNI_OK && bbf_agent.code != NULL)
            bbf_lifecycle_begin(env);
    }
    free(text);
    free(file);
    return result;
}

/* agentmain of the jar: as Agent_OnAttach, whose numbers it returns, but the hooks are in by then,
 * because the caller may be a launcher that runs the application next. */
JNIEXPORT jint JNICALL Java_java_lang_BBFlowStart_agentmain(JNIEnv *env, jclass class,
                                                            jbyteArray options)
{
    enum { HOOKS_MS = 30000 };
    JavaVM *vm;
    char *text = bytes_of(env, options);
    (void)class;
    jint result = 1;
    if (text != NULL && (*env)->GetJavaVM(env, &vm) == JNI_OK)
        result = Agent_OnAttach(vm, text, NULL);
    free(text);
    for (int ms = 0; result == 0 && ms < HOOKS_MS; ms++) {
        if (atomic_load(&bbf_agent.phase) != BBF_PHASE_ATTACHING)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return result;
}

/* Nothing is unmapped: daemon threads keep stepping after this (design.md: address space). */
JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
    (void)vm;
}
