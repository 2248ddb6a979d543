/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jmx.h"

#include <stdio.h>
#include <string.h>

#include "agent/jmx_link.h"
#include "agent/jmx_natives.h"
#include "agent/jvm/management.h"
#include "agent/jvm/own_classes.h"
#include "agent/state.h"
#include "core/log.h"
#include "jmx_classes.h"

/* The compiled classes, made by agent/boot/embed.c. */
#define XX(name)                                                                                   \
    extern const unsigned char bbf_##name##_class[];                                               \
    extern const size_t bbf_##name##_class_len;
BBF_SHIM_CLASSES(XX)
#undef XX

static const struct bbf_own_class classes[] = {
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

static bool start(JNIEnv *env, jobject server, bool compat)
{
    jclass class = bbf_own_classes_define(env, classes, CLASSES, bbf_jmx_natives_bind);
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
