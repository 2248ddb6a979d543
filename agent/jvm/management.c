/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jvm/management.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "agent/jvm/loaded_classes.h"
#include "agent/state.h"
#include "core/clock.h"

static const char factory[] = "java/lang/management/ManagementFactory";
enum { SETTLE_MS = 1000 };

static _Atomic bool loaded; /* the factory is, or is about to be */
static bool looked;         /* at the classes loaded earlier; agent thread, as below */
static uint64_t first_ms;   /* when the server was first seen; 0: not yet */

void bbf_management_loads(const char *name)
{
    if (strcmp(name, factory) == 0)
        atomic_store_explicit(&loaded, true, memory_order_relaxed);
}

static bool is_other(JNIEnv *env, jclass class, const char *name, void *found)
{
    (void)env;
    (void)class;
    *(bool *)found = strcmp(name, factory) == 0;
    return !*(bool *)found;
}

/* Loaded while there was no hook: attached, or from an AOT cache. */
static bool was_loaded(JNIEnv *env)
{
    bool found = false;
    bbf_loaded_classes_visit(env, is_other, &found);
    return found;
}

static bool thrown(JNIEnv *env)
{
    bool pending = (*env)->ExceptionCheck(env);
    if (pending)
        (*env)->ExceptionClear(env);
    return pending;
}

bool bbf_management_has_module(JNIEnv *env)
{
    jclass class = (*env)->FindClass(env, factory);
    bool found = !thrown(env) && class != NULL;
    (*env)->DeleteLocalRef(env, class);
    return found;
}

static jobject read_server(JNIEnv *env, jclass class, bool *unreadable)
{
    jint status = 0;
    if ((*bbf_agent.code)->GetClassStatus(bbf_agent.code, class, &status) != 0 ||
        (status & JVMTI_CLASS_STATUS_INITIALIZED) == 0)
        return NULL;
    jfieldID field = (*env)->GetStaticFieldID(env, class, "platformMBeanServer",
                                              "Ljavax/management/MBeanServer;");
    *unreadable = thrown(env) || field == NULL;
    return *unreadable ? NULL : (*env)->GetStaticObjectField(env, class, field);
}

jobject bbf_management_server(JNIEnv *env, bool *unreadable)
{
    *unreadable = false;
    if (!looked && was_loaded(env))
        atomic_store_explicit(&loaded, true, memory_order_relaxed);
    looked = true;
    if (!atomic_load_explicit(&loaded, memory_order_relaxed))
        return NULL;
    jclass class = (*env)->FindClass(env, factory);
    jobject server = NULL;
    if (!thrown(env) && class != NULL)
        server = read_server(env, class, unreadable);
    (*env)->DeleteLocalRef(env, class);
    /* The field is set before the platform's own beans are in the server, and is not volatile. */
    uint64_t now = (uint64_t)bbf_monotonic_ms();
    first_ms = server == NULL ? 0 : first_ms == 0 ? now : first_ms;
    if (server != NULL && now - first_ms < SETTLE_MS) {
        (*env)->DeleteLocalRef(env, server);
        return NULL;
    }
    return server;
}

void bbf_management_forget(void)
{
    looked = false;
    first_ms = 0;
}
