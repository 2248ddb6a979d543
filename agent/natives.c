/*
 * agent/natives.c - the shim's natives. Called from hooks in the application's threads: they never
 * block, take no lock and call no Java (classify and firstSite, once per class, take the site
 * lock). Exported by name: RegisterNatives would print a JVM warning to the application's stdout
 * (D4).
 */
#include <string.h>

#include "agent/callers.h"
#include "agent/kinds.h"
#include "agent/lifecycle.h"
#include "agent/misuse.h"
#include "agent/state.h"
#include "agent/tracked.h"
#include "trie/aged.h"

#define SHIM(type, name) JNIEXPORT type JNICALL Java_java_lang_BBFlowShim_##name
#define KIND(type, name) JNIEXPORT type JNICALL Java_java_lang_BBFlowKind_##name

SHIM(jint, child)(JNIEnv *env, jclass class, jint node, jint key);
SHIM(jint, rootOf)(JNIEnv *env, jclass class, jint site);
SHIM(jint, bucketOf)(JNIEnv *env, jclass class, jint node, jint bucket);
SHIM(void, released)(JNIEnv *env, jclass class, jint node, jint number, jint count);
SHIM(void, unknownAt)(JNIEnv *env, jclass class, jint node);
SHIM(void, lasted)(JNIEnv *env, jclass class, jint node, jint seconds);
SHIM(jint, bump)(JNIEnv *env, jclass class);
SHIM(jint, pop)(JNIEnv *env, jclass class);
SHIM(void, push)(JNIEnv *env, jclass class, jint record);
SHIM(jboolean, misused)(JNIEnv *env, jclass class, jlong handle, jint use, jint number, jlong tid);
SHIM(jint, caller)(JNIEnv *env, jclass class, jint use);
SHIM(void, wake)(JNIEnv *env, jclass class);
SHIM(jint, firstSite)(JNIEnv *env, jclass class, jint number);
KIND(jlong, classify)(JNIEnv *env, jclass class, jclass type);
KIND(jstring, fieldName)(JNIEnv *env, jclass class, jint number);
JNIEXPORT jlong JNICALL Java_java_lang_BBFlowTrack_classify(JNIEnv *env, jclass class, jclass type);
JNIEXPORT void JNICALL Java_java_lang_BBFlowPing_ping(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_java_lang_BBFlowExit_collect(JNIEnv *env, jclass class);

SHIM(jint, child)(JNIEnv *env, jclass class, jint node, jint key)
{
    (void)env;
    (void)class;
    return (jint)bbf_node_child(bbf_agent.tracker, (uint32_t)node, (uint32_t)key);
}

SHIM(jint, rootOf)(JNIEnv *env, jclass class, jint site)
{
    (void)env;
    (void)class;
    return (jint)bbf_node_rate_root(bbf_agent.tracker, (uint32_t)site & BBF_L_META_SITE,
                                    (uint32_t)site >> BBF_L_META_MEM_SHIFT & BBF_L_FLAG_RATE);
}

SHIM(jint, bucketOf)(JNIEnv *env, jclass class, jint node, jint bucket)
{
    (void)env;
    (void)class;
    return (jint)bbf_node_bucket(bbf_agent.tracker, (uint32_t)node, (uint32_t)bucket & 3);
}

SHIM(void, released)(JNIEnv *env, jclass class, jint node, jint number, jint count)
{
    (void)env;
    (void)class;
    bbf_node_released(bbf_agent.tracker, (uint32_t)node, (uint32_t)number, (uint32_t)count);
}

SHIM(void, unknownAt)(JNIEnv *env, jclass class, jint node)
{
    (void)env;
    (void)class;
    bbf_node_unknown(bbf_agent.tracker, (uint32_t)node);
}

SHIM(void, lasted)(JNIEnv *env, jclass class, jint node, jint seconds)
{
    (void)env;
    (void)class;
    bbf_aged_lasted(bbf_agent.tracker, (uint32_t)node, (uint32_t)seconds);
}

SHIM(jint, bump)(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return (jint)bbf_record_bump(bbf_agent.tracker);
}

SHIM(jint, pop)(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return (jint)bbf_record_pop(bbf_agent.tracker);
}

SHIM(void, push)(JNIEnv *env, jclass class, jint record)
{
    (void)env;
    (void)class;
    bbf_record_push(bbf_agent.tracker, (uint32_t)record);
}

SHIM(jboolean, misused)(JNIEnv *env, jclass class, jlong handle, jint use, jint number, jlong tid)
{
    (void)class;
    return bbf_misuse_seen(env, (uint64_t)handle, (uint32_t)use, (uint32_t)number, (uint64_t)tid);
}

SHIM(jint, caller)(JNIEnv *env, jclass class, jint use)
{
    (void)class;
    return (jint)bbf_caller_site(env, (uint32_t)use);
}

SHIM(void, wake)(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    (void)sem_post(&bbf_agent.wake);
}

SHIM(jint, firstSite)(JNIEnv *env, jclass class, jint number)
{
    (void)env;
    (void)class;
    return (jint)bbf_kind_first_site((uint32_t)number);
}

JNIEXPORT void JNICALL Java_java_lang_BBFlowPing_ping(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
}

JNIEXPORT void JNICALL Java_java_lang_BBFlowExit_collect(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    bbf_lifecycle_exit_gc();
}

JNIEXPORT jlong JNICALL Java_java_lang_BBFlowTrack_classify(JNIEnv *env, jclass class, jclass type)
{
    (void)class;
    return (jlong)bbf_tracked_classify(env, type);
}

KIND(jlong, classify)(JNIEnv *env, jclass class, jclass type)
{
    (void)class;
    return (jlong)bbf_kind_classify(env, type);
}

KIND(jstring, fieldName)(JNIEnv *env, jclass class, jint number)
{
    (void)class;
    const char *name = bbf_kind_field_name((uint32_t)number);
    return name != NULL ? (*env)->NewStringUTF(env, name) : NULL;
}
