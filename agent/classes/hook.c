/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/hook.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/classes/archive.h"
#include "agent/classes/rewritten_classes.h"
#include "agent/classes/dump.h"
#include "agent/jvm/frames.h"
#include "agent/classes/late_classes.h"
#include "instrument/netty.h"
#include "agent/cost/meter.h"
#include "agent/rules.h"
#include "agent/sites.h"
#include "agent/state.h"
#include "agent/classes/custom_types.h"
#include "core/err.h"
#include "core/log.h"
#include "trie/map.h"

static const char hidden_field[] = "$bbf";
enum { FIELD_ACCESS = 0x1082 /* private transient synthetic */, BATCH = 64, MAX_LOCALS = 65536 };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint8_t *allocate(void *ctx, size_t size)
{
    unsigned char *memory = NULL;
    (void)ctx;
    if ((*bbf_agent.code)->Allocate(bbf_agent.code, (jlong)size, &memory) != 0)
        return NULL;
    return memory;
}

/* ---- F: the hidden field ---- */

/* "io.netty" against the first `len` characters of "io/netty/buffer/ByteBuf". */
static bool same_prefix(const char *dotted, const char *name, size_t len)
{
    if (strlen(dotted) != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (dotted[i] != (name[i] == '/' ? '.' : name[i]))
            return false;
    return true;
}

/* The caller holds seen_lock. */
static bool is_remembered(const char *name, size_t len, bool has_field)
{
    bool known = false;
    for (size_t i = 0; i < bbf_agent.n_seen; i++) {
        const struct bbf_netty_seen *s = &bbf_agent.seen[i];
        known = known || (same_prefix(s->prefix, name, len) && s->has_field == has_field);
    }
    return known;
}

/* Is one without the field known for that Netty? Then why it has none is, too. */
static bool is_known_without(const char *name, size_t prefix)
{
    size_t len = prefix > 0 ? prefix - 1 : 0;
    pthread_mutex_lock(&bbf_agent.seen_lock);
    bool known = is_remembered(name, len < BBF_MAX_PREFIX ? len : BBF_MAX_PREFIX - 1, false);
    pthread_mutex_unlock(&bbf_agent.seen_lock);
    return known;
}

static void remember_netty(const char *name, size_t prefix, bool has_field, const char *why)
{
    size_t len = prefix > 0 ? prefix - 1 : 0;
    if (len >= BBF_MAX_PREFIX)
        len = BBF_MAX_PREFIX - 1;
    pthread_mutex_lock(&bbf_agent.seen_lock);
    if (!is_remembered(name, len, has_field) && bbf_agent.n_seen < BBF_MAX_NETTYS) {
        struct bbf_netty_seen *s = &bbf_agent.seen[bbf_agent.n_seen++];
        memcpy(s->prefix, name, len);
        s->prefix[len] = '\0';
        for (char *p = s->prefix; *p != '\0'; p++)
            *p = *p == '/' ? '.' : *p;
        s->has_field = has_field;
        s->why = why;
    }
    pthread_mutex_unlock(&bbf_agent.seen_lock);
    atomic_store(&bbf_agent.netty_loaded, true);
}

/* From here on a step may meet a ByteBuf without the field: the shim tests classes (design.md: hot
 * path). */
static void set_mixed(void)
{
    (void)bbf_map_open(bbf_agent.tracker);
    atomic_fetch_or(bbf_shared_int(bbf_agent.tracker, BBF_L_SHARED_MIXED), BBF_L_MIXED_FIELDLESS);
}

void bbf_hook_idle(void)
{
    atomic_fetch_or(bbf_shared_int(bbf_agent.tracker, BBF_L_SHARED_MIXED),
                    (uint32_t)BBF_L_MIXED_IDLE);
}

bool bbf_hook_is_idle(void)
{
    return (atomic_load_explicit(bbf_shared_int(bbf_agent.tracker, BBF_L_SHARED_MIXED),
                                 memory_order_relaxed) &
            (uint32_t)BBF_L_MIXED_IDLE) != 0;
}

/* `unseen`: the hooks were there, and what was opened meanwhile has no life, so where Netty is
 * there already a first sight may be of a released buffer. */
static void wake(bool unseen)
{
    atomic_fetch_and(bbf_shared_int(bbf_agent.tracker, BBF_L_SHARED_MIXED),
                     ~(uint32_t)BBF_L_MIXED_IDLE);
    /* In this order: a buffer from before has set netty_loaded. */
    if (unseen && atomic_load(&bbf_agent.netty_loaded))
        atomic_fetch_or(bbf_shared_int(bbf_agent.tracker, BBF_L_SHARED_FLAGS),
                        (uint32_t)BBF_L_SHARED_UNSEEN);
}

/* Before the first class that is beside include= can run. */
static void wake_for(const char *name, const struct bbf_rules *rules, bool unseen)
{
    if (bbf_hook_is_idle() && bbf_plan_near(name, strlen(name), rules))
        wake(unseen);
}

static bool is_bytebuf(const char *name, size_t *prefix)
{
    *prefix = bbf_netty_buffer_prefix(name, strlen(name));
    return *prefix > 0 && strcmp(name + *prefix, "buffer/ByteBuf") == 0;
}

/* Did every ByteBuf of this prefix get the field as it was loaded? */
static bool always_with_field(const char *name, size_t prefix)
{
    size_t len = prefix > 0 ? prefix - 1 : 0;
    bool with = false, without = false;
    pthread_mutex_lock(&bbf_agent.seen_lock);
    for (size_t i = 0; i < bbf_agent.n_seen; i++) {
        const struct bbf_netty_seen *s = &bbf_agent.seen[i];
        bool same = same_prefix(s->prefix, name, len);
        with = with || (same && s->has_field);
        without = without || (same && !s->has_field);
    }
    pthread_mutex_unlock(&bbf_agent.seen_lock);
    return with && !without;
}

bool bbf_hook_has_field(void)
{
    bool has = false;
    pthread_mutex_lock(&bbf_agent.seen_lock);
    for (size_t i = 0; i < bbf_agent.n_seen; i++)
        has = has || bbf_agent.seen[i].has_field;
    pthread_mutex_unlock(&bbf_agent.seen_lock);
    return has;
}

/* A class that is redefined keeps the fields that it was loaded with. */
static bool loaded_with_field(jvmtiEnv *jvmti, jclass class, const char *class_name, size_t prefix)
{
    jint n = 0;
    jfieldID *fields = NULL;
    bool found = false;
    jvmtiError err = (*jvmti)->GetClassFields(jvmti, class, &n, &fields);
    if (err == JVMTI_ERROR_CLASS_NOT_PREPARED) /* loaded, not linked: JVMTI does not say */
        return always_with_field(class_name, prefix);
    if (err != JVMTI_ERROR_NONE)
        return false;
    for (jint i = 0; i < n && !found; i++) {
        char *name = NULL;
        if ((*jvmti)->GetFieldName(jvmti, class, fields[i], &name, NULL, NULL) == 0) {
            found = strcmp(name, hidden_field) == 0;
            (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
        }
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)fields);
    return found;
}

void JNICALL bbf_hook_field(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
                            const char *name, jobject domain, jint len, const unsigned char *bytes,
                            jint *new_len, unsigned char **new_bytes)
{
    size_t prefix;
    (void)env;
    (void)domain;
    (void)loader;
    if (name == NULL || !is_bytebuf(name, &prefix) ||
        (redefined != NULL && !loaded_with_field(jvmti, redefined, name, prefix)))
        return;
    struct bbf_cf_shape shape;
    const char *why = NULL;
    if (bbf_cf_shape_of(bytes, (size_t)len, hidden_field, &shape) != BBF_OK)
        why = "its class file is not understood";
    else if (shape.has_field)
        return; /* never twice */
    else if (shape.is_interface || !shape.extends_object || shape.instance_fields > 0)
        why = "it is not Netty's ByteBuf";
    struct bbf_cf_config config = {.field_name = hidden_field,
                                   .field_descriptor = "J",
                                   .field_access = FIELD_ACCESS,
                                   .allocate = allocate};
    struct bbf_cf_stats stats;
    uint8_t *out;
    size_t out_len;
    if (why == NULL &&
        bbf_cf_rewrite(bytes, (size_t)len, &config, &out, &out_len, &stats) != BBF_CF_CHANGED)
        why = "the field could not be added";
    if (why != NULL) {
        set_mixed();
        remember_netty(name, prefix, false, why);
        return;
    }
    *new_bytes = out;
    *new_len = (jint)out_len;
    if (redefined == NULL)
        remember_netty(name, prefix, true, NULL);
}

/* ---- I: the instrumentation ---- */

static void count(enum bbf_cf_class_result result, const struct bbf_cf_stats *stats)
{
    atomic_fetch_add_explicit(&bbf_agent.classes[result], 1, memory_order_relaxed);
    for (int i = 0; i < BBF_CF_METHOD_RESULTS; i++)
        if (stats->methods[i] != 0)
            atomic_fetch_add_explicit(&bbf_agent.methods[i], stats->methods[i],
                                      memory_order_relaxed);
}

/* The boot loader's classes are the JDK's, and ours: one of them is changed (agent/report/oom.h).
 */
static bool is_hookable(jobject loader, const char *name)
{
    return loader != NULL || strcmp(name, BBF_PLAN_JDK_BITS) == 0;
}

static void instrument(const struct bbf_rules *rules, jclass redefined, jobject loader,
                       const char *name, jint len, const unsigned char *bytes, jint *new_len,
                       unsigned char **new_bytes)
{
    struct bbf_plan_class plan;
    if (name != NULL && rules != NULL && loader != NULL)
        wake_for(name, rules, true);
    if (name == NULL || rules == NULL || !is_hookable(loader, name))
        return;
    (void)bbf_plan_class(&plan, name, strlen(name), rules, &bbf_agent_sites);
    if (!bbf_plan_declares(&plan, bytes, (size_t)len))
        return;
    uint64_t begin = now_ns();
    struct bbf_cf_config config;
    struct bbf_cf_stats stats;
    uint8_t *out;
    size_t out_len;
    bbf_plan_config(&config, &plan);
    config.allocate = allocate;
    enum bbf_cf_class_result result =
        bbf_cf_rewrite(bytes, (size_t)len, &config, &out, &out_len, &stats);
    count(result, &stats);
    if (result == BBF_CF_CHANGED) {
        *new_bytes = out;
        *new_len = (jint)out_len;
        bbf_rewritten_classes_add(name, redefined == NULL ? now_ns() : 0);
        if (plan.steps || plan.constructors)
            atomic_fetch_add_explicit(&bbf_agent.followed_classes, 1, memory_order_relaxed);
        bbf_dump(name, "before", bytes, (size_t)len);
        bbf_dump(name, "after", out, out_len);
    } else if (result != BBF_CF_NOTHING) {
        bbf_log(BBF_LOG_WARN, "%s is left as it is: %s", name, bbf_cf_class_text(result));
    }
    bbf_meter_rewritten(now_ns() - begin);
}

void JNICALL bbf_hook_code(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
                           const char *name, jobject domain, jint len, const unsigned char *bytes,
                           jint *new_len, unsigned char **new_bytes)
{
    (void)jvmti;
    (void)env;
    (void)domain;
    const struct bbf_rules_hold hold = bbf_rules_hold();
    instrument(hold.rules, redefined, loader, name, len, bytes, new_len, new_bytes);
    bbf_rules_let_go(&hold);
}

/* ---- classes that are already there ---- */

static void retransform(JNIEnv *env, jclass *classes, jint n, struct bbf_retransformed *result)
{
    if (n == 0 || (*bbf_agent.code)->RetransformClasses(bbf_agent.code, n, classes) == 0)
        return;
    if ((*env)->ExceptionCheck(env))
        (*env)->ExceptionClear(env);
    /* One of them cannot be: the others can, one by one. */
    for (jint i = 0; i < n; i++)
        if (n == 1 || (*bbf_agent.code)->RetransformClasses(bbf_agent.code, 1, &classes[i]) != 0) {
            result->failed++;
            atomic_fetch_add(&bbf_agent.retransform_failed, 1);
        }
}

/* One pass over the loaded classes: from the rules of before to those of now. */
struct pass {
    const struct bbf_rules *before, *now; /* NULL: none */
    uint64_t since_ns;                    /* back, if they were changed as they loaded since */
};

/* Has a loaded class anything that we hook? The same answer as bbf_plan_declares() gives. */
static bool has_hooks(const struct bbf_plan_class *plan, jvmtiEnv *jvmti, jclass class)
{
    jmethodID *methods = NULL;
    jint n = 0;
    bool found = bbf_plan_hooks(plan);
    if (found || bbf_frames_of_class(class, &n, &methods) != 0)
        return found;
    for (jint i = 0; i < n && !found; i++)
        found = bbf_custom_types_closes(jvmti, plan->tracks, methods[i]) != 0;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
    return found;
}

/* Does the class need another look, and which way does it go? */
static bool concerns(jclass class, const char *name, const struct pass *pass,
                     struct bbf_retransformed *result)
{
    const struct bbf_rules *before = pass->before, *now = pass->now;
    struct bbf_plan_class plan;
    size_t len = strlen(name);
    if (now != NULL)
        wake_for(name, now, before != NULL);
    if (now == NULL) {
        bool ours = bbf_rewritten_classes_has(name, pass->since_ns) &&
                    bbf_plan_class(&plan, name, len, before, &bbf_agent_sites);
        result->put_back += ours;
        return ours;
    }
    if (before != NULL && before->options.refs != now->options.refs && bbf_plan_counts(name, len))
        return true;
    bool was = before != NULL && bbf_plan_follows(name, len, before);
    bool is = bbf_plan_follows(name, len, now);
    if (before == NULL && !is) /* at start: Netty's own hooks too */
        return bbf_plan_class(&plan, name, len, now, &bbf_agent_sites) &&
               has_hooks(&plan, bbf_agent.code, class);
    if (was && is && before != NULL &&
        before->options.objects_everywhere == now->options.objects_everywhere &&
        (bbf_patterns_match(before->options.constructors, name, len) > 0) ==
            (bbf_patterns_match(now->options.constructors, name, len) > 0))
        return false;
    was = was && bbf_rewritten_classes_has(name, 0);
    result->rewritten += is;
    result->put_back += was && !is;
    return was || is;
}

/* ByteBuf classes that were loaded without the field: before the first class is retransformed, for
 * its steps read the field unless `mixed` is set. */
static void find_bytebufs(jvmtiEnv *jvmti, const jclass *loaded, jint n)
{
    static const char end[] = "/buffer/ByteBuf;";
    for (jint i = 0; i < n; i++) {
        char *signature = NULL;
        size_t prefix;
        if ((*jvmti)->GetClassSignature(jvmti, loaded[i], &signature, NULL) != 0)
            continue;
        size_t len = strlen(signature);
        if (signature[0] == 'L' && len > sizeof end &&
            strcmp(signature + len - (sizeof end - 1), end) == 0) {
            signature[len - 1] = '\0';
            if (is_bytebuf(signature + 1, &prefix) &&
                !loaded_with_field(jvmti, loaded[i], signature + 1, prefix)) {
                set_mixed();
                if (!is_known_without(signature + 1, prefix))
                    remember_netty(signature + 1, prefix, false,
                                   bbf_archive_why_before(jvmti, loaded[i], bbf_agent.attached));
            }
        }
        (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    }
}

void JNICALL bbf_hook_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
    (void)thread;
    find_bytebufs(jvmti, &class, 1);
    bbf_late_classes_prepare(jvmti, env, class);
}

static struct bbf_retransformed pass_over(JNIEnv *env, const struct pass *pass)
{
    const struct bbf_rules *before = pass->before, *now = pass->now;
    struct bbf_retransformed result = {0, 0, 0};
    jvmtiEnv *jvmti = bbf_agent.code;
    jclass *loaded = NULL, batch[BATCH];
    jint n = 0, queued = 0;
    /* GetLoadedClasses makes a local reference for each; -Xcheck:jni wants room asked for. */
    if ((*env)->PushLocalFrame(env, MAX_LOCALS) != 0) {
        (*env)->ExceptionClear(env);
        result.failed = 1;
    } else if ((*jvmti)->GetLoadedClasses(jvmti, &n, &loaded) != 0) {
        (void)(*env)->PopLocalFrame(env, NULL);
        result.failed = 1;
    }
    if (result.failed > 0) {
        bbf_log(BBF_LOG_ERROR, "no memory to look at the loaded classes: none was changed");
        atomic_fetch_add(&bbf_agent.retransform_failed, 1);
        return result;
    }
    if (before == NULL)
        find_bytebufs(jvmti, loaded, n);
    if (now != NULL && bbf_hook_is_idle() &&
        (now->options.include == NULL || now->options.track != NULL))
        wake(before != NULL);
    for (jint i = 0; i < n; i++) {
        char *signature = NULL;
        jobject loader = NULL;
        jboolean modifiable = JNI_FALSE;
        if ((*jvmti)->GetClassSignature(jvmti, loaded[i], &signature, NULL) != 0)
            continue;
        size_t len = strlen(signature);
        bool candidate = signature[0] == 'L' && len > 2;
        if (candidate) {
            signature[len - 1] = '\0';
            candidate = (*jvmti)->GetClassLoader(jvmti, loaded[i], &loader) == 0 &&
                        is_hookable(loader, signature + 1) &&
                        (*jvmti)->IsModifiableClass(jvmti, loaded[i], &modifiable) == 0 &&
                        modifiable && concerns(loaded[i], signature + 1, pass, &result);
        }
        if (loader != NULL)
            (*env)->DeleteLocalRef(env, loader);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
        if (candidate) {
            batch[queued++] = loaded[i];
            if (queued == BATCH) {
                retransform(env, batch, queued, &result);
                queued = 0;
            }
        }
    }
    retransform(env, batch, queued, &result);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)loaded);
    (void)(*env)->PopLocalFrame(env, NULL);
    return result;
}

struct bbf_retransformed bbf_hook_apply(JNIEnv *env, const struct bbf_rules *before,
                                        const struct bbf_rules *now)
{
    return pass_over(env, &(struct pass){.before = before, .now = now});
}

struct bbf_retransformed bbf_hook_put_back(JNIEnv *env, const struct bbf_rules *rules,
                                           uint64_t since_ns)
{
    return pass_over(env, &(struct pass){.before = rules, .since_ns = since_ns});
}
