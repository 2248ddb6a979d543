/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/lttng.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/thread.h"
#include "core/err.h"
#include "core/log.h"
#include "core/spawn.h"
#include "wire/lttng/client.h"

#define RECORDER        "libbbflow-lttng.so"
#define RECORDER_SHARED "libbbflow-lttng-shared.so"
/* Of LTTng's own Java agent, with the tracepoint. */
#define JAVA_AGENT "liblttng-ust-jul-jni.so.0"

enum { STACK_BYTES = 256 * 1024 };

static const char *const loggers[BBF_LOGGERS] = {[BBF_LOGGER_LEAK] = "bbflow.leak",
                                                 [BBF_LOGGER_MISUSE] = "bbflow.misuse",
                                                 [BBF_LOGGER_FLOW] = "bbflow.flow",
                                                 [BBF_LOGGER_LIFE] = "bbflow.life",
                                                 [BBF_LOGGER_STATS] = "bbflow.stats"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct bbf_lttng_client *client;                 /* under lock */
static enum bbf_lttng_option connected = BBF_LTTNG_OFF; /* under lock: client's */
static enum bbf_lttng_protocol protocol;                /* under lock: client's */
static _Atomic(const struct bbf_recorder *) recorder;   /* release: the library is initialised */
static atomic_flag loading = ATOMIC_FLAG_INIT;          /* once in the process's life */

/* ---- the recorder ---- */

/* "LIBRARY: why it cannot be used; what helps". */
static void log_failure(const char *path, const char *why)
{
    const char *remedy = "install the package liblttng-ust1";

    if (access(path, R_OK) != 0)
        remedy =
            "it belongs beside libbbflow.so, needs the package liblttng-ust1, and is built where "
            "liblttng-ust-dev is installed";
    bbf_log(BBF_LOG_ERROR, "lttng: events are not recorded: %s; %s", why, remedy);
}

/* Beside the library that this code is in. */
static bool find_library(char path[PATH_MAX], const char *name)
{
    Dl_info own;

    if (dladdr((void *)(uintptr_t)bbf_tracing_apply, &own) == 0 || own.dli_fname == NULL)
        return false;
    const char *slash = strrchr(own.dli_fname, '/');
    int folder = slash != NULL ? (int)(slash - own.dli_fname + 1) : 0;
    int len = snprintf(path, PATH_MAX, "%.*s%s", folder, own.dli_fname, name);
    return len > 0 && len < PATH_MAX;
}

static bool is_java_agent_loaded(void)
{
    void *there = dlopen(JAVA_AGENT, RTLD_LAZY | RTLD_NOLOAD);

    if (there != NULL)
        dlclose(there);
    return there != NULL;
}

static void load_recorder(void)
{
    char path[PATH_MAX];

    if (!find_library(path, is_java_agent_loaded() ? RECORDER_SHARED : RECORDER))
        return;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const struct bbf_recorder *found = library != NULL ? dlsym(library, BBF_RECORDER_SYMBOL) : NULL;
    if (library == NULL)
        log_failure(path, dlerror());
    else if (found == NULL || found->abi != BBF_RECORDER_ABI)
        bbf_log(BBF_LOG_ERROR, "lttng: events are not recorded: %s is of another bbflow", path);
    else
        atomic_store_explicit(&recorder, found, memory_order_release);
    bbf_thread_wake(); /* the sinks are asked again what they want */
}

static void *load(void *arg)
{
    (void)arg;
    (void)pthread_setname_np(pthread_self(), "bbflow-lttng");
    load_recorder();
    return NULL;
}

/* The client's thread. */
static void on_enabled(void)
{
    bbf_thread_wake();
    if (atomic_flag_test_and_set(&loading))
        return;
    if (bbf_spawn(NULL, STACK_BYTES, load, NULL) != BBF_OK)
        bbf_log(BBF_LOG_ERROR, "lttng: events are not recorded: no thread to load %s", RECORDER);
}

/* ---- the client ---- */

static void disconnect(void)
{
    bbf_lttng_stop(client);
    client = NULL;
    connected = BBF_LTTNG_OFF;
}

static int connect_as(const struct bbf_options *options)
{
    bool is_both = options->lttng == BBF_LTTNG_ON;
    const struct bbf_lttng_config config = {
        .daemons = {[BBF_LTTNG_ROOT] = is_both || options->lttng == BBF_LTTNG_ONLY_ROOT,
                    [BBF_LTTNG_USER] = is_both || options->lttng == BBF_LTTNG_ONLY_USER},
        .version =
            options->lttng_protocol == BBF_LTTNG_PROTOCOL_0_1 ? BBF_LTTNG_0_1 : BBF_LTTNG_2_0,
        .may_switch = options->lttng_protocol == BBF_LTTNG_PROTOCOL_AUTO,
        .pid = (uint32_t)getpid(),
        .loggers = loggers,
        .n_loggers = BBF_LOGGERS,
        .enabled = on_enabled};
    int err = bbf_lttng_start(&client, &config);

    if (err != BBF_OK)
        return err;
    connected = options->lttng;
    protocol = options->lttng_protocol;
    return BBF_OK;
}

int bbf_tracing_apply(const struct bbf_options *options)
{
    int err = BBF_OK;

    pthread_mutex_lock(&lock);
    bool changes = options->lttng != connected ||
                   (connected != BBF_LTTNG_OFF && options->lttng_protocol != protocol);
    if (changes) {
        disconnect();
        if (options->lttng != BBF_LTTNG_OFF)
            err = connect_as(options);
    }
    pthread_mutex_unlock(&lock);
    if (err != BBF_OK)
        bbf_log(BBF_LOG_ERROR, "lttng: no connection to a session daemon: %s", bbf_strerror(err));
    return err;
}

void bbf_tracing_stop(void)
{
    pthread_mutex_lock(&lock);
    disconnect();
    pthread_mutex_unlock(&lock);
}

void bbf_tracing_status(struct bbf_tracing_status *status)
{
    *status = (struct bbf_tracing_status){
        .records = atomic_load_explicit(&recorder, memory_order_relaxed) != NULL};
    pthread_mutex_lock(&lock);
    if (client != NULL) {
        status->on = true;
        status->root = bbf_lttng_port(client, BBF_LTTNG_ROOT);
        status->user = bbf_lttng_port(client, BBF_LTTNG_USER);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- events ---- */

bool bbf_tracing_wants(enum bbf_logger logger, enum bbf_logger_level level)
{
    const struct bbf_recorder *found = atomic_load_explicit(&recorder, memory_order_acquire);

    if (found == NULL || !found->is_on())
        return false;
    pthread_mutex_lock(&lock);
    bool wants = client != NULL && bbf_lttng_wants(client, logger, (int32_t)level);
    pthread_mutex_unlock(&lock);
    return wants;
}

void bbf_tracing_record(enum bbf_logger logger, struct bbf_log_record record)
{
    if (!bbf_tracing_wants(logger, (enum bbf_logger_level)record.level))
        return;
    record.logger = loggers[logger];
    atomic_load_explicit(&recorder, memory_order_acquire)->record(&record);
}
