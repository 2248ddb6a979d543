/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/boot/shim.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/boot/jdk.h"
#include "agent/boot/link.h"
#include "agent/boot/pool.h"
#include "agent/state.h"
#include "core/err.h"
#include "core/log.h"
#include "shim_classes.h"

/* The compiled classes, made by agent/boot/embed.c. */
#define XX(name)                                                                                   \
    extern const unsigned char bbf_##name##_class[];                                               \
    extern const size_t bbf_##name##_class_len;
BBF_SHIM_CLASSES(XX)
BBF_SHIM_CLASSES_ON_DEMAND(XX)
#undef XX

enum shim_class {
#define XX(name) SHIM_##name,
    BBF_SHIM_CLASSES(XX) SHIM_COUNT,
    SHIM_LAST = SHIM_COUNT - 1, /* those on demand follow */
    BBF_SHIM_CLASSES_ON_DEMAND(XX) SHIM_ALL
#undef XX
};

static const struct {
    const char *name;
    const unsigned char *bytes;
    const size_t *len;
} embedded[SHIM_ALL] = {
#define XX(name) {"java/lang/" #name, bbf_##name##_class, &bbf_##name##_class_len},
    BBF_SHIM_CLASSES(XX) BBF_SHIM_CLASSES_ON_DEMAND(XX)
#undef XX
};

/* A class file as this JVM takes it; malloc'd. */
struct fitted {
    uint8_t *bytes;
    size_t len;
};

/* Where an Object[]'s elements begin and how far apart they are; the type that Unsafe gives the
 * first in changed in JDK 25, so it is asked for by either. */
static uint64_t array_base, array_scale;

/* Only BBFlowKind reads and writes it. Not in the tracker, because it describes the JVM's classes;
 * like this library it is never unloaded. */
static _Alignas(64) _Atomic uint64_t kinds[2 * BBF_L_KIND_WAYS << BBF_L_KIND_GROUP_BITS];
static jlong klass_at; /* BBFlowKind.klassAt; 0: the table stays empty */

static bool thrown(JNIEnv *env)
{
    if (!(*env)->ExceptionCheck(env))
        return false;
    (*env)->ExceptionClear(env);
    return true;
}

