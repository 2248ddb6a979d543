/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/commands/discovery.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"

static const char *const names[] = {"btrace.port", "btrace.address", "btrace.wireio",
                                    "btrace.auth.required", "btrace.auth.tokenFile"};
enum { NAMES = sizeof names / sizeof names[0] };

static bool failed(JNIEnv *env)
{
    if (!(*env)->ExceptionCheck(env))
        return false;
    (*env)->ExceptionClear(env);
    return true;
}

/* Call System.NAME(arguments), whose result is a String; NULL also after a failure. */
static jstring call(JNIEnv *env, const char *name, const char *signature, const char *first,
                    const char *second)
{
    jclass system = (*env)->FindClass(env, "java/lang/System");
    jmethodID method =
        system != NULL ? (*env)->GetStaticMethodID(env, system, name, signature) : NULL;
    jvalue arguments[2] = {{.l = NULL}, {.l = NULL}};

    if (method != NULL)
        arguments[0].l = (*env)->NewStringUTF(env, first);
    if (method != NULL && second != NULL)
        arguments[1].l = (*env)->NewStringUTF(env, second);
    jobject result = NULL;
    if (method != NULL && !(*env)->ExceptionCheck(env))
        result = (*env)->CallStaticObjectMethodA(env, system, method, arguments);
    if (failed(env)) {
        bbf_log(BBF_LOG_WARN, "System.%s(\"%s\") failed", name, first);
        return NULL;
    }
    return result;
}

static void set(JNIEnv *env, const char *name, const char *value)
{
    (void)call(env, "setProperty", "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;", name,
               value);
}

void bbf_discovery_set(JNIEnv *env, uint16_t port, const char *token_file)
{
    char number[16];

    snprintf(number, sizeof number, "%u", (unsigned)port);
    if ((*env)->PushLocalFrame(env, 64) != 0) {
        (void)failed(env);
        return;
    }
    /* The port last: who sees it sees the others. */
    set(env, "btrace.auth.required", token_file != NULL ? "true" : "false");
    if (token_file != NULL)
        set(env, "btrace.auth.tokenFile", token_file);
    set(env, "btrace.address", "127.0.0.1");
    set(env, "btrace.wireio", "1");
    set(env, "btrace.port", number);
    (void)(*env)->PopLocalFrame(env, NULL);
}

void bbf_discovery_clear(JNIEnv *env, bool keep_token_file)
{
    if ((*env)->PushLocalFrame(env, 64) != 0) {
        (void)failed(env);
        return;
    }
    for (size_t i = 0; i < NAMES; i++)
        if (!keep_token_file || strcmp(names[i], "btrace.auth.tokenFile") != 0)
            (void)call(env, "clearProperty", "(Ljava/lang/String;)Ljava/lang/String;", names[i],
                       NULL);
    (void)(*env)->PopLocalFrame(env, NULL);
}

/* A property's value; false, and `out` as it was, without one or room for it. */
static bool get(JNIEnv *env, const char *name, char *out, size_t size)
{
    bool there = false;

    if ((*env)->PushLocalFrame(env, 16) != 0) {
        (void)failed(env);
        return false;
    }
    jstring value = call(env, "getProperty", "(Ljava/lang/String;)Ljava/lang/String;", name, NULL);
    const char *text = value != NULL ? (*env)->GetStringUTFChars(env, value, NULL) : NULL;
    if (text != NULL) {
        there = strlen(text) < size;
        if (there)
            strcpy(out, text);
        (*env)->ReleaseStringUTFChars(env, value, text);
    }
    (void)(*env)->PopLocalFrame(env, NULL);
    return there;
}

void bbf_discovery_tmpdir(JNIEnv *env, char *out, size_t size)
{
    snprintf(out, size, "/tmp");
    (void)get(env, "java.io.tmpdir", out, size);
}

bool bbf_discovery_token_file(JNIEnv *env, char *out, size_t size)
{
    char port[32];

    return !get(env, "btrace.port", port, sizeof port) &&
           get(env, "btrace.auth.tokenFile", out, size) && out[0] != '\0';
}
