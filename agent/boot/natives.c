/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/boot/natives.c - the shim's natives. Called from hooks in the application's threads: they
 * never block, take no lock and call no Java (classify and firstSite, once per class, take the site
 * lock). Exported by name: RegisterNatives would print a JVM warning to the application's stdout
 * (design.md: hot path).
 */
#include <string.h>

#include "agent/classes/callers.h"
#include "agent/classes/carrier_classes.h"
#include "agent/classes/custom_types.h"
#include "agent/classes/kinds.h"
#include "agent/cost/meter.h"
#include "agent/exit.h"
#include "agent/jvm/memory.h"
#include "agent/jvm/names.h"
#include "agent/report/bare_roots.h"
#include "agent/report/ends.h"
#include "agent/report/misuse.h"
#include "agent/scope.h"
#include "agent/state.h"
#include "agent/thread.h"
#include "trie/after_release.h"
#include "trie/aged.h"
#include "trie/context.h"
#include "trie/scopes.h"
#include "trie/windows.h"

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_java_lang_BBFlowNative_##name

NATIVE(jint, child)(JNIEnv *env, jclass class, jint node, jint key);
NATIVE(jint, rootOf)(JNIEnv *env, jclass class, jint site);
NATIVE(jint, bucketOf)(JNIEnv *env, jclass class, jint node, jint bucket);
NATIVE(void, freeze)(JNIEnv *env, jclass class, jint record);
NATIVE(void, countReleased)(JNIEnv *env, jclass class, jint node, jint number, jint count);
NATIVE(void, unknownAt)(JNIEnv *env, jclass class, jint node);
NATIVE(void, recordLifetime)
(JNIEnv *env, jclass class, jint node, jint seconds, jint refs, jint bytes, jint written);
NATIVE(jint, bump)(JNIEnv *env, jclass class);
NATIVE(jint, pop)(JNIEnv *env, jclass class);
NATIVE(void, push)(JNIEnv *env, jclass class, jint record);
NATIVE(jboolean, reportMisuse)
(JNIEnv *env, jclass class, jlong handle, jint use, jint number, jlong tid);
NATIVE(void, stepAfterRelease)
(JNIEnv *env, jclass class, jlong handle, jint site, jint number, jlong tid);
NATIVE(jint, caller)(JNIEnv *env, jclass class, jint use);
NATIVE(void, opened)(JNIEnv *env, jclass class, jlong handle, jint site);
NATIVE(void, wake)(JNIEnv *env, jclass class);
NATIVE(jint, firstSite)(JNIEnv *env, jclass class, jint number);
NATIVE(jlong, classify)(JNIEnv *env, jclass class, jclass type);
NATIVE(jstring, fieldName)(JNIEnv *env, jclass class, jint number);
NATIVE(jboolean, hasField)
(JNIEnv *env, jclass class, jclass type, jstring field, jstring descriptor);
NATIVE(jstring, carrierField)(JNIEnv *env, jclass class, jclass type, jint n);
NATIVE(jboolean, contextReach)(JNIEnv *env, jclass class, jint record);
NATIVE(jint, contextName)(JNIEnv *env, jclass class, jclass type);
NATIVE(jboolean, scopeReach)(JNIEnv *env, jclass class, jint record);
NATIVE(void, scopeMark)(JNIEnv *env, jclass class, jint of, jlong key, jint number);
NATIVE(jint, scopeMarked)(JNIEnv *env, jclass class, jint of, jlong key, jboolean take);
NATIVE(jbyteArray, scopeStart)(JNIEnv *env, jclass class);
NATIVE(jint, scopeNew)(JNIEnv *env, jclass class);
NATIVE(jlong, scopeOpen)(JNIEnv *env, jclass class, jint number);
NATIVE(jlong, scopeLosses)(JNIEnv *env, jclass class, jint number);
NATIVE(jbyteArray, scopeReport)
(JNIEnv *env, jclass class, jint number, jint during, jboolean gc);
NATIVE(jlongArray, scopeDuring)(JNIEnv *env, jclass class, jint number);
NATIVE(jbyteArray, scopeNote)(JNIEnv *env, jclass class);
NATIVE(jlong, classifyTracked)(JNIEnv *env, jclass class, jclass type);
NATIVE(void, ping)(JNIEnv *env, jclass class);
NATIVE(void, collect)(JNIEnv *env, jclass class);

