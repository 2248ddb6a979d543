/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/handlers_natives.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/report/ask.h"
#include "core/err.h"
#include "render/losses.h"

enum { WAIT_MS = 30000, MAX_FLOWS = 1000, RETRIES = 3, MAX_ENTERED = 80 };

static _Atomic uint64_t resets; /* written by the agent thread */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct bbf_handlers_status shown; /* under lock */

void bbf_handlers_were_reset(void)
{
    atomic_fetch_add_explicit(&resets, 1, memory_order_relaxed);
}

void bbf_handlers_say(enum bbf_handlers_state state, const char *why)
{
    pthread_mutex_lock(&lock);
    if (state != BBF_HANDLERS_STATE_ON)
        memset(&shown, 0, sizeof shown);
    shown.state = state;
    if (why != NULL)
        snprintf(shown.why, sizeof shown.why, "%s", why);
    pthread_mutex_unlock(&lock);
}

void bbf_handlers_status(struct bbf_handlers_status *status)
{
    pthread_mutex_lock(&lock);
    *status = shown;
    pthread_mutex_unlock(&lock);
}

/* A snapshot, and the number of resets that it is after. The two are read by different threads, so
 * they are read again if a reset came between. */
static struct bbf_snapshot *take(uint64_t *epoch)
{
    struct bbf_snapshot *snapshot = NULL;
    uint64_t before;
    int err = BBF_OK, tries = 0;
    do {
        bbf_snapshot_free(snapshot);
        before = atomic_load_explicit(&resets, memory_order_relaxed);
        snapshot = bbf_ask_snapshot(false, WAIT_MS, &err);
        *epoch = atomic_load_explicit(&resets, memory_order_relaxed);
    } while (snapshot != NULL && *epoch != before && ++tries < RETRIES);
    return snapshot;
}

/* The Java form of a base: the number of resets, then key and count of each path. */
static struct bbf_loss *read_base(JNIEnv *env, jlongArray array, uint64_t epoch, size_t *n)
{
    jsize len = array != NULL ? (*env)->GetArrayLength(env, array) : 0;
    jlong first = -1;
    *n = 0;
    if (len > 0)
        (*env)->GetLongArrayRegion(env, array, 0, 1, &first);
    bool same = len > 0 && (uint64_t)first == epoch;
    struct bbf_loss *base = calloc((size_t)len / 2 + 1, sizeof *base);
    if (base == NULL || !same)
        return base;
    _Static_assert(sizeof *base == 2 * sizeof(jlong), "read as a whole");
    *n = (size_t)(len - 1) / 2;
    (*env)->GetLongArrayRegion(env, array, 1, (jsize)(2 * *n), (jlong *)base);
    return base;
}

static jlongArray write_base(JNIEnv *env, const struct bbf_losses *losses, uint64_t epoch)
{
    const jlong first = (jlong)epoch;
    jlongArray array = (*env)->NewLongArray(env, (jsize)(1 + 2 * losses->n));
    if (array == NULL)
        return NULL;
    (*env)->SetLongArrayRegion(env, array, 0, 1, &first);
    (*env)->SetLongArrayRegion(env, array, 1, (jsize)(2 * losses->n), (const jlong *)losses->base);
    return array;
}

static void put_text(JNIEnv *env, jobjectArray to, jsize at, const struct bbf_buf *text)
{
    jbyteArray array =
        (*env)->ExceptionCheck(env) ? NULL : (*env)->NewByteArray(env, (jsize)text->len);
    if (array == NULL)
        return;
    (*env)->SetByteArrayRegion(env, array, 0, (jsize)text->len, (const jbyte *)text->data);
    (*env)->SetObjectArrayElement(env, to, at, array);
}

/* The answer; an OutOfMemoryError of the JVM's is left to the caller, who counts it. */
static jobjectArray answer(JNIEnv *env, const struct bbf_losses *losses, uint64_t epoch)
{
    const jlong added[] = {(jlong)losses->added[0], (jlong)losses->added[1]};
    jclass object = (*env)->FindClass(env, "java/lang/Object");
    jobjectArray all = object != NULL ? (*env)->NewObjectArray(env, 4, object, NULL) : NULL;
    jlongArray base = all != NULL ? write_base(env, losses, epoch) : NULL;
    jlongArray totals = base != NULL ? (*env)->NewLongArray(env, 2) : NULL;
    if (totals == NULL)
        return NULL;
    (*env)->SetLongArrayRegion(env, totals, 0, 2, added);
    (*env)->SetObjectArrayElement(env, all, 0, base);
    (*env)->SetObjectArrayElement(env, all, 1, totals);
    put_text(env, all, 2, &losses->flows[0]);
    put_text(env, all, 3, &losses->flows[1]);
    return (*env)->ExceptionCheck(env) ? NULL : all;
}