static int measure_arrays(JNIEnv *env)
{
    jclass unsafe = (*env)->FindClass(env, "jdk/internal/misc/Unsafe");
    jclass array = thrown(env) ? NULL : (*env)->FindClass(env, "[Ljava/lang/Object;");
    if (thrown(env) || array == NULL)
        return BBF_EREFUSED;
    jmethodID get =
        (*env)->GetStaticMethodID(env, unsafe, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");
    jmethodID scale =
        thrown(env) ? NULL
                    : (*env)->GetMethodID(env, unsafe, "arrayIndexScale", "(Ljava/lang/Class;)I");
    if (thrown(env) || scale == NULL)
        return BBF_EREFUSED;
    jobject u = (*env)->CallStaticObjectMethod(env, unsafe, get);
    if (thrown(env))
        return BBF_EREFUSED;
    array_scale = (uint64_t)(*env)->CallIntMethod(env, u, scale, array);
    if (thrown(env))
        return BBF_EREFUSED;
    jmethodID base = (*env)->GetMethodID(env, unsafe, "arrayBaseOffset", "(Ljava/lang/Class;)I");
    if (!thrown(env)) {
        array_base = (uint64_t)(*env)->CallIntMethod(env, u, base, array);
        return thrown(env) ? BBF_EREFUSED : BBF_OK;
    }
    base = (*env)->GetMethodID(env, unsafe, "arrayBaseOffset", "(Ljava/lang/Class;)J");
    if (thrown(env))
        return BBF_EREFUSED;
    array_base = (uint64_t)(*env)->CallLongMethod(env, u, base, array);
    return thrown(env) ? BBF_EREFUSED : BBF_OK;
}

static uint64_t address_of(const struct bbf_tracker_addresses *at, enum bbf_shim_address address)
{
    switch (address) {
    case BBF_SHIM_NODES:
        return (uint64_t)(uintptr_t)at->nodes;
    case BBF_SHIM_OVERFLOW:
        return (uint64_t)(uintptr_t)at->overflow;
    case BBF_SHIM_ROOTS:
        return (uint64_t)(uintptr_t)at->roots;
    case BBF_SHIM_STRIPES_AT:
        return (uint64_t)(uintptr_t)at->stripes;
    case BBF_SHIM_SHARED:
        return (uint64_t)(uintptr_t)at->shared;
    case BBF_SHIM_RECORD_MASK: /* every index is masked (design.md: address space) */
        return at->record_mask;
    case BBF_SHIM_ARRAY_BASE:
        return array_base;
    case BBF_SHIM_ARRAY_SCALE:
        return array_scale;
    case BBF_SHIM_MAP:
        return (uint64_t)(uintptr_t)at->map;
    case BBF_SHIM_RATE_ROOTS:
        return (uint64_t)(uintptr_t)at->rate_roots;
    case BBF_SHIM_AFTER:
        return (uint64_t)(uintptr_t)at->extras;
    case BBF_SHIM_KINDS_AT:
        return (uint64_t)(uintptr_t)kinds;
    }
    return 0; /* not reached: the placeholders are generated from the same list */
}

/* Replace the placeholders of BBF_SHIM_ADDRESSES among the pool's Long constants. The bytes are
 * from this build: a length that is wrong here is a build that never ran. */
static void patch_addresses(const struct bbf_tracker *t, uint8_t *b)
{
    const struct bbf_tracker_addresses at = bbf_tracker_addresses(t);
    unsigned count = (unsigned)b[8] << 8 | b[9];
    uint8_t *p = b + 10;
    for (unsigned i = 1; i < count; i++) {
        if (p[0] == BBF_POOL_LONG) {
            uint64_t value = 0;
            for (int k = 1; k <= 8; k++)
                value = value << 8 | p[k];
            if (value >> 40 == BBF_SHIM_MAGIC >> 40) {
                value =
                    address_of(&at, (enum bbf_shim_address)(value >> 32 & BBF_SHIM_ADDRESS_MASK)) +
                    (uint32_t)value;
                for (int k = 8; k >= 1; k--, value >>= 8)
                    p[k] = (uint8_t)value;
            }
        }
        i += p[0] == BBF_POOL_LONG || p[0] == BBF_POOL_DOUBLE;
        p += bbf_pool_size(p);
    }
}

/* Renamed in JDK 12: Unsafe's methods; after 11: @Hidden. Virtual threads made carriers in 21. */
static int fit(enum shim_class class, struct fitted *out)
{
    static const struct bbf_cf_rename renames[] = {
        {"currentThread", "currentCarrierThread"},
        {"getReference", "getObject"},
        {"putReference", "putObject"},
        {"compareAndSetReference", "compareAndSetObject"},
        {"Ljdk/internal/vm/annotation/Hidden;", "Ljava/lang/invoke/LambdaForm$Hidden;"},
    };
    bool carrier = bbf_agent.jdk >= 21, old = bbf_agent.jdk < 12;
    return bbf_cf_rename_utf8(embedded[class].bytes, *embedded[class].len,
                              renames + (carrier ? 0 : 1),
                              old       ? 4
                              : carrier ? 1
                                        : 0,
                              &out->bytes, &out->len);
}

static jclass define(JNIEnv *env, enum shim_class class, const struct fitted *fitted)
{
    patch_addresses(bbf_agent.tracker, fitted->bytes);
    return (*env)->DefineClass(env, embedded[class].name, NULL, (const jbyte *)fitted->bytes,
                               (jsize)fitted->len);
}

static int failed(JNIEnv *env, const char *what)
{
    if ((*env)->ExceptionCheck(env)) {
        if (bbf_log_enabled(BBF_LOG_DEBUG))
            (*env)->ExceptionDescribe(env);
        (*env)->ExceptionClear(env);
    }
    bbf_log(BBF_LOG_ERROR, "the boot shim cannot be %s on this JVM; tracking stays off", what);
    return BBF_EREFUSED;
}

/* Put our thread in the group of the JVM's own threads, "system", so that an application that
 * counts the threads of "main" does not see it. Falls back to "main". */
static void find_group(JNIEnv *env)
{
    jint n = 0;
    jthreadGroup *groups = NULL;
    if ((*bbf_agent.code)->GetTopThreadGroups(bbf_agent.code, &n, &groups) != 0)
        return;
    if (n > 0)
        bbf_agent.group = (*env)->NewGlobalRef(env, groups[0]);
    (*bbf_agent.code)->Deallocate(bbf_agent.code, (unsigned char *)groups);
}

/* Read the header layout that BBFlowKind found. */
static void find_kinds(JNIEnv *env, jclass kind)
{
    jfieldID at = (*env)->GetStaticFieldID(env, kind, "klassAt", "J");
    if (!thrown(env) && at != NULL)
        klass_at = (*env)->GetStaticLongField(env, kind, at);
}

int bbf_shim_kinds(unsigned *known)
{
    *known = 0;
    for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i += 2)
        *known += atomic_load_explicit(&kinds[i], memory_order_relaxed) != 0;
    return (int)klass_at;
}

