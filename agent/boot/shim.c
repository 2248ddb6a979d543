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
#define XX(name, field, descriptor)                                                                \
    extern const unsigned char bbf_##name##_class[];                                               \
    extern const size_t bbf_##name##_class_len;
BBF_SHIM_CLASSES(XX)
BBF_SHIM_CLASSES_ON_DEMAND(XX)
#undef XX

enum shim_class {
#define XX(name, field, descriptor) SHIM_##name,
    BBF_SHIM_CLASSES(XX) SHIM_COUNT
#undef XX
};

/* Where an Object[]'s elements begin and how far apart they are; the type that Unsafe gives the
 * first in changed in JDK 25, so it is asked for by either. */
static uint64_t array_base, array_scale;

/* For BBFlowKind, which alone writes here and reads. Not in the tracker: it is of the JVM, not of
 * what is tracked, and as this library stays for good. */
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
    jclass array = (*env)->FindClass(env, "[Ljava/lang/Object;");
    if (thrown(env))
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
    return 0; /* not reached: the stand-ins are generated from the same list */
}

/* Replace the stand-ins of BBF_SHIM_ADDRESSES among the pool's Long constants. The bytes are ours:
 * a length that is wrong here is a build that never ran. */
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
static int adapt(const unsigned char *bytes, size_t len, uint8_t **out, size_t *out_len)
{
    static const struct bbf_cf_rename renames[] = {
        {"currentThread", "currentCarrierThread"},
        {"getReference", "getObject"},
        {"putReference", "putObject"},
        {"compareAndSetReference", "compareAndSetObject"},
        {"Ljdk/internal/vm/annotation/Hidden;", "Ljava/lang/invoke/LambdaForm$Hidden;"},
    };
    bool carrier = bbf_agent.jdk >= 21, old = bbf_agent.jdk < 12;
    return bbf_cf_rename_utf8(bytes, len, renames + (carrier ? 0 : 1),
                              old       ? 4
                              : carrier ? 1
                                        : 0,
                              out, out_len);
}

