/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/api_natives.c - the natives of java.lang.BBFlowApi, which bbflow-api.jar calls
 * (docs/adr/0068). Called by the application for itself, not by hooks: sites and classes take the
 * site lock, reports wait for the agent thread.
 */
#include <jni.h>
#include <string.h>

#include "agent/commands/set.h"
#include "agent/jmx_natives.h"
#include "agent/jvm/memory.h"
#include "agent/jvm/names.h"
#include "agent/state.h"
#include "core/buf.h"
#include "core/err.h"
#include "trie/map.h"
#include "trie/node.h"
#include "trie/site.h"

enum { NAME = 512 };

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_java_lang_BBFlowNative_##name

NATIVE(jint, apiSite)(JNIEnv *env, jclass class, jstring type, jstring method, jboolean root);
NATIVE(jint, apiClass)(JNIEnv *env, jclass class, jclass type);
NATIVE(jboolean, apiOpen)(JNIEnv *env, jclass class);
NATIVE(jbyteArray, apiReport)(JNIEnv *env, jclass class, jbyteArray format);
NATIVE(jlongArray, apiNumbers)(JNIEnv *env, jclass class);
NATIVE(jboolean, apiReset)(JNIEnv *env, jclass class);
NATIVE(jbyteArray, apiTrack)(JNIEnv *env, jclass class, jbyteArray entry);

/* False: longer than any name of a class file that bbflow has met; not cut, because two names may
 * begin alike. */
static bool copy(JNIEnv *env, jstring text, char out[NAME])
{
    jsize len = (*env)->GetStringLength(env, text), bytes = (*env)->GetStringUTFLength(env, text);
    if (bytes >= NAME)
        return false;
    (*env)->GetStringUTFRegion(env, text, 0, len, out);
    out[bytes] = '\0';
    return true;
}

NATIVE(jint, apiSite)(JNIEnv *env, jclass class, jstring type, jstring method, jboolean root)
{
    char class_name[NAME], method_name[NAME];
    const struct bbf_site like = {.class_name = class_name,
                                  .method = method_name,
                                  .descriptor = (char *)(uintptr_t) "",
                                  .kind = root ? BBF_SITE_ROOT : BBF_SITE_ENTER,
                                  .memory = BBF_MEM_UNKNOWN};
    (void)class;
    if (copy(env, type, class_name) && copy(env, method, method_name))
        return (jint)bbf_site_intern(bbf_agent.tracker, &like);
    if (!root)
        bbf_node_drop_step(bbf_agent.tracker);
    return 0;
}

NATIVE(jint, apiClass)(JNIEnv *env, jclass class, jclass type)
{
    char *name = bbf_names_of(type);
    (void)env;
    (void)class;
    if (name != NULL)
        (void)bbf_names_make_stable(name); /* or each lambda took a number */
    jint number = name != NULL ? (jint)bbf_class_intern_as(bbf_agent.tracker, name, "closed") : 0;
    bbf_jvm_free(name);
    return number;
}

NATIVE(jboolean, apiOpen)(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return bbf_map_open(bbf_agent.tracker) ? JNI_TRUE : JNI_FALSE;
}

NATIVE(jbyteArray, apiReport)(JNIEnv *env, jclass class, jbyteArray format)
{
    (void)class;
    return bbf_jmx_report(env, format, false);
}

NATIVE(jlongArray, apiNumbers)(JNIEnv *env, jclass class)
{
    (void)class;
    return bbf_jmx_numbers(env);
}

NATIVE(jboolean, apiReset)(JNIEnv *env, jclass class)
{
    jbyte first = 1;
    (void)class;
    jbyteArray answer = bbf_jmx_reset(env, false);
    if (answer != NULL)
        (*env)->GetByteArrayRegion(env, answer, 0, 1, &first);
    return first == 0 ? JNI_TRUE : JNI_FALSE;
}

/* As bbf_jmx_report() has it. */
static jbyteArray answer(JNIEnv *env, const char *text, size_t len, int err)
{
    const jbyte first = err != BBF_OK;
    jbyteArray array = (*env)->NewByteArray(env, (jsize)len + 1);
    if (array != NULL) {
        (*env)->SetByteArrayRegion(env, array, 0, 1, &first);
        (*env)->SetByteArrayRegion(env, array, 1, (jsize)len, (const jbyte *)text);
    }
    return array;
}

NATIVE(jbyteArray, apiTrack)(JNIEnv *env, jclass class, jbyteArray entry)
{
    char text[2 * NAME] = "";
    struct bbf_buf said = BBF_BUF_INIT;
    (void)class;
    jsize len = (*env)->GetArrayLength(env, entry);
    int err = (size_t)len < sizeof text ? BBF_OK : BBF_EINVAL;
    if (err == BBF_OK) {
        (*env)->GetByteArrayRegion(env, entry, 0, len, (jbyte *)text);
        err = strlen(text) == (size_t)len ? bbf_set_add_track(text, &said) : BBF_EINVAL;
    }
    const char *why = bbf_buf_cstr(&said);
    jbyteArray array = answer(env, why, strlen(why), err);
    bbf_buf_free(&said);
    return array;
}