static int check_links(JNIEnv *env, const struct fitted all[SHIM_ALL])
{
    struct bbf_link_found found = {.n = 0};
    for (int i = 0; i < SHIM_ALL; i++) {
        char missing[1000];
        if (bbf_link_check(env, all[i].bytes, &found, missing, sizeof missing))
            continue;
        bbf_log(BBF_LOG_ERROR,
                "this JVM (Java %d) has no %s, which bbflow %s calls; nothing was changed, and "
                "tracking stays off. Use a newer bbflow, or a JVM of Java %d to %d",
                bbf_agent.jdk, missing, BBF_VERSION, BBF_JDK_FIRST, BBF_JDK_LAST_TESTED);
        return BBF_EREFUSED;
    }
    return BBF_OK;
}

/* Looking for a constructor initialises each class here: their <clinit> call no native, and no
 * application thread, whose stack may be nearly full, runs one. */
static int define_all(JNIEnv *env, const struct fitted all[SHIM_ALL], jclass classes[SHIM_COUNT])
{
    for (int i = 0; i < SHIM_COUNT; i++)
        if ((classes[i] = define(env, (enum shim_class)i, &all[i])) == NULL)
            return failed(env, "defined");
    for (int i = 0; i < SHIM_COUNT; i++)
        if ((*env)->GetMethodID(env, classes[i], "<init>", "()V") == NULL)
            return failed(env, "initialised");
    return BBF_OK;
}

/* Check all links of all classes before the first class is defined. */
static int load_all(JNIEnv *env, jclass classes[SHIM_COUNT])
{
    struct fitted all[SHIM_ALL] = {{NULL, 0}};
    int err = BBF_OK;
    for (int i = 0; i < SHIM_ALL && err == BBF_OK; i++)
        err = fit((enum shim_class)i, &all[i]);
    if (err != BBF_OK || measure_arrays(env) != BBF_OK)
        err = failed(env, "fitted");
    if (err == BBF_OK)
        err = check_links(env, all);
    if (err == BBF_OK)
        err = define_all(env, all, classes);
    for (int i = 0; i < SHIM_ALL; i++)
        free(all[i].bytes);
    return err;
}

