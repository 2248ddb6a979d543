/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jvm/loaded_classes.h"

#include <string.h>

#include "agent/jvm/memory.h"
#include "agent/state.h"

enum { MAX_LOCALS = 65536 };

void bbf_loaded_classes_visit(JNIEnv *env,
                              bool (*visit)(JNIEnv *env, jclass class, const char *name, void *ctx),
                              void *ctx)
{
    jint n = 0;
    jclass *classes = NULL;
    bool more = true;

    /* GetLoadedClasses makes a local reference for each; -Xcheck:jni wants room asked for. */
    if ((*env)->PushLocalFrame(env, MAX_LOCALS) != 0) {
        (*env)->ExceptionClear(env);
        return;
    }
    if ((*bbf_agent.code)->GetLoadedClasses(bbf_agent.code, &n, &classes) != 0)
        n = 0;
    for (jint i = 0; i < n && more; i++) {
        char *signature = NULL;
        if ((*bbf_agent.code)->GetClassSignature(bbf_agent.code, classes[i], &signature, NULL) != 0)
            continue;
        size_t len = strlen(signature);
        if (signature[0] == 'L' && len > 2) {
            signature[len - 1] = '\0';
            more = visit(env, classes[i], signature + 1, ctx);
        }
        bbf_jvm_free(signature);
    }
    bbf_jvm_free(classes);
    (void)(*env)->PopLocalFrame(env, NULL);
}
