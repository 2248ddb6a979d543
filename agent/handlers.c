/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/handlers.h"

#include <stdarg.h>
#include <stdint.h>

#include "agent/handlers_find.h"
#include "agent/handlers_natives.h"
#include "agent/jvm/own_classes.h"
#include "agent/jvm/properties.h"
#include "agent/state.h"
#include "core/log.h"
#include "handlers_classes.h"

/* The compiled classes, made by agent/boot/embed.c. */
#define XX(name)                                                                                   \
    extern const unsigned char bbf_##name##_class[];                                               \
    extern const size_t bbf_##name##_class_len;
BBF_SHIM_CLASSES(XX)
#undef XX

static const struct bbf_own_class classes[] = {
#define XX(name) {"io/bbflow/handlers/" #name, bbf_##name##_class, &bbf_##name##_class_len},
    BBF_SHIM_CLASSES(XX)
#undef XX
};
enum { CLASSES = sizeof classes / sizeof classes[0] };

static enum bbf_handlers_option asked = BBF_HANDLERS_OFF;
static uint64_t seconds; /* pushInterval, as the Java half has it */
static bool failed;
static bool started_before; /* what was lost before is not pushed again */
static jclass pusher;       /* global reference */

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
    bbf_handlers_say(BBF_HANDLERS_STATE_FAILED, why);
    bbf_log(BBF_LOG_ERROR, "handlers: no handler is called: %s", why);
}

/* handlers=auto: did the command line name handlers? */
static enum bbf_handlers_option effective(const struct bbf_options *options)
{
    static const char *const properties[] = {"metric.handlers", "object.tracker.handlers",
                                             "object.tracker.handler"};
    char value[8];
    if (options == NULL)
        return BBF_HANDLERS_OFF;
    if (options->handlers != BBF_HANDLERS_AUTO)
        return options->handlers;
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        bbf_property(bbf_agent.code, properties[i], value, sizeof value);
        if (value[0] != '\0')
            return BBF_HANDLERS_ON;
    }
    return BBF_HANDLERS_OFF;
}

static bool call(JNIEnv *env, const char *name, const char *signature, ...)
{
    va_list arguments;
    jmethodID method = (*env)->GetStaticMethodID(env, pusher, name, signature);
    if (method == NULL)
        return false;
    va_start(arguments, signature);
    (*env)->CallStaticVoidMethodV(env, pusher, method, arguments);
    va_end(arguments);
    return !(*env)->ExceptionCheck(env);
}

static void end(JNIEnv *env)
{
    bbf_handlers_say(BBF_HANDLERS_STATE_OFF, NULL);
    if (pusher == NULL)
        return;
    (void)call(env, "stop", "()V");
    (void)thrown(env);
    (*env)->DeleteGlobalRef(env, pusher);
    pusher = NULL;
}

static void start(JNIEnv *env)
{
    jclass last = bbf_own_classes_define(env, classes, CLASSES, bbf_handlers_natives_bind);
    pusher = last != NULL ? (*env)->NewGlobalRef(env, last) : NULL;
    bbf_handlers_say(BBF_HANDLERS_STATE_ON, NULL);
    if (pusher != NULL && call(env, "start", "(JZ)V", (jlong)seconds, (jboolean)started_before)) {
        started_before = true;
        return;
    }
    (void)thrown(env);
    end(env);
    fail("the JVM refuses bbflow's classes for it");
}

static void look(JNIEnv *env)
{
    bool has_api = false;
    jobjectArray loaders = bbf_handlers_look(env, &has_api);
    if (pusher == NULL && (asked == BBF_HANDLERS_ON || has_api))
        start(env);
    if (pusher != NULL && loaders != NULL)
        (void)call(env, "found", "([Ljava/lang/Object;)V", loaders);
    (void)thrown(env);
}

unsigned bbf_handlers_wait_ms(void)
{
    return asked == BBF_HANDLERS_OFF || failed ? UINT32_MAX : bbf_handlers_look_in_ms();
}

static void ask(enum bbf_handlers_option want)
{
    asked = want;
    bbf_handlers_watch(want != BBF_HANDLERS_OFF);
    if (want == BBF_HANDLERS_LAZY)
        bbf_handlers_say(BBF_HANDLERS_STATE_WAITS, NULL);
}

void bbf_handlers_poll(JNIEnv *env, const struct bbf_options *options)
{
    enum bbf_handlers_option want = effective(options);
    bool is_new = options != NULL && options->push_seconds != seconds;
    if ((want == asked && !is_new && bbf_handlers_wait_ms() > 0) || atomic_load(&bbf_agent.dying))
        return;
    if ((*env)->PushLocalFrame(env, 64) != 0) {
        (void)thrown(env);
        return;
    }
    seconds = options != NULL ? options->push_seconds : seconds;
    if (want != asked) {
        bbf_handlers_stop(env);
        ask(want);
    } else if (is_new && pusher != NULL) {
        (void)call(env, "every", "(J)V", (jlong)seconds);
        (void)thrown(env);
    }
    if (bbf_handlers_wait_ms() == 0)
        look(env);
    (void)(*env)->PopLocalFrame(env, NULL);
}

void bbf_handlers_stop(JNIEnv *env)
{
    if (asked == BBF_HANDLERS_OFF)
        return;
    ask(BBF_HANDLERS_OFF);
    failed = false;
    if ((*env)->PushLocalFrame(env, 16) != 0) {
        (void)thrown(env);
        return;
    }
    end(env);
    (void)(*env)->PopLocalFrame(env, NULL);
}