static jclass define(JNIEnv *env, const char *name, const unsigned char *bytes, size_t len)
{
    uint8_t *adapted;
    size_t adapted_len;
    if (adapt(bytes, len, &adapted, &adapted_len) != BBF_OK)
        return NULL;
    patch_addresses(bbf_agent.tracker, adapted);
    jclass class = (*env)->DefineClass(env, name, NULL, (const jbyte *)adapted, (jsize)adapted_len);
    free(adapted);
    return class;
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

/* Where the JVM's own threads are: a program counts those of its group "main". Else there, too. */
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

/* What BBFlowKind has found out about headers. */
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

/* Before anything is defined. */
static int check_links(JNIEnv *env)
{
    static const struct {
        const unsigned char *bytes;
        const size_t *len;
    } table[] = {
#define XX(name, field, descriptor) {bbf_##name##_class, &bbf_##name##_class_len},
        BBF_SHIM_CLASSES(XX) BBF_SHIM_CLASSES_ON_DEMAND(XX)
#undef XX
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char missing[1000];
        uint8_t *adapted;
        size_t len;
        if (adapt(table[i].bytes, *table[i].len, &adapted, &len) != BBF_OK)
            return failed(env, "fitted");
        bool linked = bbf_link_check(env, adapted, missing, sizeof missing);
        free(adapted);
        if (!linked) {
            bbf_log(BBF_LOG_ERROR,
                    "this JVM (Java %d) has no %s, which bbflow %s calls; nothing was changed, and "
                    "tracking stays off. Use a newer bbflow, or a JVM of Java %d to %d",
                    bbf_agent.jdk, missing, BBF_VERSION, BBF_JDK_FIRST, BBF_JDK_LAST_TESTED);
            return BBF_EREFUSED;
        }
    }
    return BBF_OK;
}

/* All are initialised here: their <clinit> call no native, and an application's thread, whose stack
 * may end there, never runs one. */
static int define_all(JNIEnv *env, jclass classes[SHIM_COUNT])
{
    static const struct {
        const char *name, *type, *field;
        const unsigned char *bytes;
        const size_t *len;
    } table[SHIM_COUNT] = {
#define XX(name, field, descriptor)                                                                \
    {"java/lang/" #name, descriptor, field, bbf_##name##_class, &bbf_##name##_class_len},
        BBF_SHIM_CLASSES(XX)
#undef XX
    };
    for (int i = 0; i < SHIM_COUNT; i++)
        if ((classes[i] = define(env, table[i].name, table[i].bytes, *table[i].len)) == NULL)
            return failed(env, "defined");
    for (int i = 0; i < SHIM_COUNT; i++)
        if (table[i].field != NULL &&
            (*env)->GetStaticFieldID(env, classes[i], table[i].field, table[i].type) == NULL)
            return failed(env, "initialised");
    return BBF_OK;
}

int bbf_shim_define(JNIEnv *env)
{
    jclass theirs = (*env)->FindClass(env, "java/lang/BBFlowShim");
    if (theirs != NULL) {
        bbf_log(BBF_LOG_ERROR,
                "another build of bbflow is or was in this JVM, and its classes stay; "
                "attach that one again, or restart the JVM");
        return BBF_EREFUSED;
    }
    (*env)->ExceptionClear(env);
    int err = check_links(env);
    if (err != BBF_OK)
        return err;
    if (measure_arrays(env) != BBF_OK)
        return failed(env, "fitted");
    jclass classes[SHIM_COUNT];
    err = define_all(env, classes);
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
    bbf_agent.ping = (*env)->NewGlobalRef(env, classes[SHIM_BBFlowPing]);
    bbf_agent.track = (*env)->NewGlobalRef(env, classes[SHIM_BBFlowTrack]);
    bbf_agent.shim = (*env)->NewGlobalRef(env, classes[SHIM_BBFlowShim]);
    bbf_agent.slots = (*env)->NewGlobalRef(env, array);
    find_group(env);
    (*env)->DeleteLocalRef(env, thread);
    (*env)->DeleteLocalRef(env, array);
    return bbf_agent.shim != NULL && bbf_agent.slots != NULL && bbf_agent.ping != NULL &&
                   bbf_agent.track != NULL
               ? BBF_OK
               : failed(env, "kept");
}

bool bbf_shim_wait(JNIEnv *env, unsigned timeout_ms)
{
    jmethodID ping = (*env)->GetStaticMethodID(env, bbf_agent.ping, "ping", "()V");
    if (thrown(env) || ping == NULL)
        return false;
    for (unsigned waited = 0, pause = 1;; waited += pause, pause = pause < 50 ? 2 * pause : pause) {
        (*env)->CallStaticVoidMethod(env, bbf_agent.ping, ping);
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

/* Call a static ()V of BBFlowExit. */
static bool call_exit(JNIEnv *env, const char *name)
{
    jmethodID method = (*env)->GetStaticMethodID(env, bbf_agent.exit, name, "()V");
    if (!thrown(env) && method != NULL)
        (*env)->CallStaticVoidMethod(env, bbf_agent.exit, method);
    return !thrown(env) && method != NULL;
}

void bbf_shim_hook_exit(JNIEnv *env)
{
    if (bbf_agent.exit == NULL) {
        jclass class =
            define(env, "java/lang/BBFlowExit", bbf_BBFlowExit_class, bbf_BBFlowExit_class_len);
        if (!thrown(env) && class != NULL)
            bbf_agent.exit = (*env)->NewGlobalRef(env, class);
    }
    if (bbf_agent.exit == NULL || !call_exit(env, "install"))
        bbf_log(BBF_LOG_ERROR, "gc=exit: no shutdown hook can be added; no collection at exit");
}

void bbf_shim_unhook_exit(JNIEnv *env)
{
    /* Refused while the JVM shuts down: then the hook runs, and finds nobody. */
    if (bbf_agent.exit != NULL)
        (void)call_exit(env, "remove");
}
