/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jvm/heap.h"

#include "agent/state.h"

/* Global references to the slot chunks; the shim makes each once and keeps it. */
static jobjectArray chunks[BBF_L_CHUNKS];

/* The same place as slotOffset() in the shim. */
static jsize index_of(uint32_t record)
{
    return (jsize)((record & 63) | (record >> 6 & 7) << 13 | (record >> 9 & 127) << 6);
}

static jobjectArray chunk_of(JNIEnv *env, uint32_t record)
{
    uint32_t c = record >> BBF_L_CHUNK_SHIFT;
    if (chunks[c] == NULL) {
        jobject local = (*env)->GetObjectArrayElement(env, bbf_agent.slots, (jsize)c);
        if (local == NULL)
            return NULL;
        chunks[c] = (*env)->NewGlobalRef(env, local);
        (*env)->DeleteLocalRef(env, local);
    }
    return chunks[c];
}

/* True: there was one. */
static bool clear_exception(JNIEnv *env)
{
    if (!(*env)->ExceptionCheck(env))
        return false;
    (*env)->ExceptionClear(env);
    return true;
}

static uint64_t weaken(void *ctx, uint32_t record, bool *empty)
{
    JNIEnv *env = ctx;
    jobjectArray chunk = chunk_of(env, record);
    jobject o = chunk == NULL ? NULL : (*env)->GetObjectArrayElement(env, chunk, index_of(record));
    clear_exception(env);
    if (o == NULL) {
        *empty = chunk != NULL;
        return 0;
    }
    jweak weak = (*env)->NewWeakGlobalRef(env, o);
    clear_exception(env); /* OutOfMemoryError: followed without garbage detection, counted */
    (*env)->DeleteLocalRef(env, o);
    return (uint64_t)(uintptr_t)weak;
}

static bool clear(void *ctx, uint32_t record)
{
    JNIEnv *env = ctx;
    jobjectArray chunk = chunk_of(env, record);
    if (chunk != NULL)
        (*env)->SetObjectArrayElement(env, chunk, index_of(record), NULL);
    return !clear_exception(env) && chunk != NULL;
}

static jclass weak_class; /* java.lang.ref.WeakReference */
static jmethodID weak_init;

static bool soften(void *ctx, uint32_t record)
{
    JNIEnv *env = ctx;
    jobjectArray chunk = chunk_of(env, record);
    jobject o = chunk == NULL ? NULL : (*env)->GetObjectArrayElement(env, chunk, index_of(record));
    jobject weak =
        o == NULL || weak_init == NULL ? NULL : (*env)->NewObject(env, weak_class, weak_init, o);
    clear_exception(env);
    if (weak != NULL)
        (*env)->SetObjectArrayElement(env, chunk, index_of(record), weak);
    bool set = !clear_exception(env) && weak != NULL;
    if (o != NULL)
        (*env)->DeleteLocalRef(env, o);
    if (weak != NULL)
        (*env)->DeleteLocalRef(env, weak);
    return set;
}

static bool collected(void *ctx, uint64_t weak)
{
    JNIEnv *env = ctx;
    return (*env)->IsSameObject(env, (jobject)(uintptr_t)weak, NULL);
}

static void forget(void *ctx, uint64_t weak)
{
    JNIEnv *env = ctx;
    (*env)->DeleteWeakGlobalRef(env, (jweak)(uintptr_t)weak);
}

void bbf_heap_init(struct bbf_jvm_refs *heap, JNIEnv *env)
{
    if (weak_class == NULL) {
        jclass class = (*env)->FindClass(env, "java/lang/ref/WeakReference");
        clear_exception(env);
        if (class != NULL) {
            weak_class = (*env)->NewGlobalRef(env, class);
            if (weak_class != NULL)
                weak_init = (*env)->GetMethodID(env, class, "<init>", "(Ljava/lang/Object;)V");
            (*env)->DeleteLocalRef(env, class);
        }
        clear_exception(env);
    }
    *heap = (struct bbf_jvm_refs){.ctx = env,
                                  .weaken = weaken,
                                  .clear = clear,
                                  .soften = soften,
                                  .collected = collected,
                                  .forget = forget};
}
