/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jmx_link.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "agent/jmx_notice.h"
#include "agent/state.h"

/* Under lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum bbf_jmx_state state;
static char reason[300];

static _Atomic bool listened;
static jclass registration; /* global reference; agent thread */

void bbf_jmx_say(enum bbf_jmx_state now, const char *why)
{
    pthread_mutex_lock(&lock);
    state = now;
    snprintf(reason, sizeof reason, "%s", why != NULL ? why : "");
    pthread_mutex_unlock(&lock);
}

void bbf_jmx_said(const char *why, size_t len)
{
    pthread_mutex_lock(&lock);
    if (state != BBF_JMX_STATE_OFF) {
        state = why == NULL ? BBF_JMX_STATE_REGISTERED : BBF_JMX_STATE_FAILED;
        snprintf(reason, sizeof reason, "%.*s", why != NULL ? (int)(len < 250 ? len : 250) : 0,
                 why != NULL ? why : "");
    }
    pthread_mutex_unlock(&lock);
}

enum bbf_jmx_state bbf_jmx_state(char *why, size_t size)
{
    pthread_mutex_lock(&lock);
    enum bbf_jmx_state now = state;
    snprintf(why, size, "%s", reason);
    pthread_mutex_unlock(&lock);
    return now;
}

void bbf_jmx_listened(void)
{
    atomic_store_explicit(&listened, true, memory_order_relaxed);
}

bool bbf_jmx_is_listened(void)
{
    return atomic_load_explicit(&listened, memory_order_relaxed);
}

static bool thrown(JNIEnv *env)
{
    bool pending = (*env)->ExceptionCheck(env);
    if (pending)
        (*env)->ExceptionClear(env);
    return pending;
}

bool bbf_jmx_begin(JNIEnv *env, jclass class)
{
    registration = (*env)->NewGlobalRef(env, class);
    return registration != NULL;
}

bool bbf_jmx_has_begun(void)
{
    return registration != NULL;
}

void bbf_jmx_end(JNIEnv *env)
{
    bbf_jmx_say(BBF_JMX_STATE_OFF, NULL);
    atomic_store_explicit(&listened, false, memory_order_relaxed);
    if (registration == NULL)
        return;
    jmethodID stop = (*env)->GetStaticMethodID(env, registration, "stop", "()V");
    if (!thrown(env) && stop != NULL)
        (*env)->CallStaticVoidMethod(env, registration, stop);
    (void)thrown(env);
    (*env)->DeleteGlobalRef(env, registration);
    registration = NULL;
}

static jbyteArray bytes(JNIEnv *env, const char *text, size_t len)
{
    jbyteArray array = (*env)->NewByteArray(env, (jsize)len);
    if (array != NULL)
        (*env)->SetByteArrayRegion(env, array, 0, (jsize)len, (const jbyte *)text);
    return array;
}

static jboolean call_offer(JNIEnv *env, const struct bbf_jmx_notice *n)
{
    const jlong numbers[] = {(jlong)n->count, (jlong)n->bytes, (jlong)n->added,
                             (jlong)n->added_bytes, (jlong)n->fingerprint};
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
    jmethodID offer = (*env)->GetStaticMethodID(env, registration, "offer", "([B[BJ[B[J)Z");
    jbyteArray type = offer != NULL ? bytes(env, n->type, strlen(n->type)) : NULL;
    jbyteArray line = type != NULL ? bytes(env, n->line, n->line_len) : NULL;
    jbyteArray memory = line != NULL ? bytes(env, n->memory, strlen(n->memory)) : NULL;
    jlongArray array = memory != NULL ? (*env)->NewLongArray(env, NUMBERS) : NULL;
    if (array == NULL)
        return JNI_FALSE;
    (*env)->SetLongArrayRegion(env, array, 0, NUMBERS, numbers);
    return (*env)->CallStaticBooleanMethod(env, registration, offer, type, line, (jlong)n->time_ms,
                                           memory, array);
}

bool bbf_jmx_offer(const struct bbf_jmx_notice *notice)
{
    JNIEnv *env = NULL;
    if (registration == NULL ||
        (*bbf_agent.vm)->GetEnv(bbf_agent.vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK)
        return false;
    if ((*env)->PushLocalFrame(env, 16) != 0) {
        (void)thrown(env);
        return false;
    }
    jboolean taken = call_offer(env, notice);
    bool failed = thrown(env);
    (void)(*env)->PopLocalFrame(env, NULL);
    return taken && !failed;
}