NATIVE(jint, child)(JNIEnv *env, jclass class, jint node, jint key)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    jint result = (jint)bbf_node_child(bbf_agent.tracker, (uint32_t)node, (uint32_t)key);
    bbf_meter_leave(entered);
    return result;
}

NATIVE(jint, rootOf)(JNIEnv *env, jclass class, jint site)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    jint result =
        (jint)bbf_node_rate_root(bbf_agent.tracker, (uint32_t)site & BBF_L_META_SITE,
                                 (uint32_t)site >> BBF_L_META_MEM_SHIFT & BBF_L_FLAG_RATE);
    bbf_meter_leave(entered);
    return result;
}

NATIVE(jint, bucketOf)(JNIEnv *env, jclass class, jint node, jint bucket)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    jint result = (jint)bbf_node_bucket(bbf_agent.tracker, (uint32_t)node, (uint32_t)bucket & 3);
    bbf_meter_leave(entered);
    return result;
}

NATIVE(void, freeze)(JNIEnv *env, jclass class, jint record)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    (void)bbf_windows_freeze(bbf_agent.tracker, (uint32_t)record);
    bbf_meter_leave(entered);
}

NATIVE(void, countReleased)(JNIEnv *env, jclass class, jint node, jint number, jint count)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    bbf_node_released(bbf_agent.tracker, (uint32_t)node, (uint32_t)number, (uint32_t)count);
    bbf_meter_leave(entered);
}

NATIVE(void, unknownAt)(JNIEnv *env, jclass class, jint node)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    bbf_node_unknown(bbf_agent.tracker, (uint32_t)node);
    bbf_meter_leave(entered);
}

NATIVE(void, recordLifetime)
(JNIEnv *env, jclass class, jint node, jint seconds, jint refs, jint bytes, jint written)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    bbf_aged_lasted(bbf_agent.tracker, (uint32_t)node, (uint32_t)seconds);
    bbf_ends_released((uint32_t)node, (uint32_t)seconds);
    if (bytes > 0)
        bbf_usage_add(
            bbf_agent.tracker,
            &(struct bbf_usage_life){.node = (uint32_t)node,
                                     .seconds = (uint32_t)seconds,
                                     .bytes = (uint32_t)bytes,
                                     .memory = (uint32_t)refs >> BBF_L_MEM_SHIFT & BBF_L_MEM_KIND,
                                     .written = written});
    bbf_meter_leave(entered);
}

NATIVE(jint, bump)(JNIEnv *env, jclass class)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    jint result = (jint)bbf_record_bump(bbf_agent.tracker);
    bbf_meter_leave(entered);
    return result;
}

NATIVE(jint, pop)(JNIEnv *env, jclass class)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    jint result = (jint)bbf_record_pop(bbf_agent.tracker);
    bbf_meter_leave(entered);
    return result;
}

NATIVE(void, push)(JNIEnv *env, jclass class, jint record)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    bbf_record_push(bbf_agent.tracker, (uint32_t)record);
    bbf_meter_leave(entered);
}

NATIVE(jboolean, reportMisuse)
(JNIEnv *env, jclass class, jlong handle, jint use, jint number, jlong tid)
{
    const uint64_t entered = bbf_meter_enter();
    (void)class;
    jboolean result =
        bbf_misuse_seen(env, (uint64_t)handle, (uint32_t)use, (uint32_t)number, (uint64_t)tid);
    bbf_meter_leave(entered);
    return result;
}

