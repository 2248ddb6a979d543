/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/netty_version.h"

#include <stdio.h>
#include <string.h>

#include "agent/jvm/names.h"
#include "agent/state.h"

static jobject call(JNIEnv *env, jobject o, const char *class_name, const char *method,
                    const char *descriptor)
{
    if (o == NULL)
        return NULL;
    jclass class = (*env)->FindClass(env, class_name);
    jmethodID id = class == NULL ? NULL : (*env)->GetMethodID(env, class, method, descriptor);
    jobject result = id == NULL ? NULL : (*env)->CallObjectMethod(env, o, id);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        result = NULL;
    }
    return result;
}

static void version_in(const char *location, char *out, size_t size)
{
    /* …/netty-buffer-4.1.140.Final.jar: from the last '-' that a digit follows to ".jar" */
    const char *end = strstr(location, ".jar"), *from = NULL;
    for (const char *p = location; end != NULL && p < end; p++)
        if (*p == '-' && p[1] >= '0' && p[1] <= '9')
            from = p + 1;
    if (from != NULL)
        snprintf(out, size, "%.*s", (int)(end - from), from);
}

static void version_of(JNIEnv *env, jclass class, char *out, size_t size)
{
    if ((*env)->PushLocalFrame(env, 16) != 0) {
        (*env)->ExceptionClear(env);
        return;
    }
    jobject domain = call(env, class, "java/lang/Class", "getProtectionDomain",
                          "()Ljava/security/ProtectionDomain;");
    jobject source = call(env, domain, "java/security/ProtectionDomain", "getCodeSource",
                          "()Ljava/security/CodeSource;");
    jobject url = call(env, source, "java/security/CodeSource", "getLocation", "()Ljava/net/URL;");
    jstring file = call(env, url, "java/net/URL", "getPath", "()Ljava/lang/String;");
    const char *text = file == NULL ? NULL : (*env)->GetStringUTFChars(env, file, NULL);
    if (text != NULL) {
        version_in(text, out, size);
        (*env)->ReleaseStringUTFChars(env, file, text);
    }
    (*env)->ExceptionClear(env);
    (*env)->PopLocalFrame(env, NULL);
}

struct wanted {
    char name[BBF_MAX_PREFIX + 32];
    char *out;
    size_t size;
};

static void visit_bytebuf(JNIEnv *env, void *ctx, jclass class, const char *name)
{
    struct wanted *wanted = ctx;
    if (strcmp(name, wanted->name) == 0)
        version_of(env, class, wanted->out, wanted->size);
}

void bbf_netty_version(JNIEnv *env, const char *prefix, char *out, size_t size)
{
    struct wanted wanted = {.out = out, .size = size};
    snprintf(out, size, "unknown");
    snprintf(wanted.name, sizeof wanted.name, "%s.buffer.ByteBuf", prefix);
    for (char *p = wanted.name; *p != '\0'; p++)
        *p = *p == '.' ? '/' : *p;
    bbf_names_each_class(env, &wanted, visit_bytebuf);
}
