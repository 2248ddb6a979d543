/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jvm/class_parts.h"

#include "agent/jvm/memory.h"
#include "agent/state.h"

enum {
    ACC_STATIC = 8,
    DEPTH = 8 /* a level costs local references, and time if ways meet again */
};

static bool any_interface(JNIEnv *env, jclass type,
                          bool (*visit)(JNIEnv *env, void *ctx, jclass interface), void *ctx,
                          int depth)
{
    jclass *interfaces = NULL;
    jint n = 0;
    bool found = false;
    if (depth > DEPTH)
        return false;
    jvmtiError err =
        (*bbf_agent.code)->GetImplementedInterfaces(bbf_agent.code, type, &n, &interfaces);
    if (err == JVMTI_ERROR_OUT_OF_MEMORY)
        bbf_tracker_fault(bbf_agent.tracker);
    if (err != JVMTI_ERROR_NONE)
        return false;
    for (jint i = 0; i < n; i++) {
        found = found || visit(env, ctx, interfaces[i]) ||
                any_interface(env, interfaces[i], visit, ctx, depth + 1);
        (*env)->DeleteLocalRef(env, interfaces[i]);
    }
    bbf_jvm_free(interfaces);
    return found;
}

bool bbf_class_any_interface(JNIEnv *env, jclass type,
                             bool (*visit)(JNIEnv *env, void *ctx, jclass interface), void *ctx)
{
    return any_interface(env, type, visit, ctx, 0);
}

bool bbf_class_any_field(jclass type,
                         bool (*visit)(void *ctx, const char *name, const char *descriptor,
                                       bool is_static),
                         void *ctx, bool otherwise)
{
    jvmtiEnv *jvmti = bbf_agent.code;
    jfieldID *fields = NULL;
    jint n = 0;
    bool found = false;
    if ((*jvmti)->GetClassFields(jvmti, type, &n, &fields) != 0)
        return otherwise;
    for (jint i = 0; i < n && !found; i++) {
        char *name = NULL, *descriptor = NULL;
        jint modifiers = 0;
        if ((*jvmti)->GetFieldName(jvmti, type, fields[i], &name, &descriptor, NULL) == 0 &&
            (*jvmti)->GetFieldModifiers(jvmti, type, fields[i], &modifiers) == 0)
            found = visit(ctx, name, descriptor, (modifiers & ACC_STATIC) != 0);
        bbf_jvm_free(name);
        bbf_jvm_free(descriptor);
    }
    bbf_jvm_free(fields);
    return found;
}
