/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jmx.h"

#include <stdio.h>
#include <string.h>

#include "agent/jmx_link.h"
#include "agent/jmx_natives.h"
#include "agent/jvm/management.h"
#include "agent/state.h"
#include "core/log.h"
#include "jmx_classes.h"

/* The compiled classes, made by agent/boot/embed.c. */
#define XX(name)                                                                                   \
    extern const unsigned char bbf_##name##_class[];                                               \
    extern const size_t bbf_##name##_class_len;
BBF_SHIM_CLASSES(XX)
#undef XX

static const struct {
    const char *name;
    const unsigned char *bytes;
    const size_t *len;
} classes[] = {
#define XX(name) {"io/bbflow/jmx/" #name, bbf_##name##_class, &bbf_##name##_class_len},
    BBF_SHIM_CLASSES(XX)
#undef XX
};
enum { CLASSES = sizeof classes / sizeof classes[0] };

static enum bbf_jmx_option asked; /* what was begun, or has failed */
static bool failed;

static bool thrown(JNIEnv *env)
{
    if (!(*env)->ExceptionCheck(env))
        return false;
    if (bbf_log_enabled(BBF_LOG_DEBUG))
        (*env)->ExceptionDescribe(env);
    (*env)->ExceptionClear(env);
    return true;
}

static void fail(const char *why)
{
    failed = true;
    bbf_jmx_say(BBF_JMX_STATE_FAILED, why);
    bbf_log(BBF_LOG_ERROR, "jmx: no MBean is registered: %s", why);
}

/* new URLClassLoader(new URL[0], ClassLoader.getPlatformClassLoader()) */
static jobject make_loader(JNIEnv *env)
{
    jclass base = (*env)->FindClass(env, "java/lang/ClassLoader");
    jclass kind = base != NULL ? (*env)->FindClass(env, "java/net/URLClassLoader") : NULL;
    jclass url = kind != NULL ? (*env)->FindClass(env, "java/net/URL") : NULL;
    if (url == NULL)
        return NULL;
    jmethodID platform =
        (*env)->GetStaticMethodID(env, base, "getPlatformClassLoader", "()Ljava/lang/ClassLoader;");
    jmethodID make =
        platform != NULL
            ? (*env)->GetMethodID(env, kind, "<init>", "([Ljava/net/URL;Ljava/lang/ClassLoader;)V")
            : NULL;
    if (make == NULL)
        return NULL;
    jobject parent = (*env)->CallStaticObjectMethod(env, base, platform);
    jobject urls = (*env)->ExceptionCheck(env) ? NULL : (*env)->NewObjectArray(env, 0, url, NULL);
    return urls != NULL ? (*env)->NewObject(env, kind, make, urls, parent) : NULL;
}

/* The first is Native, the last is Registration, which is returned; NULL: an exception is pending.
 */
static jclass define(JNIEnv *env, jobject loader)
{
    jclass class = NULL;
    for (size_t i = 0; i < CLASSES; i++) {
        class = (*env)->DefineClass(env, classes[i].name, loader, (const jbyte *)classes[i].bytes,
                                    (jsize)*classes[i].len);
        if (class == NULL || (i == 0 && !bbf_jmx_natives_bind(env, class)))
            return NULL;
    }
    return class;
}

static bool start(JNIEnv *env, jobject server, bool compat)
{
    jobject loader = make_loader(env);
    jclass class = loader != NULL ? define(env, loader) : NULL;
    jmethodID method =
        class != NULL ? (*env)->GetStaticMethodID(env, class, "start", "(Ljava/lang/Object;Z[B)V")
                      : NULL;
    jbyteArray version =
        method != NULL ? (*env)->NewByteArray(env, (jsize)strlen(BBF_VERSION)) : NULL;
    if (version == NULL || !bbf_jmx_begin(env, class))
        return false;
    (*env)->SetByteArrayRegion(env, version, 0, (jsize)strlen(BBF_VERSION),
                               (const jbyte *)BBF_VERSION);
    bbf_jmx_say(BBF_JMX_STATE_STARTING, NULL);
    (*env)->CallStaticVoidMethod(env, class, method, server, compat ? JNI_TRUE : JNI_FALSE,
                                 version);
    return !(*env)->ExceptionCheck(env);
}

static void begin(JNIEnv *env, enum bbf_jmx_option want)
{
    bool unreadable = false;
    jobject server = want == BBF_JMX_LAZY ? bbf_management_server(env, &unreadable) : NULL;
    if (unreadable) {
        fail("this JDK does not show whether the platform MBean server is there; use jmx=on");
    } else if (want == BBF_JMX_LAZY && server == NULL) {
        bbf_jmx_say(BBF_JMX_STATE_WAITS, NULL);
    } else if (!bbf_management_has_module(env)) {
        fail("this JVM has no module java.management");
    } else if (!start(env, server, want == BBF_JMX_COMPAT)) {
        (void)thrown(env);
        bbf_jmx_end(env);
        fail("the JVM refuses bbflow's classes for it");
    }
}

void bbf_jmx_poll(JNIEnv *env, const struct bbf_options *options)
{
    enum bbf_jmx_option want = options != NULL ? options->jmx : BBF_JMX_OFF;
    if (want == asked && (want == BBF_JMX_OFF || failed || bbf_jmx_has_begun()))
        return;
    if (atomic_load(&bbf_agent.dying))
        return;
    if (want != asked)
        bbf_jmx_stop(env);
    asked = want;
    if (want == BBF_JMX_OFF)
        return;
    if ((*env)->PushLocalFrame(env, 64) != 0) {
        (void)thrown(env);
        return;
    }
    begin(env, want);
    (void)(*env)->PopLocalFrame(env, NULL);
}

void bbf_jmx_stop(JNIEnv *env)
{
    if (asked == BBF_JMX_OFF)
        return;
    asked = BBF_JMX_OFF;
    failed = false;
    bbf_management_forget();
    if ((*env)->PushLocalFrame(env, 16) != 0) {
        (void)thrown(env);
        return;
    }
    bbf_jmx_end(env);
    (void)(*env)->PopLocalFrame(env, NULL);
}
