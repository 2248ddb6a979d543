/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/callers.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "agent/jvm/frames.h"
#include "agent/jvm/memory.h"
#include "agent/jvm/names.h"
#include "instrument/netty.h"
#include "agent/state.h"

enum { FRAMES = 16, METHODS = 8192, NAME = 1024 };

/* Known facts about a method: its sites, or that it only forwards. */
#define KNOWN                  (UINT64_C(1) << 63)
#define FORWARDS               (UINT64_C(1) << 62)
#define SITES(retain, release) (KNOWN | (uint64_t)(retain) << 16 | (release))

/* By hash; a later method may take another's place. `about` is 0 while an entry is changed. */
static struct {
    _Atomic(jmethodID) method;
    _Atomic uint64_t about;
} known[METHODS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of those who write */

static size_t place_of(jmethodID method)
{
    return (size_t)((uint64_t)(uintptr_t)method * UINT64_C(0x9E3779B97F4A7C15) >> 51) % METHODS;
}

static uint64_t recall(jmethodID method)
{
    size_t i = place_of(method);
    if (atomic_load_explicit(&known[i].method, memory_order_acquire) != method)
        return 0;
    uint64_t about = atomic_load_explicit(&known[i].about, memory_order_acquire);
    /* Again: what was read is of this method if the entry is still. */
    return atomic_load_explicit(&known[i].method, memory_order_acquire) == method ? about : 0;
}

static void remember(jmethodID method, uint64_t about)
{
    size_t i = place_of(method);
    if (pthread_mutex_trylock(&lock) != 0)
        return; /* we are in a hook, which never waits: the next call looks it up again */
    atomic_store_explicit(&known[i].about, 0, memory_order_release);
    atomic_store_explicit(&known[i].method, method, memory_order_release);
    atomic_store_explicit(&known[i].about, about, memory_order_release);
    pthread_mutex_unlock(&lock);
}

static bool starts(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* By class (internal name) and method. */
static bool forwards(const char *name, const char *method)
{
    static const char *const counting[] = {"retain", "release",     "retain0", "release0",
                                           "touch",  "safeRelease", "close",   "deallocate"};
    size_t prefix = bbf_netty_prefix(name, strlen(name));
    if (starts(name, "java/") || starts(name, "jdk/") || starts(name, "sun/"))
        return true;
    if (prefix == 0)
        return false;
    if (starts(name + prefix, "buffer/") || starts(name + prefix, "util/"))
        return true;
    for (size_t i = 0; i < sizeof counting / sizeof *counting; i++)
        if (strcmp(method, counting[i]) == 0)
            return true;
    return false;
}

static uint32_t site_of(const char *name, const char *method, const char *suffix,
                        const char *descriptor, enum bbf_site_kind kind)
{
    char text[NAME];
    int n = snprintf(text, sizeof text, "%s%s", method, suffix);
    struct bbf_site like = {.class_name = (char *)(uintptr_t)name,
                            .method = text,
                            .descriptor = (char *)(uintptr_t)descriptor,
                            .kind = kind,
                            .memory = BBF_MEM_UNKNOWN};
    return n < 0 || (size_t)n >= sizeof text ? 0 : bbf_site_intern(bbf_agent.tracker, &like);
}

static uint64_t find_out(JNIEnv *env, jmethodID id)
{
    jvmtiEnv *jvmti = bbf_agent.code;
    jclass class = NULL;
    char *name = NULL, *method = NULL, *descriptor = NULL;
    uint64_t about = KNOWN | FORWARDS;
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, id, &class) == 0 &&
        (name = bbf_names_of(class)) != NULL &&
        (*jvmti)->GetMethodName(jvmti, id, &method, &descriptor, NULL) == 0 &&
        !forwards(name, method))
        about = SITES(site_of(name, method, "_retain", descriptor, BBF_SITE_RETAIN),
                      site_of(name, method, "_release", descriptor, BBF_SITE_DECREMENT));
    bbf_jvm_free(name);
    bbf_jvm_free(method);
    bbf_jvm_free(descriptor);
    if (class != NULL)
        (*env)->DeleteLocalRef(env, class);
    return about;
}

uint32_t bbf_caller_site(JNIEnv *env, uint32_t use)
{
    jvmtiFrameInfo frames[FRAMES];
    jint n = bbf_frames_here(frames, FRAMES);
    if (n < 0) {
        bbf_node_drop_step(bbf_agent.tracker);
        return 0;
    }
    for (jint i = 0; i < n; i++) {
        uint64_t about = recall(frames[i].method);
        if (about == 0) {
            about = find_out(env, frames[i].method);
            remember(frames[i].method, about);
        }
        if ((about & FORWARDS) == 0)
            return (uint32_t)(use == BBF_L_USE_RETAIN ? about >> 16 : about) & 0xffff;
    }
    return 0;
}