NATIVE(void, stepAfterRelease)
(JNIEnv *env, jclass class, jlong handle, jint site, jint number, jlong tid)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    bbf_after_release_add(bbf_agent.tracker, (uint64_t)handle, (uint32_t)site, (uint32_t)number,
                          (uint64_t)tid);
    bbf_meter_leave(entered);
}

NATIVE(jint, caller)(JNIEnv *env, jclass class, jint use)
{
    const uint64_t entered = bbf_meter_enter();
    (void)class;
    jint result = (jint)bbf_caller_site(env, (uint32_t)use);
    bbf_meter_leave(entered);
    return result;
}

NATIVE(void, opened)(JNIEnv *env, jclass class, jlong handle, jint site)
{
    const uint64_t entered = bbf_meter_enter();
    (void)class;
    bbf_bare_roots_opened(env, (uint64_t)handle, (uint32_t)site);
    bbf_meter_leave(entered);
}

NATIVE(void, wake)(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    bbf_thread_wake();
}

NATIVE(jint, firstSite)(JNIEnv *env, jclass class, jint number)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    jint result = (jint)bbf_kind_first_site((uint32_t)number);
    bbf_meter_leave(entered);
    return result;
}

NATIVE(void, ping)(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
}

NATIVE(void, collect)(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    bbf_exit_collect();
}

NATIVE(jlong, classifyTracked)(JNIEnv *env, jclass class, jclass type)
{
    const uint64_t entered = bbf_meter_enter();
    (void)class;
    jlong result = (jlong)bbf_custom_types_classify(env, type);
    bbf_meter_leave(entered);
    return result;
}

NATIVE(jboolean, contextReach)(JNIEnv *env, jclass class, jint record)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    jboolean result = bbf_context_reach(bbf_agent.tracker, (uint32_t)record);
    bbf_meter_leave(entered);
    return result;
}

NATIVE(jint, contextName)(JNIEnv *env, jclass class, jclass type)
{
    const uint64_t entered = bbf_meter_enter();
    char *name = bbf_names_of(type);
    (void)env;
    (void)class;
    if (name != NULL)
        (void)bbf_names_make_stable(name); /* or each lambda took a number */
    for (char *p = name; p != NULL && *p != '\0'; p++)
        *p = *p == '/' ? '.' : *p;
    jint result = name != NULL ? (jint)bbf_context_name(bbf_agent.tracker, name) : 0;
    bbf_jvm_free(name);
    bbf_meter_leave(entered);
    return result;
}

NATIVE(jboolean, scopeReach)(JNIEnv *env, jclass class, jint record)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    jboolean result = bbf_scopes_reach(bbf_agent.tracker, (uint32_t)record);
    bbf_meter_leave(entered);
    return result;
}

NATIVE(void, scopeMark)(JNIEnv *env, jclass class, jint of, jlong key, jint number)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    bbf_scopes_mark(bbf_agent.tracker, (enum bbf_scope_marks)of, (uint64_t)key, (uint32_t)number);
    bbf_meter_leave(entered);
}

NATIVE(jint, scopeMarked)(JNIEnv *env, jclass class, jint of, jlong key, jboolean take)
{
    const uint64_t entered = bbf_meter_enter();
    (void)env;
    (void)class;
    jint result = (jint)bbf_scopes_marked(bbf_agent.tracker, (enum bbf_scope_marks)of,
                                          (uint64_t)key, take == JNI_TRUE);
    bbf_meter_leave(entered);
    return result;
}

/* ---- BBFlowScope's: no hook calls these ---- */

/* The text as bytes; NULL: it is empty, or there is no memory. */
static jbyteArray bytes_of(JNIEnv *env, struct bbf_buf *text)
{
    jbyteArray array =
        text->len > 0 && !text->failed ? (*env)->NewByteArray(env, (jsize)text->len) : NULL;
    if (array != NULL)
        (*env)->SetByteArrayRegion(env, array, 0, (jsize)text->len, (const jbyte *)text->data);
    bbf_buf_free(text);
    return array;
}

