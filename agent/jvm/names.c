/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jvm/names.h"

#include <string.h>

#include "agent/jvm/memory.h"
#include "agent/state.h"

enum { MAX_LOCALS = 65536 };

/* "Lcom/app/Main;" becomes "com/app/Main", in place. False: an array or a primitive type. */
static bool strip(char *signature)
{
    size_t len = strlen(signature);
    if (signature[0] != 'L' || len <= 2)
        return false;
    memmove(signature, signature + 1, len - 2);
    signature[len - 2] = '\0';
    return true;
}

char *bbf_names_of(jclass class)
{
    char *signature = NULL;
    if ((*bbf_agent.code)->GetClassSignature(bbf_agent.code, class, &signature, NULL) != 0)
        return NULL;
    if (strip(signature))
        return signature;
    bbf_jvm_free(signature);
    return NULL;
}

/* Main$$Lambda$14.0x0000000800c01200, Main$$Lambda/0x00007fbe244a9378, Main.0x0000000800c01200 */
size_t bbf_names_stable_len(const char *name, size_t len)
{
    const size_t lambda = sizeof BBF_NAMES_LAMBDA - 1;
    const char *at = memmem(name, len, BBF_NAMES_LAMBDA, lambda);
    size_t end = at != NULL ? (size_t)(at - name) + lambda : len;
    if (end < len && strchr("$./+", name[end]) != NULL)
        return end;
    for (size_t i = 1; i + 3 < len; i++)
        if (strchr("./+", name[i]) != NULL && name[i + 1] == '0' && name[i + 2] == 'x')
            return i;
    return len;
}

bool bbf_names_make_stable(char *name)
{
    const size_t lambda = sizeof BBF_NAMES_LAMBDA - 1, len = strlen(name);
    size_t left = bbf_names_stable_len(name, len);
    name[left] = '\0';
    return left < len && left > lambda && strcmp(name + left - lambda, BBF_NAMES_LAMBDA) == 0;
}

bool bbf_names_copy(jclass class, char *out, size_t size)
{
    char *signature = NULL;
    out[0] = '\0';
    if ((*bbf_agent.code)->GetClassSignature(bbf_agent.code, class, &signature, NULL) != 0)
        return false;
    if (strip(signature) && strlen(signature) < size)
        memcpy(out, signature, strlen(signature) + 1);
    bbf_jvm_free(signature);
    return true;
}

void bbf_names_each_class(JNIEnv *env, void *ctx,
                          void (*visit)(JNIEnv *env, void *ctx, jclass class, const char *name))
{
    jvmtiEnv *jvmti = bbf_agent.code;
    jclass *loaded = NULL;
    jint n = 0;
    /* GetLoadedClasses makes a local reference for each; -Xcheck:jni wants room asked for. */
    if ((*env)->PushLocalFrame(env, MAX_LOCALS) != 0) {
        (*env)->ExceptionClear(env);
        return;
    }
    if ((*jvmti)->GetLoadedClasses(jvmti, &n, &loaded) != 0)
        n = 0;
    for (jint i = 0; i < n; i++) {
        char *name = bbf_names_of(loaded[i]);
        if (name != NULL)
            visit(env, ctx, loaded[i], name);
        bbf_jvm_free(name);
    }
    bbf_jvm_free(loaded);
    (void)(*env)->PopLocalFrame(env, NULL);
}