static jobjectArray JNICALL losses(JNIEnv *env, jclass class, jint kinds, jlongArray old)
{
    uint64_t epoch = 0;
    size_t n = 0;
    struct bbf_losses found;
    jobjectArray result = NULL;
    (void)class;
    struct bbf_snapshot *snapshot = take(&epoch);
    struct bbf_loss *base = snapshot != NULL ? read_base(env, old, epoch, &n) : NULL;
    if (base != NULL) {
        if (bbf_losses_since(&found, snapshot, (unsigned)kinds, base, n, MAX_FLOWS) == BBF_OK)
            result = answer(env, &found, epoch);
        bbf_losses_free(&found);
    }
    free(base);
    bbf_snapshot_free(snapshot);
    return result;
}

/* Handlers and loaders that a thread works for, by weak references, under lock. Kept here because
 * the Java half begins anew with each start, and a handler that hangs must not cost a thread each.
 */
static jweak entered[MAX_ENTERED];

static jint find(JNIEnv *env, jobject object)
{
    for (jint i = 0; i < MAX_ENTERED; i++)
        if (object == NULL ? entered[i] == NULL
                           : entered[i] != NULL && (*env)->IsSameObject(env, entered[i], object))
            return i;
    return -1;
}

static jboolean JNICALL enter(JNIEnv *env, jclass class, jobject object)
{
    (void)class;
    jweak weak = (*env)->NewWeakGlobalRef(env, object);
    pthread_mutex_lock(&lock);
    jint at = weak != NULL && find(env, object) < 0 ? find(env, NULL) : -1;
    if (at >= 0)
        entered[at] = weak;
    pthread_mutex_unlock(&lock);
    if (at < 0 && weak != NULL)
        (*env)->DeleteWeakGlobalRef(env, weak);
    return at >= 0 ? JNI_TRUE : JNI_FALSE;
}

static void JNICALL leave(JNIEnv *env, jclass class, jobject object)
{
    (void)class;
    pthread_mutex_lock(&lock);
    jint at = find(env, object);
    jweak weak = at >= 0 ? entered[at] : NULL;
    if (at >= 0)
        entered[at] = NULL;
    pthread_mutex_unlock(&lock);
    if (weak != NULL)
        (*env)->DeleteWeakGlobalRef(env, weak);
}

static void JNICALL counted(JNIEnv *env, jclass class, jlongArray counts, jbyteArray failure)
{
    jlong values[BBF_HANDLERS_COUNTS];
    char text[sizeof shown.why] = "";
    (void)class;
    if ((*env)->GetArrayLength(env, counts) != BBF_HANDLERS_COUNTS)
        return;
    (*env)->GetLongArrayRegion(env, counts, 0, BBF_HANDLERS_COUNTS, values);
    if (failure != NULL) {
        jsize len = (*env)->GetArrayLength(env, failure);
        len = len < (jsize)sizeof text - 1 ? len : (jsize)sizeof text - 1;
        (*env)->GetByteArrayRegion(env, failure, 0, len, (jbyte *)text);
    }
    pthread_mutex_lock(&lock);
    if (shown.state == BBF_HANDLERS_STATE_ON) { /* not stopped meanwhile */
        for (int i = 0; i < BBF_HANDLERS_COUNTS; i++)
            shown.counts[i] = (uint64_t)values[i];
        snprintf(shown.why, sizeof shown.why, "%s", text);
    }
    pthread_mutex_unlock(&lock);
}

bool bbf_handlers_natives_bind(JNIEnv *env, jclass class)
{
#define METHOD(name, signature)                                                                    \
    {                                                                                              \
        (char *)#name, (char *)(signature), (void *)(uintptr_t)(name)                              \
    }
    const JNINativeMethod methods[] = {
        METHOD(losses, "(I[J)[Ljava/lang/Object;"), METHOD(enter, "(Ljava/lang/Object;)Z"),
        METHOD(leave, "(Ljava/lang/Object;)V"), METHOD(counted, "([J[B)V")};
#undef METHOD
    return (*env)->RegisterNatives(env, class, methods,
                                   (jint)(sizeof methods / sizeof methods[0])) == JNI_OK;
}