NATIVE(jbyteArray, scopeStart)(JNIEnv *env, jclass class)
{
    struct bbf_buf why = BBF_BUF_INIT;
    (void)class;
    bbf_scope_start(&why);
    return bytes_of(env, &why);
}

NATIVE(jint, scopeNew)(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    return (jint)bbf_scopes_new(bbf_agent.tracker);
}

NATIVE(jlong, scopeOpen)(JNIEnv *env, jclass class, jint number)
{
    (void)env;
    (void)class;
    return (jlong)bbf_scopes_open(bbf_agent.tracker, (uint32_t)number);
}

NATIVE(jlong, scopeLosses)(JNIEnv *env, jclass class, jint number)
{
    (void)env;
    (void)class;
    return (jlong)bbf_scopes_losses(bbf_agent.tracker, (uint32_t)number);
}

NATIVE(jbyteArray, scopeReport)(JNIEnv *env, jclass class, jint number, jint during, jboolean gc)
{
    struct bbf_buf text = BBF_BUF_INIT;
    (void)class;
    bbf_scope_report(&text, (uint32_t)number, (uint32_t)during, gc == JNI_TRUE);
    return bytes_of(env, &text);
}

NATIVE(jlongArray, scopeDuring)(JNIEnv *env, jclass class, jint number)
{
    enum { MOST = 500 };
    struct bbf_scope_loss losses[MOST];
    jlong pairs[2 * MOST];
    (void)class;
    size_t n = bbf_scopes_list(bbf_agent.tracker, (uint32_t)number, UINT32_MAX, losses, MOST);
    for (size_t i = 0; i < n; i++) {
        pairs[2 * i] = losses[i].during;
        pairs[2 * i + 1] = (jlong)losses[i].count;
    }
    jlongArray array = (*env)->NewLongArray(env, (jsize)(2 * n));
    if (array != NULL)
        (*env)->SetLongArrayRegion(env, array, 0, (jsize)(2 * n), pairs);
    return array;
}

NATIVE(jbyteArray, scopeNote)(JNIEnv *env, jclass class)
{
    struct bbf_buf text = BBF_BUF_INIT;
    (void)class;
    bbf_scope_note(&text);
    return bytes_of(env, &text);
}

NATIVE(jlong, classify)(JNIEnv *env, jclass class, jclass type)
{
    const uint64_t entered = bbf_meter_enter();
    (void)class;
    jlong result = (jlong)bbf_kind_classify(env, type);
    bbf_meter_leave(entered);
    return result;
}

NATIVE(jstring, fieldName)(JNIEnv *env, jclass class, jint number)
{
    (void)class;
    const char *name = bbf_kind_field_name((uint32_t)number);
    return name != NULL ? (*env)->NewStringUTF(env, name) : NULL;
}

NATIVE(jstring, carrierField)(JNIEnv *env, jclass class, jclass type, jint n)
{
    const uint64_t entered = bbf_meter_enter();
    char name[BBF_CARRIER_FIELD];
    (void)class;
    bool found = n >= 0 && bbf_carrier_classes_field(type, (unsigned)n, name);
    jstring result = found ? (*env)->NewStringUTF(env, name) : NULL;
    bbf_meter_leave(entered);
    return result;
}

static void copy(JNIEnv *env, jstring text, char *out, jsize size)
{
    out[0] = '\0';
    if ((*env)->GetStringUTFLength(env, text) >= size)
        return;
    jsize bytes = (*env)->GetStringUTFLength(env, text);
    (*env)->GetStringUTFRegion(env, text, 0, (*env)->GetStringLength(env, text), out);
    out[bytes] = '\0';
}

NATIVE(jboolean, hasField)
(JNIEnv *env, jclass class, jclass type, jstring field, jstring descriptor)
{
    char name[BBF_CARRIER_FIELD], begins[64];
    (void)class;
    copy(env, field, name, sizeof name);
    copy(env, descriptor, begins, sizeof begins);
    return bbf_kind_has_field(type, name, begins);
}
