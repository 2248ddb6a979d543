#include "agent/shim.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/state.h"
#include "core/err.h"
#include "core/log.h"

/* The classes in the order in which they are defined, and a static field of each that initialises
 * when it is asked for. */
#define SHIM_CLASSES(XX)                                                                           \
    XX(records, "BBFlowRecords", "[[Ljava/lang/Object;", "SLOTS")                                  \
    XX(kind, "BBFlowKind", "Ljava/lang/BBFlowKind;", "KINDS")                                      \
    XX(shim, "BBFlowShim", "Ljdk/internal/misc/Unsafe;", "U")                                      \
    XX(roots, "BBFlowRoots", "Ljdk/internal/misc/Unsafe;", "U")                                    \
    XX(ends, "BBFlowEnds", "Ljdk/internal/misc/Unsafe;", "U")                                      \
    XX(map, "BBFlowMap", "Ljdk/internal/misc/Unsafe;", "U")                                        \
    XX(track, "BBFlowTrack", "Ljdk/internal/misc/Unsafe;", "U")                                    \
    XX(parts, "BBFlowParts", "Ljdk/internal/misc/Unsafe;", "U")                                    \
    XX(misuse, "BBFlowMisuse", "Ljdk/internal/misc/Unsafe;", "U")                                  \
    XX(ping, "BBFlowPing", NULL, NULL)

/* Made by agent/embed.c from the compiled classes. */
#define XX(id, name, type, field)                                                                  \
    extern const unsigned char bbf_##id##_class[];                                                 \
    extern const size_t bbf_##id##_class_len;
SHIM_CLASSES(XX)
XX(exit, , , )
#undef XX

enum shim_class {
#define XX(id, name, type, field) SHIM_##id,
    SHIM_CLASSES(XX) SHIM_COUNT
#undef XX
};

/* Where an Object[]'s elements begin and how far apart they are; the type that Unsafe gives the
 * first in changed in JDK 25, so it is asked for by either. */
static uint64_t array_base, array_scale;

/* For BBFlowKind, which alone writes here and reads. Not in the tracker: it is of the JVM, not of
 * what is tracked, and as this library stays for good. */
static _Alignas(64) uint64_t kinds[2 * BBF_L_KIND_WAYS << BBF_L_KIND_GROUP_BITS];

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

static uint64_t address_of(const struct bbf_tracker *t, int number)
{
    switch (number) {
    case 13:
        return (uint64_t)(uintptr_t)kinds;
    case 11:
        return (uint64_t)(uintptr_t)t->rate_roots;
    case 12:
        return (uint64_t)(uintptr_t)t->after.base;
    case 10:
        return (uint64_t)(uintptr_t)t->map.base;
    case 8:
        return array_base;
    case 9:
        return array_scale;
    case 2:
        return (uint64_t)(uintptr_t)t->nodes.base;
    case 3:
        return (uint64_t)(uintptr_t)t->overflow.base;
    case 4:
        return (uint64_t)(uintptr_t)t->roots;
    case 5:
        return (uint64_t)(uintptr_t)t->stripes;
    case 6:
        return (uint64_t)(uintptr_t)t->shared;
    default: /* RECORD_MASK: every index is masked (D12.1) */
        return (t->records.size >> BBF_L_RECORD_SHIFT) - 1;
    }
}

/* Replace the stand-ins of BBF_SHIM_ADDRESSES among the pool's Long constants. The bytes are ours:
 * a length that is wrong here is a build that never ran. */
static void patch_addresses(const struct bbf_tracker *t, uint8_t *b)
{
    static const uint8_t size[21] = {
        [3] = 5,  [4] = 5,  [5] = 9,  [6] = 9,  [7] = 3,  [8] = 3,  [9] = 5,  [10] = 5,
        [11] = 5, [12] = 5, [15] = 4, [16] = 3, [17] = 5, [18] = 5, [19] = 3, [20] = 3};
    unsigned count = (unsigned)b[8] << 8 | b[9];
    uint8_t *p = b + 10;
    for (unsigned i = 1; i < count; i++) {
        if (p[0] == 5) {
            uint64_t value = 0;
            for (int k = 1; k <= 8; k++)
                value = value << 8 | p[k];
            if (value >> 40 == BBF_SHIM_MAGIC >> 40) {
                value = address_of(t, (int)(value >> 32 & 15)) + (uint32_t)value;
                for (int k = 8; k >= 1; k--, value >>= 8)
                    p[k] = (uint8_t)value;
            }
        }
        i += p[0] == 5 || p[0] == 6;
        p += p[0] == 1 ? 3 + ((unsigned)p[1] << 8 | p[2]) : size[p[0]];
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

/* All are initialised here: their <clinit> call no native, and an application's thread, whose stack
 * may end there, never runs one. */
static int define_all(JNIEnv *env, jclass classes[SHIM_COUNT])
{
    static const struct {
        const char *name, *type, *field;
        const unsigned char *bytes;
        const size_t *len;
    } table[SHIM_COUNT] = {
#define XX(id, name, type, field)                                                                  \
    {"java/lang/" name, type, field, bbf_##id##_class, &bbf_##id##_class_len},
        SHIM_CLASSES(XX)
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
                "attach that one again, or start the JVM anew");
        return BBF_EREFUSED;
    }
    (*env)->ExceptionClear(env);
    if (measure_arrays(env) != BBF_OK)
        return failed(env, "fitted");
    jclass classes[SHIM_COUNT];
    int err = define_all(env, classes);
    if (err != BBF_OK)
        return err;
    jfieldID slots =
        (*env)->GetStaticFieldID(env, classes[SHIM_records], "SLOTS", "[[Ljava/lang/Object;");
    jobject array =
        slots != NULL ? (*env)->GetStaticObjectField(env, classes[SHIM_records], slots) : NULL;
    if (array == NULL)
        return failed(env, "read");
    jclass thread = (*env)->FindClass(env, "java/lang/Thread");
    if (thread == NULL || (bbf_agent.tid = (*env)->GetFieldID(env, thread, "tid", "J")) == NULL)
        return failed(env, "linked");
    bbf_agent.ping = (*env)->NewGlobalRef(env, classes[SHIM_ping]);
    bbf_agent.track = (*env)->NewGlobalRef(env, classes[SHIM_track]);
    bbf_agent.shim = (*env)->NewGlobalRef(env, classes[SHIM_shim]);
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
        jclass class = define(env, "java/lang/BBFlowExit", bbf_exit_class, bbf_exit_class_len);
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
