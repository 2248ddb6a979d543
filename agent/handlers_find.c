/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/handlers_find.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "agent/classes/nettys.h"
#include "agent/jvm/loaded_classes.h"
#include "agent/state.h"
#include "agent/thread.h"
#include "core/clock.h"

static const char api[] = "com/example/bytebuf/api/metrics/MetricHandler";
enum { MAX_LOADERS = 256 };

/* The hook comes before the class is among the loaded ones, by how much depends on other agents. */
static const unsigned looks_ms[] = {100, 1000, 5000};
enum { LOOKS = sizeof looks_ms / sizeof looks_ms[0] };

static _Atomic bool watched;
static _Atomic unsigned loads;

/* Agent thread. */
static unsigned seen;       /* of `loads` */
static unsigned looks_done; /* since then */
static uint64_t since_ms;
static bool first; /* the classes loaded earlier have not been looked at */

static bool is_wanted(const char *name, bool *is_api)
{
    size_t prefix;
    *is_api = strcmp(name, api) == 0;
    return *is_api || bbf_nettys_is_bytebuf(name, &prefix);
}

void bbf_handlers_watch(bool on)
{
    first = on;
    looks_done = LOOKS;
    atomic_store_explicit(&watched, on, memory_order_relaxed);
}

void bbf_handlers_loads(const char *name)
{
    bool is_api;
    if (!atomic_load_explicit(&watched, memory_order_relaxed) || !is_wanted(name, &is_api))
        return;
    atomic_fetch_add_explicit(&loads, 1, memory_order_relaxed);
    bbf_thread_wake();
}

unsigned bbf_handlers_look_in_ms(void)
{
    uint64_t now = (uint64_t)bbf_monotonic_ms();
    unsigned n = atomic_load_explicit(&loads, memory_order_relaxed);
    if (n != seen) {
        seen = n;
        since_ms = now;
        looks_done = 0;
    }
    if (first)
        return 0;
    if (looks_done == LOOKS)
        return UINT32_MAX;
    uint64_t due = since_ms + looks_ms[looks_done];
    return due > now ? (unsigned)(due - now) : 0;
}

struct look {
    jobjectArray loaders;
    jsize n;
    bool has_api;
};

static bool visit(JNIEnv *env, jclass class, const char *name, void *ctx)
{
    struct look *look = ctx;
    jobject loader = NULL;
    bool is_api;

    if (!is_wanted(name, &is_api) ||
        (*bbf_agent.code)->GetClassLoader(bbf_agent.code, class, &loader) != 0 || loader == NULL)
        return true;
    look->has_api = look->has_api || is_api;
    (*env)->SetObjectArrayElement(env, look->loaders, look->n++, loader);
    return look->n < MAX_LOADERS;
}

jobjectArray bbf_handlers_look(JNIEnv *env, bool *has_api)
{
    struct look look = {.n = 0};
    if (!first)
        looks_done++;
    first = false;
    jclass kind = (*env)->FindClass(env, "java/lang/ClassLoader");
    look.loaders = kind != NULL ? (*env)->NewObjectArray(env, MAX_LOADERS, kind, NULL) : NULL;
    if (look.loaders == NULL)
        (*env)->ExceptionClear(env);
    else
        bbf_loaded_classes_visit(env, visit, &look);
    *has_api = look.has_api;
    return look.loaders;
}
