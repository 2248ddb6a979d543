/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/custom_types.h"

#include <stdio.h>
#include <string.h>

#include "agent/jvm/class_parts.h"
#include "agent/jvm/frames.h"
#include "agent/jvm/memory.h"
#include "agent/jvm/names.h"
#include "instrument/plan.h"
#include "agent/rules.h"
#include "agent/state.h"
#include "core/log.h"
#include "core/track.h"

enum {
    STATIC_NATIVE_ABSTRACT = 0x0008 | 0x0100 | 0x0400, /* JVMS table 4.6-A */
    DEPTH = 64,                                        /* of super classes */
    NAME = 512
};

unsigned bbf_custom_types_closes(jvmtiEnv *jvmti, const char *list, jmethodID method)
{
    char *name = NULL;
    jint modifiers = 0;
    if ((*jvmti)->GetMethodModifiers(jvmti, method, &modifiers) != 0 ||
        (modifiers & STATIC_NATIVE_ABSTRACT) != 0 ||
        (*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL) != 0)
        return 0;
    unsigned closes = bbf_track_methods(list, name, strlen(name));
    bbf_jvm_free(name);
    return closes;
}

/* Result of looking at a class and all its super types. */
struct answer {
    const char *list;
    unsigned meant;  /* entries whose class is among them */
    unsigned hooked; /* entries whose method runs code that we hook */
    unsigned other;  /* entries whose method was found in a class nearer to the object */
};

/* Internal name; "" if it does not fit, or is that of a hidden class, whose bytes no agent gets. */
static void name_of(jclass type, char out[NAME])
{
    if (!bbf_names_copy(type, out, NAME) || strchr(out, '.') != NULL)
        out[0] = '\0';
}

static bool is_rewritten(jclass type, const char *name)
{
    jobject loader = NULL;
    return name[0] != '\0' && !bbf_plan_is_never_followed(name, strlen(name)) &&
           (*bbf_agent.code)->GetClassLoader(bbf_agent.code, type, &loader) == 0 && loader != NULL;
}

/* The methods of one class or interface; `first`: those nearer to the object come first. */
static void look_at(struct answer *a, jclass type)
{
    jmethodID *methods = NULL;
    jint n = 0;
    char name[NAME];
    name_of(type, name);
    a->meant |= bbf_track_classes(a->list, name, strlen(name));
    if (bbf_frames_of_class(type, &n, &methods) != 0)
        return;
    unsigned with_code = 0, native = 0;
    for (jint i = 0; i < n; i++) {
        char *method = NULL;
        jint modifiers = 0;
        with_code |= bbf_custom_types_closes(bbf_agent.code, a->list, methods[i]);
        if ((*bbf_agent.code)->GetMethodModifiers(bbf_agent.code, methods[i], &modifiers) != 0 ||
            (modifiers & 0x0100) == 0 ||
            (*bbf_agent.code)->GetMethodName(bbf_agent.code, methods[i], &method, NULL, NULL) != 0)
            continue;
        native |= bbf_track_methods(a->list, method, strlen(method));
        bbf_jvm_free(method);
    }
    bbf_jvm_free(methods);
    if (is_rewritten(type, name))
        a->hooked |= with_code & ~a->other;
    a->other |= with_code | native;
}

static bool look_at_interface(JNIEnv *env, void *answer, jclass interface)
{
    (void)env;
    look_at(answer, interface);
    return false;
}

/* Super classes first, as a call finds its method; then interfaces, for default methods. */
static void ask(JNIEnv *env, struct answer *a, jclass type)
{
    jclass chain[DEPTH];
    int n = 0;
    for (jclass at = type; at != NULL && n < DEPTH; at = (*env)->GetSuperclass(env, at))
        chain[n++] = at;
    for (int i = 0; i < n; i++)
        look_at(a, chain[i]);
    for (int i = 0; i < n; i++) {
        (void)bbf_class_any_interface(env, chain[i], look_at_interface, a);
        if (i > 0)
            (*env)->DeleteLocalRef(env, chain[i]);
    }
}

/* ---- classes that are left out: said by the agent thread, never by the application's ---- */

static struct {
    char name[NAME];
    _Atomic int state; /* 0 free, 1 being written, 2 to be said */
} left_out[8];
static _Atomic uint32_t more; /* for which there was no place */

static void hand_over(const char *name)
{
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        int free = 0;
        if (!atomic_compare_exchange_strong(&left_out[i].state, &free, 1))
            continue;
        memcpy(left_out[i].name, name, NAME);
        atomic_store_explicit(&left_out[i].state, 2, memory_order_release);
        return;
    }
    atomic_fetch_add(&more, 1);
}

void bbf_custom_types_poll(void)
{
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        if (atomic_load_explicit(&left_out[i].state, memory_order_acquire) != 2)
            continue;
        bbf_log(BBF_LOG_WARN,
                "track: %s is not followed: bbflow cannot see the call that closes it",
                left_out[i].name);
        atomic_store(&left_out[i].state, 0);
    }
    uint32_t n = atomic_exchange(&more, 0);
    if (n > 0)
        bbf_log(BBF_LOG_WARN, "track: %u more classes are not followed", (unsigned)n);
}

static uint64_t classify(JNIEnv *env, jclass type, const struct bbf_rules *rules)
{
    struct bbf_tracker *t = bbf_agent.tracker;
    char name[NAME], method[NAME];
    if (rules == NULL || rules->options.track == NULL)
        return 0;
    struct answer a = {.list = rules->options.track};
    ask(env, &a, type);
    name_of(type, name);
    if (a.meant == 0 || name[0] == '\0')
        return 0;
    if ((a.meant & ~a.hooked) != 0) {
        hand_over(name);
        return 0;
    }
    size_t len = 0;
    const char *end = bbf_track_method(a.list, (unsigned)__builtin_ctz(a.meant), &len);
    snprintf(method, sizeof method, "%.*s", (int)len, end);
    struct bbf_site root = {.class_name = name,
                            .method = (char *)(uintptr_t) "<init>",
                            .descriptor = (char *)(uintptr_t) "",
                            .kind = BBF_SITE_ROOT,
                            .memory = BBF_MEM_UNKNOWN};
    uint64_t number = bbf_class_intern_as(t, name, method), site = bbf_site_intern(t, &root);
    return number == 0 || site == 0 ? 0 : number | (uint64_t)a.meant << 16 | site << 32;
}

uint64_t bbf_custom_types_classify(JNIEnv *env, jclass type)
{
    const struct bbf_rules_hold hold = bbf_rules_hold();
    uint64_t result = classify(env, type, hold.rules);
    bbf_rules_let_go(&hold);
    return result;
}