static int define_in_frame(JNIEnv *env)
{
    jclass other = (*env)->FindClass(env, "java/lang/BBFlowShim");
    if (other != NULL) {
        bbf_log(BBF_LOG_ERROR,
                "another build of bbflow is or was in this JVM, and its classes stay; "
                "attach that one again, or restart the JVM");
        return BBF_EREFUSED;
    }
    (*env)->ExceptionClear(env);
    jclass classes[SHIM_COUNT];
    int err = load_all(env, classes);
    if (err != BBF_OK)
        return err;
    find_kinds(env, classes[SHIM_BBFlowKind]);
    jfieldID slots =
        (*env)->GetStaticFieldID(env, classes[SHIM_BBFlowRecords], "SLOTS", "[[Ljava/lang/Object;");
    jobject array = slots != NULL
                        ? (*env)->GetStaticObjectField(env, classes[SHIM_BBFlowRecords], slots)
                        : NULL;
    if (array == NULL)
        return failed(env, "read");
    jclass thread = (*env)->FindClass(env, "java/lang/Thread");
    if (thread == NULL || (bbf_agent.tid = (*env)->GetFieldID(env, thread, "tid", "J")) == NULL)
        return failed(env, "linked");
    bbf_agent.natives = (*env)->NewGlobalRef(env, classes[SHIM_BBFlowNative]);
    bbf_agent.track = (*env)->NewGlobalRef(env, classes[SHIM_BBFlowTrack]);
    bbf_agent.kind = (*env)->NewGlobalRef(env, classes[SHIM_BBFlowKind]);
    bbf_agent.shim = (*env)->NewGlobalRef(env, classes[SHIM_BBFlowShim]);
    bbf_agent.slots = (*env)->NewGlobalRef(env, array);
    find_group(env);
    (*env)->DeleteLocalRef(env, thread);
    (*env)->DeleteLocalRef(env, array);
    return bbf_agent.shim != NULL && bbf_agent.slots != NULL && bbf_agent.natives != NULL &&
                   bbf_agent.track != NULL && bbf_agent.kind != NULL
               ? BBF_OK
               : failed(env, "kept");
}

int bbf_shim_define(JNIEnv *env)
{
    /* A reference for each class, and some: -Xcheck:jni wants room asked for. */
    if ((*env)->PushLocalFrame(env, 2 * SHIM_ALL) != 0)
        return failed(env, "defined");
    int err = define_in_frame(env);
    (void)(*env)->PopLocalFrame(env, NULL);
    return err;
}

bool bbf_shim_wait(JNIEnv *env, unsigned timeout_ms)
{
    jmethodID ping = (*env)->GetStaticMethodID(env, bbf_agent.natives, "ping", "()V");
    if (thrown(env) || ping == NULL)
        return false;
    for (unsigned waited = 0, pause = 1;; waited += pause, pause = pause < 50 ? 2 * pause : pause) {
        (*env)->CallStaticVoidMethod(env, bbf_agent.natives, ping);
        if (!thrown(env))
            return true;
        if (waited >= timeout_ms)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = pause * 1000000L}, NULL);
    }
}

bool bbf_shim_track(JNIEnv *env, bool on)
{
    jmethodID method = (*env)->GetStaticMethodID(env, bbf_agent.track, "begin", "(Z)V");
    if (!thrown(env) && method != NULL)
        (*env)->CallStaticVoidMethod(env, bbf_agent.track, method, on ? JNI_TRUE : JNI_FALSE);
    return !thrown(env) && method != NULL;
}

/* Call a static ()V. */
static bool call(JNIEnv *env, jclass class, const char *name)
{
    jmethodID method = (*env)->GetStaticMethodID(env, class, name, "()V");
    if (!thrown(env) && method != NULL)
        (*env)->CallStaticVoidMethod(env, class, method);
    return !thrown(env) && method != NULL;
}

bool bbf_shim_forget_kinds(JNIEnv *env)
{
    return call(env, bbf_agent.kind, "forget");
}

void bbf_shim_hook_exit(JNIEnv *env)
{
    if (bbf_agent.exit == NULL) {
        struct fitted fitted = {NULL, 0};
        jclass class =
            fit(SHIM_BBFlowExit, &fitted) == BBF_OK ? define(env, SHIM_BBFlowExit, &fitted) : NULL;
        free(fitted.bytes);
        if (!thrown(env) && class != NULL)
            bbf_agent.exit = (*env)->NewGlobalRef(env, class);
    }
    if (bbf_agent.exit == NULL || !call(env, bbf_agent.exit, "install"))
        bbf_log(BBF_LOG_ERROR, "gc=exit: no shutdown hook can be added; no collection at exit");
}

void bbf_shim_unhook_exit(JNIEnv *env)
{
    /* The JVM refuses this while it shuts down: then the hook runs, and finds no agent. */
    if (bbf_agent.exit != NULL)
        (void)call(env, bbf_agent.exit, "remove");
}
